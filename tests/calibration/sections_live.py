"""Sections of the page on whole studies through the real tool: G7, G8."""

from __future__ import annotations

from tests.calibration.goals import Standing, Told, lower_bound
from tests.calibration.live import Live, kept, pairs_of

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
        "studies that were ever run, none left out.",
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


def repeated() -> Told:
    """G8: of equal systems alone; a contradiction needs two false verdicts there."""
    pairs = list(pairs_of(kept()))
    if not pairs:
        return Told(Standing.NOT_MEASURED, "nothing was run twice")
    against = sum({one.word, other.word} == _DIFFERENCES for one, other in pairs)
    same = sum(one.word == other.word for one, other in pairs)
    told = f"{against} contradictions and {same} times the same verdict in {len(pairs)} pairs"
    if against or same < SAME * len(pairs) - 1:
        return Told(Standing.NOT_REACHED, told)
    return Told(Standing.OPEN if len(pairs) < PAIRS else Standing.REACHED, told)
