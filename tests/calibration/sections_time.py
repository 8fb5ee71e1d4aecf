"""Sections of the page on studies during which something changes: G23 to G25."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tests.calibration.changing import LOOKS, PATHS
from tests.calibration.goals import (
    Standing,
    Told,
    of_rate,
    of_share,
    rate_text,
    sizes_text,
    together,
    worst_bounds,
)
from tests.calibration.own_parts import SDS
from tests.calibration.spans import PATHS as SPAN_PATHS
from tests.calibration.spans import SPANS
from tests.calibration.store import Result, Store
from tests.calibration.withdrawing import FURTHER

_COVERAGE = 0.95
_MOST_FALSE = {0.01: 0.20, 0.02: 0.40, 0.04: 0.70}
"""Of equal systems of which one feels a slow part of such a deviation: what there is, no more."""
_LEAST_STUDIES = 5_000
_NOTHING = Told(Standing.NOT_MEASURED, "nothing was run")


def changes(store: Store) -> Told:
    """G23."""
    results = store.all()
    if not results:
        return _NOTHING
    looks = [(each, look) for each in results for look in LOOKS if each.counts[f"looks {look}"]]
    held = [(each.counts[f"held {look}"], each.counts[f"looks {look}"]) for each, look in looks]
    outside = sum(each.counts[f"outside {look}"] for each, look in looks)
    standings = [of_share(count, of, _COVERAGE) for count, of in held]
    standings.append(Standing.NOT_REACHED if outside else Standing.REACHED)
    least = min(count / of for count, of in held)
    told = (
        f"held in {least:.1%} at least, outside: {outside} of {sum(of for _, of in held):,} looks; "
        f"{sizes_text((0, each.studies) for each in results)}"
    )
    lines = [
        "Independent noise of 2 %, a budget of 96 visits. Each study is judged at its stop, 10",
        "visits later, and after 96 visits, as of a study that goes on because another comparison",
        "is open. *Held*: the interval of that look holds the mean of the true effect over the",
        "visits up to it. *Changes*: the report says that the effect changes; of an effect that is",
        f"constant this is a false alarm. Orders are simulated {PATHS:,} times instead of 20,000.",
        "",
        "| true effect | "
        + " | ".join(f"held {look} | changes" for look in LOOKS)
        + " | estimate outside | studies |",
        "|---|" + "---:|" * (2 * len(LOOKS) + 2),
        *map(_changes_row, sorted(results, key=lambda each: not each.about["changes"])),
    ]
    return Told(together(standings), told, tuple(lines))


def _changes_row(result: Result) -> str:
    counts = result.counts
    cells = [
        f"{rate_text(counts[f'held {look}'], of)} | {counts[f'told {look}'] / of:.1%}"
        if (of := counts[f"looks {look}"])
        else "none decided | –"
        for look in LOOKS
    ]
    outside = sum(counts[f"outside {look}"] for look in LOOKS)
    return f"| {result.cell} | {' | '.join(cells)} | {outside} | {result.studies:,} |"


_OWN_PART_COLUMNS = (
    "slow part",
    "different",
    "still",
    "note at the stop",
    "after 96",
    "not noted",
    "equivalent",
    "studies",
)


def own_parts(store: Store) -> Told:
    """G24."""
    every = store.all()
    results = [each for each in every if "sd" in each.about]
    if not results:
        return _NOTHING
    standings = [
        of_rate(each.counts["wrong"], each.studies, _MOST_FALSE[each.about["sd"]])
        for each in results
    ]
    told = "; ".join(
        f"{sd:.0%}: {_worst([each for each in results if each.about['sd'] == sd])}" for sd in SDS
    )
    lines = [
        "**A limit.** Equal systems with independent noise of 2 %; one of them has besides a slow",
        "part of its own with mean 0. *Different*: at the stop, by the two tests. *Still*: of all",
        "studies, those whose interval of all 96 visits excludes 0 as well. *Note*: of those that",
        "are called different, the share beside which the report notes that visits of one system",
        "depend on each other, at the stop and after 96 visits. *Not noted*: of all studies, still",
        "different after 96 visits, and without the note.",
        "",
        f"| {' | '.join(_OWN_PART_COLUMNS)} |",
        "|---|---:|---:|---:|---:|---:|---:|---:|",
        *map(_own_part_row, sorted(results, key=lambda e: (e.about["sd"], e.about["part"]))),
        *_spans([each for each in every if "span" in each.about]),
    ]
    return Told(together(standings), told, tuple(lines))


def _worst(results: Sequence[Result]) -> str:
    """The cell with the most that is false."""
    most = max(results, key=lambda each: each.share("wrong"), default=None)
    return "not run" if most is None else f"{rate_text(most.counts['wrong'], most.studies)}"


def _own_part_row(result: Result) -> str:
    wrong = result.counts["wrong"]
    notes = [
        f"{result.counts[f'noted {look}'] / wrong:.0%}" if wrong else "–"
        for look in ("at the stop", "after 96")
    ]
    return (
        f"| {result.cell.removesuffix(' in one system')} | {rate_text(wrong, result.studies)} "
        f"| {result.share('still'):.1%} | {' | '.join(notes)} "
        f"| {result.share('still, not noted'):.1%} | {result.share('equivalent'):.0%} "
        f"| {result.studies:,} |"
    )


def _spans(results: Sequence[Result]) -> Iterator[str]:
    """What a span of so many visits buys."""
    if not results:
        return
    yield ""
    yield "With a span (`trials: {span}`), in visits of the same length: the share of studies that"
    yield "call the two different, in brackets without the note beside it, then equivalent, then"
    yield f"visits (mean). A budget of 96 visits; orders are simulated {SPAN_PATHS:,} times."
    yield ""
    yield f"| {' | '.join(('studies', *map(_span_words, SPANS), 'number'))} |"
    yield "|---|" + "---:|" * (len(SPANS) + 1)
    for each in results:
        cells = (_span_cell(each, span) for span in SPANS)
        yield f"| {each.cell.removeprefix('span: ')} | {' | '.join(cells)} | {each.studies:,} |"


def _span_words(span: int) -> str:
    return f"{span} visits" if span else "no span"


def _span_cell(result: Result, span: int) -> str:
    different, silent, equivalent, visits = (
        result.share(f"{span}: {name}")
        for name in ("different", "not noted", "equivalent", "visits")
    )
    return f"{different:.1%} ({silent:.1%}), {equivalent:.0%}, {visits:.0f}"


def withdrawals(store: Store) -> Told:
    """G25."""
    results = store.all()
    if not results:
        return _NOTHING
    taken = sum(each.counts["taken back"] for each in results)
    decided = sum(each.counts["decided"] for each in results)
    standing = Standing.REACHED if decided >= _LEAST_STUDIES else Standing.OPEN
    told = (
        f"{taken} of {decided:,} that were decided; "
        f"{worst_bounds([(taken, decided)]) if decided else 'none'}"
    )
    lines = [
        "Independent noise of 2 %, a budget of 96 visits, a session that asks the judge after each",
        f"visit and for {FURTHER} more after its first verdict (fewer where the budget ends).",
        "Warnings of interference strike visits of both systems alike and change no figure; an",
        "invalid attempt is followed by one that is valid. Orders are simulated 1,000 times.",
        "",
        "| true effect, and what strikes | taken back | decided | visits, mean | studies |",
        "|---|---:|---:|---:|---:|",
        *(
            f"| {each.cell} | {each.counts['taken back']} | {each.counts['decided']:,} "
            f"| {each.mean_stop:.0f} | {each.studies:,} |"
            for each in results
        ),
    ]
    return Told(Standing.NOT_REACHED if taken else standing, told, tuple(lines))
