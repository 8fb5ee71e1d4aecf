"""How long a trial and a visit take: declared durations, and an allowance for the rest."""

from __future__ import annotations

import math

from steelyard.study import catalogue
from steelyard.study.model import DEFAULT_VISITS, MIN_VISITS, Study

# Seconds that a reset takes beside the declared phases: allowances, not promises.
RESET_ALLOWANCE_S: dict[str, float] = {
    "service": 0.2,
    "process": 0.2,
    "container": 2.0,
    "snapshot": 15.0,
    "boot": 60.0,
}
# What stopping, collecting and storing take.
COLLECT_ALLOWANCE_S = 0.1
# The window of one calibration run at most.
LONGEST_CALIBRATION_S = 1.0
# Limits that keep a plan readable and a look of the judge quick.
MOST_VISITS_OF_ONE = 500
MOST_CONDITIONS = 200
# Blocks of three systems and more hold each of them so often (``plan/order.py: ROUNDS``).
ROUNDS_OF_A_BLOCK = 2


def conditions_count(study: Study) -> int:
    """How many conditions each visit measures."""
    return math.prod(len(levels) for levels in study.factors.values())


def calibration_window_s(study: Study) -> float:
    """The window of one calibration run: a second, or the study's own when that is shorter."""
    return min(LONGEST_CALIBRATION_S, study.trials.window_s)


def calibration_s(study: Study) -> float:
    """Calibration before the first trial: every condition once, twice where the load itself holds
    the generator back. Systems whose service differs in the shape of its answers add to it.
    """
    calibrated = catalogue.workload(study.workload.use).calibration is not None
    if not study.generator.calibrate or not calibrated:
        return 0.0
    load = study.load
    held_back = load is not None and (load.mode == "open" or load.think_time_s > 0)
    window_s = calibration_window_s(study)
    run_s = window_s + min(study.trials.warm_up_s, window_s / 5)
    one_s = (2 if held_back else 1) * run_s + RESET_ALLOWANCE_S["service"]
    return one_s * conditions_count(study)


def trial_s(study: Study) -> float:
    """One trial: reset, settle, warm-up, window, collection. Draining is not foreseen."""
    trials = study.trials
    declared = (trials.settle_s or 0.0) + trials.warm_up_s + trials.window_s
    return declared + RESET_ALLOWANCE_S[trials.reset] + COLLECT_ALLOWANCE_S


def visit_s(study: Study) -> float:
    """One visit: a trial under every condition."""
    return trial_s(study) * conditions_count(study)


def least_visits(study: Study) -> int:
    """Visits without which no verdict is possible, over all compared systems."""
    return MIN_VISITS // 2 * len(study.compared)


def affordable_visits(study: Study) -> int:
    """Visits that the budget allows, over all compared systems; may be too few for a verdict."""
    budget = study.trials.budget
    systems = len(study.compared)
    visits = MOST_VISITS_OF_ONE * systems
    if budget.trials_per_cell is None and budget.time_s is None:
        return DEFAULT_VISITS // 2 * systems
    if budget.trials_per_cell is not None:
        visits = min(visits, budget.trials_per_cell * systems)
    if budget.time_s is not None:
        visits = min(visits, int(budget.time_s / visit_s(study) + 1e-9))
    return visits if systems == 2 else visits - visits % (ROUNDS_OF_A_BLOCK * systems)
