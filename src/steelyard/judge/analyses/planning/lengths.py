"""Which windows, and how many trials after each reset, would have brought the certainty sooner.

The noise of a visit is that between visits and that within windows: s_b² + s_w²/L for a window of L
seconds, where a trial costs c + L. Time for a given certainty, (c + L)(s_b² + s_w²/L), is least at
L* = sqrt(c) s_w / s_b.

Of c, a part is the reset, c_r. With r trials after each, time is (c_r + r (c - c_r + L)) (s_b² +
s_w²/(r L)), least near r* = sqrt(c_r / (c - c_r + L) s_w² / (L s_b²)). All noise between visits is
taken for that of resets; if trials after one reset differ by more than their windows tell, more of
them pay. A longer window always does it in less, for it needs no further warm-up.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from statistics import fmean, median

import numpy as np

from steelyard.judge.analyses.planning.findings import LengthFinding
from steelyard.plan.model import Plan
from steelyard.records.load_results import Course
from steelyard.records.schema import Outcome, TrialRecord
from steelyard.study.ending import ends_by_the_clock
from steelyard.study.workload_study import WorkloadStudy

_BATCHES = 5
_LONGEST_TIMES = 10.0
_MOST_TRIALS = 10
_MOST_UNSEEN = 10.0
"""Times the noise of a visit, as a variance: noise within windows that is larger evens out over
each of them, as where something holds a rate down, and a longer window would gain nothing."""
_ONCE_A_RESET = (
    "restore",
    "attach_disks",
    "configure",
    "start_service",
    "check_disks",
    "undo",
)
_NS_PER_S = 1e9


def length_finding(
    study: WorkloadStudy,
    plan: Plan,
    records: Sequence[TrialRecord],
    courses: Mapping[str, Course],
    noise_log: float | None,
) -> LengthFinding | None:
    """The best window, from ``noise_log`` of a visit and the courses of its trials.

    ``None`` where there is no window to choose, as a trial ends after so many operations, and where
    too little is known: another response than throughput, windows of fewer than ten intervals, no
    estimate of the noise, or noise within windows that the visits do not show.
    """
    if not ends_by_the_clock(study):
        return None
    rates = [w for course in courses.values() if (w := within(course)) is not None]
    good = [record for record in records if record.outcome is Outcome.OK]
    if study.primary.name != "throughput" or noise_log is None or not rates or not good:
        return None
    window_s = study.trials.window_s
    setup_s = median(_beside(record) for record in good)
    within_log = math.sqrt(fmean(rates) / len(plan.conditions))
    if within_log**2 / window_s > _MOST_UNSEEN * noise_log**2:
        return None
    found = best(window_s, setup_s, noise_log, within_log)
    resets = [reset_s for record in good if (reset_s := _reset(record)) is not None]
    return after_each_reset(found, min(median(resets), setup_s)) if resets else found


def best(window_s: float, setup_s: float, noise_log: float, within_log: float) -> LengthFinding:
    """The window that needs the least time; ``within_log`` is the noise of one second of it.

    At most ten times the present one, either way: farther away nothing was seen.
    """
    between = max(0.0, noise_log**2 - within_log**2 / window_s)
    at_least, at_most = window_s / _LONGEST_TIMES, window_s * _LONGEST_TIMES
    wanted = math.sqrt(setup_s / between) * within_log if between > 0 else math.inf
    best_s = min(max(wanted, at_least), at_most)

    def price(length_s: float) -> float:
        return (setup_s + length_s) * (between + within_log**2 / length_s)

    return LengthFinding(
        window_s=window_s,
        setup_s=setup_s,
        noise_log=noise_log,
        between_log=math.sqrt(between),
        within_log=within_log,
        best_window_s=best_s,
        time_ratio=price(best_s) / price(window_s) if price(window_s) > 0 else 1.0,
    )


def after_each_reset(found: LengthFinding, reset_s: float) -> LengthFinding:
    """The same with the number of trials after each reset that needs the least time, up to ten."""
    trial_s = found.setup_s - reset_s + found.window_s
    within_window = found.within_log**2 / found.window_s

    def price(trials: int) -> float:
        noise = found.between_log**2 + within_window / trials
        return (reset_s + trials * trial_s) * noise

    trials = min(range(1, _MOST_TRIALS + 1), key=price)
    ratio = price(trials) / price(1) if price(1) > 0 else 1.0
    return found.model_copy(
        update={"reset_s": reset_s, "best_trials": trials, "trials_time_ratio": ratio}
    )


def within(course: Course) -> float | None:
    """Variance of the logarithm of throughput over one second of a window, from batch means.

    Batches of a fifth of the window, so that what varies from one instant to the next and is
    evened out again does not count.
    """
    size = len(course.per_s) // _BATCHES
    if size < 2:
        return None
    rows = np.array(course.per_s[: size * _BATCHES]).reshape(_BATCHES, size).mean(axis=1)
    if not (rows > 0).all():
        return None
    return float(np.var(np.log(rows), ddof=1)) * size * course.interval_s


def _beside(record: TrialRecord) -> float:
    """What a trial costs beside its window, in seconds."""
    wall_ns = record.finished_unix_ns - record.started_unix_ns
    return max(0.0, (wall_ns - record.phases_ns.get("window", 0)) / _NS_PER_S)


def _reset(record: TrialRecord) -> float | None:
    """What resetting took of a trial, and undoing what was done; ``None`` if not recorded."""
    told = [record.phases_ns[name] for name in _ONCE_A_RESET if name in record.phases_ns]
    return sum(told) / _NS_PER_S if "restore" in record.phases_ns else None
