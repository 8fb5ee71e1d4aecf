"""What a trial does and how long it takes, in the words of a plan."""

from __future__ import annotations

from steelyard.plan.model import Plan
from steelyard.study.ending import Extent, extent_of, length_is_known
from steelyard.study.lookup import ready_timeout_s
from steelyard.study.model import Study
from steelyard.study.service.entry import READY_TIMEOUT_S
from steelyard.study.timing import CAPACITY_RUNS, MOST_CAPACITY_RUNS, allowance_s, resets
from steelyard.study.workload_study import studies
from steelyard.units import format_duration


def trial_words(study: Study, plan: Plan) -> str:
    """From its reset to what it measures, and the time of it."""
    trials = study.trials
    settle = f"settle {format_duration(trials.settle_s)}, " if trials.settle_s else ""
    before = "no reset" if trials.systems_stay_up else f"reset {_resets(study)}"
    return f"{before}, {settle}{ending(study)}: {takes(study, plan, plan.forecast.trial_s)}"


def ready_words(study: Study) -> list[tuple[str, str]]:
    """Services that are waited for longer or shorter than others."""
    specs = {name: system.service for name, system in study.systems.items()}
    specs |= {name: workload.service for name, workload in study.workloads.items()}
    waits_s = {name: ready_timeout_s(spec) for name, spec in specs.items() if spec is not None}
    told = [
        f"{name} within {format_duration(wait_s)}"
        for name, wait_s in waits_s.items()
        if wait_s != READY_TIMEOUT_S
    ]
    return [("ready", ", ".join(told))] if told else []


def takes(study: Study, plan: Plan, seconds: float) -> str:
    """A forecast; where no one knows how long trials take and none was timed, what is known."""
    if length_is_known(study) or plan.forecast.timed_trial_s:
        return f"about {format_duration(seconds)}"
    return f"{format_duration(seconds)} and what preparing and runs take"


def assumed_words(study: Study, plan: Plan) -> tuple[str, str]:
    """What the forecast knows of the time that no study declares, and how: timed or assumed."""
    timed = plan.forecast.timed_trial_s
    if timed:
        each = ", ".join(f"{name} {format_duration(s)}" for name, s in timed.items())
        return "timed", f"a trial of {each}, from the second of each; no retries"
    allowance = format_duration(allowance_s(study))
    return "assumed", (
        f"{allowance} a trial for reset, start and collection, no retries; a service or machine "
        "that starts slowly takes longer: `plan --timed` prepares each system once and goes by "
        "that, `run` by what its trials took"
    )


def _resets(study: Study) -> str:
    """One word where all systems have the same, else whose is which."""
    words = resets(study)
    if len(set(words.values())) == 1:
        return next(iter(words.values()))
    return " and ".join(
        f"{word} of {', '.join(name for name, own in words.items() if own == word)}"
        for word in dict.fromkeys(words.values())
    )


def calibration_words(plan: Plan) -> str:
    """The time that the calibration takes."""
    if not plan.forecast.calibration_s:
        return "none"
    least_s = plan.forecast.calibration_s
    most_s = least_s * MOST_CAPACITY_RUNS / CAPACITY_RUNS
    return (
        f"about {format_duration(least_s)} before the first trial, on a busy machine up to "
        f"{format_duration(most_s)}"
    )


def ending(study: Study) -> str:
    """What a trial does once it has begun: ``warm-up 1 s, window 10 s``; by workload if several."""
    by_words: dict[str, list[str]] = {}
    for one in studies(study):
        by_words.setdefault(_ending(extent_of(one)), []).append(one.workload_name)
    if len(by_words) == 1:
        return next(iter(by_words))
    return "; ".join(f"of {', '.join(names)} {words}" for words, names in by_words.items())


def _ending(extent: Extent) -> str:
    if extent.warmup_s is None:
        return "one run to its own end"
    if extent.window_s is not None:
        of = f"window {format_duration(extent.window_s)}"
    elif extent.operations_per_user is not None:
        of = f"{extent.operations_per_user:,} {extent.operation} of each user"
    else:
        of = f"{extent.operations:,} {extent.operation}"
    return f"warm-up {format_duration(extent.warmup_s)}, {of}"
