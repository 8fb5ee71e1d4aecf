"""Records to findings, and the short form that a session asks for after each visit.

Pure functions of (study, plan, records, ledger): a report rebuilt years later says the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from steelyard import __version__
from steelyard.errors import AnalysisError
from steelyard.inference.sequential import DECIDED, VerdictWord
from steelyard.judge.analyses.claims.judged import open_parts
from steelyard.judge.analyses.consolidation.findings import InterferenceTableFinding
from steelyard.judge.analyses.consolidation.matrix import OneWorkload, interference_findings
from steelyard.judge.analyses.disks.count import disk_findings
from steelyard.judge.analyses.factors.influence import SoFar, so_far
from steelyard.judge.analyses.latency.times import latency_findings
from steelyard.judge.analyses.resources.bands import resource_findings
from steelyard.judge.cells import attempt_findings
from steelyard.judge.comparisons.aa_control import readings_of
from steelyard.judge.comparisons.comparison import Judged, judge
from steelyard.judge.comparisons.families import deciding, of_response
from steelyard.judge.comparisons.forecast import VisitsForecast, forecast, slowest
from steelyard.judge.findings import RunFindings, WorkloadFindings
from steelyard.judge.one_workload import Evidence, findings_of_one
from steelyard.judge.stopping.elimination import (
    NO_SYSTEMS,
    NOTHING,
    Measured,
    answered_conditions,
    is_futile,
    possible,
)
from steelyard.judge.stopping.interim import InterimWord, Look, together
from steelyard.judge.stopping.stop import find_stop, futility_caveats
from steelyard.judge.validity.confounders import difference_findings, unused_acceptances
from steelyard.judge.validity.environment import cleanup_caveats
from steelyard.judge.validity.facts import tested_programs
from steelyard.judge.validity.machines import machine_findings
from steelyard.judge.visits.calibrations import without_unfounded_warnings
from steelyard.judge.visits.readings import Readings
from steelyard.judge.visits.series import EFFORT, Effort
from steelyard.judge.visits.workload_run import WorkloadRun, workload_runs
from steelyard.plan.model import Plan
from steelyard.records.attempt_folder import Samples
from steelyard.records.events import Event
from steelyard.records.load_results import Course, Load, LoadTimes
from steelyard.records.schema import TrialRecord
from steelyard.study.labels import Labels
from steelyard.study.model import Study
from steelyard.study.workload_study import WorkloadStudy


def look(
    study: Study,
    plan: Plan,
    records: Sequence[TrialRecord],
    given_up: frozenset[str] = NO_SYSTEMS,
    *,
    lost: Measured = NOTHING,
    effort: Effort = EFFORT,
    sized: bool = False,
) -> Look:
    """The verdict so far on the primary response of every workload, and whether to go on.

    What compares a system that was ``given_up``, or on which its workload was ``lost``, is waited
    for no longer. ``sized``: with estimates and intervals, for who reads along.
    """
    _refuse_foreign(study, plan, records)
    looks = {}
    for one in workload_runs(study, plan, records):
        without = given_up | lost.get(one.name, NO_SYSTEMS)
        seen = _look(*one, without, effort, sized=sized)
        ended = one.name in lost and is_futile(one, without)
        looks[one.name] = seen.without_hope(one.plan) if ended else seen
    return together(looks)


def _look(
    study: WorkloadStudy,
    plan: Plan,
    records: Sequence[TrialRecord],
    given_up: frozenset[str],
    effort: Effort,
    *,
    sized: bool,
) -> Look:
    """The same of one workload."""
    readings, margin = readings_of(study, plan, records, effort), study.trials.margin_log
    judged = [judge(each, readings, margin) for each in of_response(study, plan, study.primary)]
    asked = possible(deciding(study, plan), given_up)
    wanted = [each for each in judged if each.comparison in asked]
    undecided = [each for each in wanted if each.word is VerdictWord.UNDECIDED]
    claims = tuple(
        dict.fromkeys(
            name
            for name, part in open_parts(study, plan, readings)
            if not {part.pair.baseline, part.pair.other} & given_up
        )
    )
    compared = all(each.word in DECIDED for each in wanted) and not claims
    factors = so_far(study, plan, readings)
    settled = _settled(plan, factors, compared=compared)
    visits = {visit.visit for visit in plan.every_visit} - settled
    remaining = visits - {record.visit for record in records}
    may_help = bool(undecided or claims) or any(not each.settled for each in factors)
    return Look(
        words=tuple(InterimWord.of(each, margin, sized=sized) for each in judged),
        decided=compared and all(each.settled for each in factors),
        may_continue=may_help and bool(remaining),
        visits_to_decide=_forecast(undecided, readings, margin),
        influence=tuple(factors),
        settled=settled,
        open_claims=claims,
        answered=answered_conditions(study, judged),
    )


def _settled(plan: Plan, factors: Sequence[SoFar], *, compared: bool) -> frozenset[int]:
    """Visits of a part of the plan whose questions are all answered."""
    needed = {visit for each in factors if not each.settled for visit in each.visits}
    if not compared:
        needed |= {visit.visit for visit in plan.visits}
    return frozenset(visit.visit for visit in plan.every_visit) - needed


def judge_study(
    study: Study,
    plan: Plan,
    records: Sequence[TrialRecord],
    *,
    run: str,
    events: Sequence[Event] = (),
    loads: Iterable[tuple[str, Load]] = (),
    samples: Iterable[Samples] = (),
    effort: Effort = EFFORT,
) -> RunFindings:
    """All findings of a study, decided or not.

    ``events`` is the ledger of the run, which knows why it ended and what time it took; without
    them it counts as running. ``loads`` is what the generator counted, by attempt key; these and
    ``samples`` are read once, one attempt after the other.

    Raises:
        AnalysisError: the records belong to another study or another plan.
    """
    _refuse_foreign(study, plan, records)
    records = without_unfounded_warnings(records)
    parts = workload_runs(study, plan, records)
    differences = tuple(difference_findings(study, plan, records))
    courses: dict[str, Course] = {}
    latencies = latency_findings(parts, _times(loads, courses))
    found = tuple(
        findings_of_one(Evidence(*one, events, courses, latency, resources, effort))
        for one, latency, resources in zip(
            parts, latencies, resource_findings(parts, samples), strict=True
        )
    )
    return RunFindings(
        tool_version=__version__,
        study=study.name,
        question=study.question,
        variant=study.variant,
        study_sha256=plan.study_sha256,
        seed=plan.seed,
        run=run,
        compare=study.compare,
        design=plan.design if plan.visits else None,
        level_kinds=dict(Labels.of(study).kinds),
        systems=plan.systems,
        baseline=study.baseline,
        stop=find_stop(plan, records, events),
        workloads=found,
        interference=tuple(_interference(parts, found)),
        attempts=tuple(attempt_findings(records)),
        differences=differences,
        machines=tuple(machine_findings(records, plan.systems)),
        tested=tested_programs(records),
        disks=tuple(disk_findings(plan, records, events)),
        caveats=(
            *futility_caveats(events),
            *(unused_acceptances(study, differences) if records else ()),
            *cleanup_caveats(events),
        ),
    )


def _times(
    loads: Iterable[tuple[str, Load]], courses: dict[str, Course]
) -> Iterator[tuple[str, LoadTimes]]:
    """The times of each attempt; its course, which is small, is put into ``courses``."""
    for key, load in loads:
        if load.course is not None:
            courses[key] = load.course
        if load.times is not None:
            yield key, load.times


def _interference(
    parts: Sequence[WorkloadRun], found: Sequence[WorkloadFindings]
) -> Iterator[InterferenceTableFinding]:
    return interference_findings(
        [
            OneWorkload(one.study, one.plan, each.consolidation)
            for one, each in zip(parts, found, strict=True)
        ]
    )


def _forecast(
    undecided: Sequence[Judged], readings: Readings, margin_log: float
) -> VisitsForecast | None:
    """Visits until the slowest of the open comparisons is decided, of all that remain."""
    remaining = {
        name for j in undecided for name in (j.comparison.pair.baseline, j.comparison.pair.other)
    }
    found = slowest([forecast(each, readings, margin_log) for each in undecided])
    return None if found is None else found.of_all(len(remaining))


def _refuse_foreign(study: Study, plan: Plan, records: Sequence[TrialRecord]) -> None:
    """Records of a study that has changed must never be judged by its new words."""
    if plan.study_sha256 != study.sha256:
        raise AnalysisError(
            "the plan was made for another text of this study",
            hint="judge the records with the study file that is stored beside them",
            slug="study-has-changed",
        )
    unknown = {record.cell.system for record in records} - set(plan.systems)
    unknown -= set() if plan.screen is None else {plan.screen.system}
    if unknown:
        raise AnalysisError(
            f"the records name systems that the plan does not have: {', '.join(sorted(unknown))}",
            hint="judge each run with its own records",
            slug="study-has-changed",
        )
