"""What a margin costs on this machine, in sentences: a forecast, before anything was compared."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from steelyard.judge.analyses.planning.findings import (
    CovariateFinding,
    LengthFinding,
    ResolutionFinding,
)
from steelyard.report import notes
from steelyard.report.figures import counted, listed, percent
from steelyard.study.labels import Labels
from steelyard.units import format_duration

_WORTH_SAYING = 0.8
_WORK = {
    "reference_kernel.cpu": "work of the processor",
    "reference_kernel.memory": "work of the memory",
    "reference_kernel.disk": "writes that wait for the disk",
}
_PARTS = {
    "reference_kernel.cpu": "processor",
    "reference_kernel.memory": "memory",
    "reference_kernel.disk": "disk",
}


def resolution_lines(found: Iterable[ResolutionFinding]) -> list[str]:
    """One sentence for each machine; what could not be measured says why."""
    by_machine: dict[str, list[ResolutionFinding]] = {}
    for one in found:
        by_machine.setdefault(one.machine, []).append(one)
    return [_line(machine, parts) for machine, parts in by_machine.items()]


def _line(machine: str, parts: Sequence[ResolutionFinding]) -> str:
    known = [part for part in parts if part.noise_log is not None]
    named = "this machine" if machine == "local" else machine
    told = listed([_part(part) for part in known])
    margin = percent(math.expm1(parts[0].margin_log))
    said = f"By the reference kernel, {named} can resolve {margin} of {told}." if known else ""
    missing = [
        f"{_WORK[part.part]}: {notes.text(part.missing, Labels())}"
        for part in parts
        if part.missing is not None
    ]
    unknown = f"Not known for {'; '.join(missing)}." if missing else ""
    return " ".join(filter(None, [said, unknown]))


def _part(part: ResolutionFinding) -> str:
    visits = (
        "more than 10,000 visits"
        if part.visits is None
        else f"about {counted(part.visits, 'visit')}"
    )
    return f"{_WORK[part.part]} in {visits} (noise {percent(part.noise_log or 0.0)})"


def covariate_lines(found: Iterable[CovariateFinding]) -> list[str]:
    """What the covariate has gained, one sentence for each comparison."""
    return [_gain(each) for each in found]


def _gain(found: CovariateFinding) -> str:
    parts = listed([_PARTS[part] for part in found.parts])
    return (
        f"The reference kernel ({parts}, run before each visit) is a covariate of "
        f"{found.other} against {found.baseline}, as fixed before the first trial: the "
        f"{percent(found.interval_level)} interval is {_wide(found.width_log)} with it and "
        f"{_wide(found.width_without_log)} without."
    )


def _wide(width_log: float | None) -> str:
    return "not bounded" if width_log is None else f"{percent(math.expm1(width_log))} wide"


def _between(between_log: float) -> str:
    """What no window evens out; 0 is an estimate that found none, not a noise of nothing."""
    if between_log == 0:
        return "no noise between visits is seen beyond that within them"
    return f"noise {percent(between_log)} between visits"


def length_lines(found: LengthFinding | None, *, steady: bool = True) -> list[str]:
    """What another window would save, and several trials after each reset; nothing that is less
    than a fifth of the time.

    No shorter window where throughput is not ``steady`` in the one that there is.
    """
    if found is None or (not steady and found.best_window_s < found.window_s):
        return []
    return [*_window_lines(found), *_trials_lines(found)]


def _window_lines(found: LengthFinding) -> list[str]:
    if found.time_ratio > _WORTH_SAYING:
        return []
    longer = "longer" if found.best_window_s > found.window_s else "shorter"
    words = (
        f"A {longer} window would bring the same certainty sooner: with about "
        f"{format_duration(found.best_window_s)} instead of {format_duration(found.window_s)} in "
        f"{percent(found.time_ratio)} of the time ({_between(found.between_log)}, "
        f"{percent(found.within_log)} within a second of a window, "
        f"{format_duration(found.setup_s)} a trial beside its window)."
    )
    return [words]


def _trials_lines(found: LengthFinding) -> list[str]:
    trials, reset_s, ratio = found.best_trials, found.reset_s, found.trials_time_ratio
    if trials is None or reset_s is None or ratio is None or ratio > _WORTH_SAYING:
        return []
    rest_s = found.setup_s - reset_s + found.window_s
    words = (
        f"Where a window cannot be longer, {trials} trials after each reset would do it in "
        f"{percent(ratio)} of the time (a reset takes {format_duration(reset_s)}, a trial without "
        f"it {format_duration(rest_s)}); a study resets before every trial."
    )
    return [words]
