"""Sequential elimination: the systems, workloads and conditions of which something is still open.

A system leaves between two blocks and does not come back; so does a workload, of one system or of
all. The order of those that stay is the order that was drawn for all, without those that left:
still every order with equal probability, and fixed before the first trial. See
"Sequential elimination" in ``docs/methods/judge.md``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from steelyard.inference.sequential import DECIDED
from steelyard.judge.analyses.claims.judged import open_parts
from steelyard.judge.analyses.factors.influence import so_far
from steelyard.judge.comparisons.aa_control import readings_of
from steelyard.judge.comparisons.comparison import Judged, judge
from steelyard.judge.comparisons.families import Comparison, deciding
from steelyard.judge.visits.pairs import Conditions
from steelyard.judge.visits.series import EFFORT, Effort
from steelyard.judge.visits.workload_run import WorkloadRun, workload_runs
from steelyard.plan.model import Plan, PlannedTrial
from steelyard.records.schema import TrialRecord
from steelyard.study.model import Study
from steelyard.study.scenarios import workload_name
from steelyard.study.workload_study import WorkloadStudy

NO_SYSTEMS: frozenset[str] = frozenset()
NOTHING: Mapping[str, frozenset[str]] = MappingProxyType({})
Measured = Mapping[str, frozenset[str]]


def still_measured(
    study: Study,
    plan: Plan,
    records: Sequence[TrialRecord],
    block: int,
    given_up: frozenset[str] = NO_SYSTEMS,
    *,
    lost: Measured = NOTHING,
    effort: Effort = EFFORT,
) -> Measured:
    """For each workload the systems that it is measured on in a block, by the same rule.

    One workload among others leaves as a whole once all that is asked of it is answered, and
    systems on which it was ``lost``. On one of several machines all stay that can, as all of these
    are asked together.
    """
    runs = workload_runs(study, plan, records)
    measured: dict[str, frozenset[str]] = {}
    for one in runs:
        without = given_up | lost.get(one.name, NO_SYSTEMS)
        alone = study.machine is None
        answered = alone and len(runs) > 1 and _answered(one, block, without, effort)
        measured[one.name] = NO_SYSTEMS if answered else _remaining(one, block, without, effort)
    return measured


def is_measured(study: Study, trial: PlannedTrial, measured: Measured) -> bool:
    """Whether the workload of a trial is among those still measured on its system."""
    return trial.cell.system in measured[workload_name(study, trial.cell.conditions)]


def answered_conditions(study: WorkloadStudy, judged: Sequence[Judged]) -> tuple[Conditions, ...]:
    """Conditions of which further trials have nothing to add to any verdict.

    Every pair is decided there and over all conditions together, for which a visit counts only
    where it has them all. None where more is asked of a visit than these verdicts.
    """
    if study.trials.until == "overall" or _asks_more(study):
        return ()
    still_open = [j.comparison.conditions for j in judged if j.word not in DECIDED]
    if None in still_open:
        return ()
    conditions = (each.comparison.conditions for each in judged)
    return tuple(each for each in conditions if each is not None and each not in still_open)


def _asks_more(study: WorkloadStudy) -> bool:
    """Whether visits with every condition are wanted for more than verdicts at each of them."""
    report, trials = study.report, study.trials
    asked = (study.ask, study.screen, trials.aa_control, trials.span_s)
    means = (report.sections_by, report.means_by)
    return bool(study.claims or study.find) or any(each is not None for each in (*asked, *means))


def _answered(one: WorkloadRun, block: int, given_up: frozenset[str], effort: Effort) -> bool:
    """Whether further visits have nothing to add to a workload."""
    study, plan, earlier = one.study, one.plan, _earlier(one.plan, one.records, block)
    if not earlier:
        return False
    readings, margin = readings_of(study, plan, earlier, effort), study.trials.margin_log
    if any(
        judge(each, readings, margin).word not in DECIDED
        for each in possible(deciding(study, plan), given_up)
    ):
        return False
    parts = (part for _, part in open_parts(study, plan, readings))
    if any(not {part.pair.baseline, part.pair.other} & given_up for part in parts):
        return False
    return all(each.settled for each in so_far(study, plan, readings))


def _earlier(plan: Plan, records: Sequence[TrialRecord], block: int) -> list[TrialRecord]:
    of = {visit.visit: visit.block for visit in plan.visits}
    return [record for record in records if record.visit in of and of[record.visit] < block]


def _remaining(
    one: WorkloadRun, block: int, given_up: frozenset[str], effort: Effort
) -> frozenset[str]:
    """The systems that a workload is measured on: a function of the records of earlier blocks.

    With two systems both stay to the end, and so do all where the influence of factors is asked,
    which needs a balanced table. A comparison that cannot be judged is not decided. Systems that
    were ``given_up`` keep no other system in.
    """
    study, plan = one.study, one.plan
    systems = frozenset(plan.systems) - given_up
    if len(plan.systems) <= 2 or study.ask is not None or study.machine is not None:
        return systems
    earlier = _earlier(plan, one.records, block)
    if not earlier:
        return systems
    of = {visit.visit: visit.block for visit in plan.visits}
    last = {record.cell.system for record in earlier if of[record.visit] == block - 1}
    readings, margin = readings_of(study, plan, earlier, effort), study.trials.margin_log
    open_systems: set[str] = set()
    for each in possible(deciding(study, plan), given_up):
        members = {each.pair.baseline, each.pair.other}
        if members <= last and not members <= open_systems:
            decided = judge(each, readings, margin).word in DECIDED
            open_systems |= set() if decided else members
    for _, part in open_parts(study, plan, readings):
        members = {part.pair.baseline, part.pair.other}
        open_systems |= members if members <= last - given_up else set()
    aa_control = study.trials.aa_control
    if aa_control is not None and open_systems:
        open_systems |= {study.baseline, aa_control} & last
    return frozenset(open_systems) - given_up


def all_futile(
    study: Study, plan: Plan, given_up: frozenset[str], lost: Measured = NOTHING
) -> bool:
    """Whether systems were given up and nothing that decides can be compared without them."""
    return all(
        is_futile(one, given_up | lost.get(one.name, NO_SYSTEMS))
        for one in workload_runs(study, plan, ())
    )


def is_futile(one: WorkloadRun, given_up: frozenset[str]) -> bool:
    """The same of one workload."""
    return bool(given_up) and not possible(deciding(one.study, one.plan), given_up)


def possible(
    comparisons: Sequence[Comparison], given_up: frozenset[str] = NO_SYSTEMS
) -> list[Comparison]:
    """Those of which neither system was given up."""
    return [each for each in comparisons if not {each.pair.baseline, each.pair.other} & given_up]
