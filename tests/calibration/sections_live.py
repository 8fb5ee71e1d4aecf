"""Sections of the page on whole studies through the real tool: G7, G8."""

from __future__ import annotations

from tests.calibration.goals import Standing, Told, lower_bound, of_rate, of_share, together
from tests.calibration.live import Live, kept, pairs_of
from tests.calibration.store import Result, Store

STUDIES, MOST_FALSE, MACHINES = 60, 6, 2
PAIRS, SAME = 200, 0.90
_DIFFERENCES = {"faster", "slower"}


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
        "from anywhere in a bank (see G6). Where an effect is about what the noise lets see, one",
        "study decides and the next does not: the goal is held against all of them. *Never in 200*",
        "is asked of many more as a rate of 1 in 200 at most.",
        "",
        "| what was done twice | pairs | the same verdict | faster, then slower |",
        "|---|---:|---:|---:|",
        *(f"| {what} | {of:,} | {alike / of:.0%} | {bad} |" for what, of, alike, bad in rows),
    ]
    never = of_rate(against, pairs, 1 / PAIRS)
    return Told(together([never, of_share(same, pairs, SAME)]), told, tuple(lines))


Row = tuple[str, int, int, int]
"""What was done twice, how often, how often with the same verdict, and with opposite ones."""


def _live_row(pairs: list[tuple[Live, Live]]) -> Row:
    against = sum({one.word, other.word} == _DIFFERENCES for one, other in pairs)
    return (
        "live, equal systems",
        len(pairs),
        sum(one.word == other.word for one, other in pairs),
        against,
    )


def _replayed_row(result: Result) -> Row:
    counts = result.counts
    what = f"{result.about['noise']}, {result.about['effect']:+.2f}"
    return what, counts["twice"], counts["twice the same"], counts["twice against"]
