"""Sections of the page on whole studies through the real tool: G7, G8."""

from __future__ import annotations

from tests.calibration.goals import (
    Standing,
    Told,
    lower_bound,
    of_bounds,
    of_rate,
    together,
    upper_bound,
)
from tests.calibration.live import Live, kept, pairs_of
from tests.calibration.store import Result, Store

STUDIES, MOST_FALSE, MACHINES = 60, 6, 2
PAIRS, UNLIKE = 200, 0.10
_DIFFERENCES = {"faster", "slower"}
_WORDS = ("faster", "slower", "equivalent", "undecided")


def live() -> Told:
    """G7."""
    studies = kept()
    if not studies:
        return Told(Standing.NOT_MEASURED, "nothing was run")
    false = sum(each.word in _DIFFERENCES for each in studies)
    machines = {each.machine for each in studies}
    told = f"{false} false of {len(studies)} studies on {len(machines)} machine(s)"
    return Told(_live_standing(len(studies), false, len(machines)), told, tuple(_lines(studies)))


def _live_standing(studies: int, false: int, machines: int) -> Standing:
    if lower_bound(false, studies) > MOST_FALSE / STUDIES:
        return Standing.NOT_REACHED
    if studies < STUDIES or machines < MACHINES:
        return Standing.OPEN
    return Standing.REACHED if false <= MOST_FALSE * studies / STUDIES else Standing.NOT_REACHED


def _lines(studies: list[Live]) -> list[str]:
    return [
        "Two sinks of the same settings, margin 5 %, 40 visits of each, trials of 200 ms, every",
        "study with an order of its own (`python -m tests.calibration.live --studies 60`). All",
        "studies that were ever run, none left out, whatever else ran. Machines are told apart by",
        "processor and kernel; of virtual ones nobody knows what lies beneath.",
        "",
        "| made | machine | load average | kind | verdict | visits | ratio | judge |",
        "|---|---|---:|---|---|---:|---:|---|",
        *(
            f"| {each.made} | {each.machine} | {each.load_average} | {each.kind} "
            f"| {each.word}{': ' + each.why if each.why else ''} | {each.visits or '–'} "
            f"| {_ratio(each)} | {each.judge} |"
            for each in studies
        ),
    ]


def _ratio(study: Live) -> str:
    return "–" if study.estimate_log is None else f"{study.estimate_log:+.4f}"


def repeated(replays: Store) -> Told:
    """G8: equal systems measured live, and banks of real trials with effects multiplied in."""
    live_pairs = list(pairs_of(kept()))
    banks = [each for each in replays.all() if each.counts["twice"]]
    if not live_pairs and not banks:
        return Told(Standing.NOT_MEASURED, "nothing was run twice")
    rows = [_live_row(live_pairs)] if live_pairs else []
    rows += [_replayed_row(each) for each in banks]
    pairs, same, against = (sum(row[place] for row in rows) for place in (1, 2, 3))
    told = (
        f"{against} contradictions and {same / pairs:.0%} the same verdict in {pairs:,} pairs, "
        f"{len(live_pairs)} of them live"
    )
    lines = [
        "Whole studies of equal systems in a row on one machine, and pairs of studies of 96 visits",
        "from anywhere in a bank (see G6). *Never in 200* is asked of many more as a rate of 1 in",
        "200 at most. *By the words*: the sum of the squares of the shares of the words, which two",
        "studies of their own have in common by chance; where an effect is about what the noise",
        "lets see it is a half for any test. *Opposite*: faster, then slower. *Unlike*: different",
        "and equivalent, by the same shares.",
        "",
        "| what was done twice | pairs | the same verdict | by the words | opposite | unlike |",
        "|---|---:|---:|---:|---:|---:|",
        *(
            f"| {what} | {of:,} | {alike / of:.0%} | {by_words} | {bad} | {unlike} |"
            for what, of, alike, bad, by_words, unlike in rows
        ),
    ]
    never = of_rate(against, pairs, 1 / PAIRS)
    unlike = [of_bounds(*_unlike(each), UNLIKE) for each in banks]
    return Told(together([never, *unlike]), told, tuple(lines))


def _unlike(result: Result) -> tuple[float, float]:
    """Bounds of how often one study of two is different and the other equivalent."""
    counts = result.counts
    different, alike = counts["faster"] + counts["slower"], counts["equivalent"]
    low, high = (
        2 * bound(different, result.studies) * bound(alike, result.studies)
        for bound in (lower_bound, upper_bound)
    )
    return low, high


Row = tuple[str, int, int, int, str, str]
"""What was done twice, how often, with the same verdict, with opposite ones; by the words."""


def _live_row(pairs: list[tuple[Live, Live]]) -> Row:
    against = sum({one.word, other.word} == _DIFFERENCES for one, other in pairs)
    return (
        "live, equal systems",
        len(pairs),
        sum(one.word == other.word for one, other in pairs),
        against,
        "–",
        "–",
    )


def _replayed_row(result: Result) -> Row:
    counts, shares = result.counts, [result.share(word) for word in _WORDS]
    different, alike = result.share("faster") + result.share("slower"), result.share("equivalent")
    return (
        f"{result.about['noise']}, {result.about['effect']:+.2f}",
        counts["twice"],
        counts["twice the same"],
        counts["twice against"],
        f"{sum(share**2 for share in shares):.0%}",
        f"{2 * different * alike:.1%}",
    )
