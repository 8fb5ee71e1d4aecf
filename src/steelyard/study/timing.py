"""How long a trial and a visit take: declared durations, and an allowance for the rest."""

from __future__ import annotations

import math

from steelyard.study.bind import secured_as_served
from steelyard.study.calibration_server import is_its_own_server
from steelyard.study.ending import counted
from steelyard.study.lookup import workload_of
from steelyard.study.model import DEFAULT_VISITS, MIN_VISITS, Study, StudyDesign
from steelyard.study.workload_study import WorkloadStudy, conditions_count, studies

# Seconds that a reset takes besides the declared phases: allowances, not promises.
RESET_ALLOWANCE_S: dict[str, float] = {
    "none": 0.0,
    "service": 0.2,
    "process": 0.2,
    "container": 2.0,
    "snapshot": 15.0,
    "boot": 60.0,
}
RESETS = list(RESET_ALLOWANCE_S)
# What stopping, collecting and storing take.
COLLECT_ALLOWANCE_S = 0.1
# The window of one calibration run at most, and how many runs the capacity is the largest of: more
# while the two largest differ by more than the share, at most so many.
LONGEST_CALIBRATION_S = 0.5
CAPACITY_RUNS = 3
MOST_CAPACITY_RUNS = 15
CAPACITY_AGREES_WITHIN = 0.05
# A search for a load: so many runs, each a share of the window but no shorter than a second.
SEARCH_RUNS = 9
SEARCH_SHARE = 4
SEARCH_LEAST_S = 1.0
# Limits that keep a plan readable and a look of the judge quick.
MOST_VISITS_OF_ONE = 500
MOST_CONDITIONS = 200
MOST_CELLS = 512
# Of the time, when a study compares and screens.
SHARE_OF_EACH = 0.5
# Blocks of three systems and more hold each of them so often (``plan/order.py: ROUNDS``).
ROUNDS_OF_A_BLOCK = 2


def compares(study: StudyDesign) -> bool:
    """Whether anything is compared; a study of one system only asks which factors matter."""
    return len(study.compared) > 1


def calibration_window_s(study: StudyDesign) -> float:
    """The window of one calibration run: half a second, or the study's own when shorter."""
    return min(LONGEST_CALIBRATION_S, study.trials.window_s)


def calibration_s(study: Study) -> float:
    """Calibration before the first trial: the runs of the capacity for every condition, and one
    more where the load itself holds the generator back. Systems whose service differs in the shape
    of its answers add to it.
    """
    return sum(_calibration_s(one) for one in studies(study))


def _calibration_s(study: WorkloadStudy) -> float:
    if not _is_calibrated(study):
        return 0.0
    load = study.load
    held_back = load is not None and (load.mode == "open" or load.think_time_s > 0)
    window_s = calibration_window_s(study)
    run_s = window_s + min(study.trials.warmup_s, window_s / 5)
    one_s = (CAPACITY_RUNS + held_back) * run_s + RESET_ALLOWANCE_S["service"]
    return one_s * _shapes(study)


def _is_calibrated(study: WorkloadStudy) -> bool:
    """By its systems as they are declared; factors of the service are not looked at."""
    asked = study.generator.calibrate
    if workload_of(study.workload).calibration is None or asked is False:
        return False
    return bool(asked) or not all(
        is_its_own_server(
            secured_as_served(study.workload, system),
            study.workload.service or system.service,
            system,
            study.generator,
        )
        for system in study.systems.values()
    )


def _shapes(study: WorkloadStudy) -> int:
    """Conditions that differ in what is driven, of the comparison or of the screening."""
    compared = study.conditions_count if study.screen is None or compares(study) else 0
    screened = study.screen.factors if study.screen is not None else {}
    driving = [levels for name, levels in screened.items() if name.startswith(("load", "work"))]
    return max(compared, math.prod(len(levels) for levels in driving))


def trial_s(study: Study) -> float:
    """One trial: reset, settle, warm-up, window, collection. Draining is not included.

    What runs to its own end (a command, a kernel, so many messages) has no window, and how long
    it takes no one knows before it has run: nothing is included for it. The mean over the
    conditions of all workloads.
    """
    count = max(1, conditions_count(study))
    return math.fsum(_trial_s(one) * (one.conditions_count / count) for one in studies(study))


def _trial_s(study: WorkloadStudy) -> float:
    trials = study.trials
    declared = (trials.settle_s or 0.0) + (trials.reference_kernel_s or 0.0)
    entry = workload_of(study.workload)
    by_the_clock = entry.is_load and counted(study.workload.settings) is None
    if entry.ends == "window" or by_the_clock:
        declared += trials.warmup_s + trials.window_s
    return declared + allowance_s(study)


def allowance_s(study: StudyDesign) -> float:
    """Of a trial beside what is declared: reset, the mean over the systems, and collection."""
    each_s = [RESET_ALLOWANCE_S[word] for word in resets(study).values()]
    return math.fsum(each_s) / len(each_s) + COLLECT_ALLOWANCE_S


def resets(study: StudyDesign) -> dict[str, str]:
    """How thoroughly each system goes back to its first state, by its name."""
    return {name: system.reset or study.trials.reset for name, system in study.systems.items()}


def searches_count(study: WorkloadStudy) -> int:
    """How many searches each visit makes of a workload: each under every other condition."""
    others = (levels for name, levels in study.factors.items() if not name.startswith("load."))
    return len(study.find) * math.prod(len(levels) for levels in others)


def searched_unit(study: WorkloadStudy) -> str:
    """What a search counts: users, or operations a second."""
    return "users" if "load.users" in study.factors else f"{study.workload.operation}/s"


def search_window_s(study: StudyDesign) -> float:
    """The window of one run of a search, before the last."""
    window_s = study.trials.window_s
    return min(window_s, max(SEARCH_LEAST_S, window_s / SEARCH_SHARE))


def search_s(study: StudyDesign) -> float:
    """What a trial that searches takes beyond one that does not, as a rule."""
    window_s = search_window_s(study)
    return SEARCH_RUNS * (window_s + min(study.trials.warmup_s, window_s))


def visit_s(study: Study) -> float:
    """One visit: a trial under every condition, and every search."""
    searching_s = math.fsum(
        (_trial_s(one) + search_s(one)) * searches_count(one) for one in studies(study)
    )
    return trial_s(study) * conditions_count(study) + searching_s


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
        time_s = budget.time_s * (1.0 if study.screen is None else SHARE_OF_EACH)
        visits = min(visits, int(time_s / visit_s(study) + 1e-9))
    return whole_blocks(visits, systems)


def whole_blocks(visits: int, systems: int) -> int:
    """Without the visits of a block that is not whole."""
    return visits if systems == 2 else visits - visits % (ROUNDS_OF_A_BLOCK * systems)
