"""A tool held against the minimal client that took turns with it. No measuring here.

Some limits are missed by a program that does nothing but the calls no one can do without, because
of what a machine charges for waking up or takes away from its processors. A tool that misses such a
limit too has not passed it; how far it is above that floor can still be reported.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from bench.truth import criteria
from bench.truth.judge import Judgement

PASSED = "passed"
ABOVE_FLOOR = "passed above the floor"
FAILED = "failed"
OPEN = "too noisy"
CANNOT = "cannot"
FLOOR = "the floor"


@dataclass(frozen=True)
class Figure:
    """A figure of a test, and how far beyond the floor's it may lie."""

    key: str
    highest_floor: float
    """Above a floor higher than this all tools look alike."""
    beyond: float
    ratio: bool = False
    """`beyond` is what the tool's figure over the floor's may be, not what lies between them."""

    def over(self, tool: float, floor: float) -> float:
        """The tool's figure beyond the floor's, as `beyond` is meant."""
        return tool / floor if self.ratio else tool - floor


DELAY = (
    Figure("above_p50_ns", criteria.HIGHEST_FLOOR_P50_NS, criteria.DELAY_P50_NS),
    Figure("above_p99_ns", criteria.HIGHEST_FLOOR_P99_NS, criteria.DELAY_P99_NS),
)
GAPS = (Figure("cv", criteria.HIGHEST_FLOOR_CV, criteria.GAP_CV_OVER_FLOOR, ratio=True),)
FIGURES = {"delay": DELAY, "constant-1k": GAPS, "constant-10k": GAPS}
"""The tests that have a floor."""


@dataclass(frozen=True)
class Verdict:
    """What stands in a cell, and why."""

    state: str
    note: str
    figures: dict[str, Any]


def spread(values: Sequence[float]) -> list[float]:
    """Median, least and greatest: with five pairs the true median is between them in 94 of 100."""
    return [median(values), min(values), max(values)]


def own(test: str, runs: Sequence[Judgement]) -> Verdict:
    """The minimal client by itself: it passes, or it is the floor that the others stand on."""
    figures = medians(test, runs)
    misses = [run.miss for run in runs if run.miss is not None]
    within = len(misses) == len(runs) and median(misses) <= 1
    return Verdict(PASSED if within else FLOOR, "", figures | {"runs": len(runs)})


def verdict(test: str, tools: Sequence[Judgement], floors: Sequence[Judgement]) -> Verdict:
    """The absolute limit where it is met; where the floor itself misses it, the way above it."""
    unread = next((run for run in tools if run.miss is None), None)
    if unread is not None:
        return Verdict(CANNOT, unread.note, unread.figures)
    misses = [run.miss for run in tools if run.miss is not None]
    if not all(run.miss is not None and measured(test, run) for run in floors):
        return Verdict(OPEN, "the minimal client gave no figures", {"miss": spread(misses)})
    wrong = next((run for run in tools if not measured(test, run)), None)
    if wrong is not None:
        return Verdict(FAILED, wrong.note, wrong.figures | {"miss": spread(misses)})
    figures = medians(test, tools) | {"miss": spread(misses), "pairs": len(tools)}
    over = beyond(test, tools, floors)
    figures |= {"floor": medians(test, floors), "over_floor": over}
    if median(misses) <= 1:
        return Verdict(PASSED, "", figures)
    if median([run.miss for run in floors if run.miss is not None]) <= 1:
        return Verdict(*without_floor(misses), figures)
    return Verdict(*above_floor(test, tools, floors, over), figures)


def without_floor(misses: Sequence[float]) -> tuple[str, str]:
    """State and reason where the minimal client meets the limit and the tool does not."""
    if min(misses) > 1:
        return FAILED, "the minimal client is within the limit"
    return OPEN, "the pairs do not agree about the limit"


def above_floor(
    test: str,
    tools: Sequence[Judgement],
    floors: Sequence[Judgement],
    over: dict[str, list[float]],
) -> tuple[str, str]:
    """State and reason where the minimal client misses the limit too."""
    figures, heights = FIGURES[test], medians(test, floors)
    if any(heights[figure.key] > figure.highest_floor for figure in figures):
        return OPEN, "the minimal client is so far beyond the limit that nothing can be determined"
    if fixed(tools) > 1:
        excused = fixed(floors) > 1
        return (OPEN, "no one keeps the rate") if excused else (FAILED, "it misses the rate itself")
    if all(over[figure.key][0] <= figure.beyond for figure in figures):
        return ABOVE_FLOOR, "the minimal client misses the absolute limit here too"
    if any(over[figure.key][1] > figure.beyond for figure in figures):
        return FAILED, "beyond the minimal client, which misses the absolute limit here too"
    return OPEN, "the pairs do not agree about the way above the floor"


def measured(test: str, run: Judgement) -> bool:
    """Whether a run has the figures; one that failed by kind has none."""
    return all(figure.key in run.figures for figure in FIGURES[test]) and not run.by_kind


def medians(test: str, runs: Sequence[Judgement]) -> dict[str, float]:
    """Each figure's median over the runs, of the test and of what stands beside it."""
    told = {figure.key for figure in FIGURES[test]} | {"per_s", "cv_of_slices"}
    with_all = {key for key in told if all(key in run.figures for run in runs)}
    return {key: median(run.figures[key] for run in runs) for key in sorted(with_all)}


def beyond(
    test: str, tools: Sequence[Judgement], floors: Sequence[Judgement]
) -> dict[str, list[float]]:
    """The tool's figure beyond the floor's in each pair: median, least, greatest."""
    pairs = list(zip(tools, floors, strict=True))
    return {
        figure.key: spread(
            [
                figure.over(tool.figures[figure.key], floor.figures[figure.key])
                for tool, floor in pairs
            ]
        )
        for figure in FIGURES[test]
    }


def fixed(runs: Sequence[Judgement]) -> float:
    """The median miss of the rate, of which the floor is no measure."""
    return median(run.figures.get("rate_miss", 0.0) for run in runs)
