"""The section of the page on histories: G29."""

from __future__ import annotations

from tests.calibration.goals import (
    Standing,
    Told,
    of_rate,
    of_share,
    rate_text,
    sizes_text,
    together,
)
from tests.calibration.store import Result, Store
from tests.calibration.streams import LATE, PATHS, RUNS, RUNS_OF_EQUAL

_RATE, _FOUND, _SIZE = 0.05, 0.90, 3


def histories(store: Store) -> Told:
    """G29."""
    results = store.all()
    if not results:
        return Told(Standing.NOT_MEASURED, "nothing was run")
    far = [each for each in results if each.about["size"] == _SIZE]
    rates = [_false_share(each) for each in results]
    standings = [of_rate(e.counts["with a false one"], e.studies, _RATE) for e in results]
    standings += [of_share(e.counts["found in time"], e.counts["worse"], _FOUND) for e in far]
    least = min((e.counts["found in time"] / e.counts["worse"] for e in far), default=0.0)
    told = (
        f"the highest share of false ones is {max(rates):.2%}; three margins are named in time in "
        f"{least:.1%} at least; {sizes_text((0, e.studies) for e in results)}, of 1,000 releases"
    )
    lines = (
        "One release in a hundred changes, as often to the worse; runs of at most 96 visits,",
        "margin 2 %, again at once while they say slower and the stream asks for more; every",
        "tenth release also against the anchor. The words of the runs are drawn from those that",
        f"the judge gave of {RUNS_OF_EQUAL:,} simulated runs of equal releases, {RUNS} of each",
        f"other effect ({PATHS:,} simulated orders). *False*: mean share of what is named that is",
        "not slower; *with one*: histories that name any such. *In time*: of the releases that are",
        f"worse, those that are named, alone or by an anchor, by the {LATE}nd release after it.",
        "",
        "| noise, changes | named | false | with one | at once | in time | ever | runs a release | histories |",  # noqa: E501
        "|---|" + "---:|" * 8,
        *map(_row, sorted(results, key=lambda e: (e.about["noise"], e.about["size"]))),
    )
    return Told(together(standings), told, lines)


def _false_share(result: Result) -> float:
    return result.counts["false per million"] / 1e6 / result.studies


def _row(result: Result) -> str:
    counts = result.counts
    worse = counts["worse"]
    found = [f"{counts[name] / worse:.1%}" if worse and result.about["size"] else "–"
             for name in ("found at once", "found in time", "found")]  # fmt: skip
    return (
        f"| {result.cell} | {counts['named']:,} | {_false_share(result):.2%} "
        f"| {rate_text(counts['with a false one'], result.studies)} | {' | '.join(found)} "
        f"| {counts['runs'] / 1_000 / result.studies:.2f} | {result.studies:,} |"
    )
