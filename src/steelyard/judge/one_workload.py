"""All findings of one workload, by what they are about.

What several of them rest on is computed once (``Evidence``). Each part is a function from there to
some fields of ``WorkloadFindings``; no field is given by two.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import median

from steelyard.judge.analyses.calibrations import calibration_findings
from steelyard.judge.analyses.claims.judged import claim_findings
from steelyard.judge.analyses.consolidation.density import density_verdicts
from steelyard.judge.analyses.consolidation.findings import ConsolidationFinding
from steelyard.judge.analyses.consolidation.together import consolidation_findings
from steelyard.judge.analyses.costs.cores import cost_findings
from steelyard.judge.analyses.costs.places import placement_findings
from steelyard.judge.analyses.events.over_time import event_findings, rate_findings
from steelyard.judge.analyses.factors.influence import influence_findings
from steelyard.judge.analyses.failures.count import failure_contrasts, failure_findings
from steelyard.judge.analyses.latency.findings import LatencyFinding
from steelyard.judge.analyses.planning.gain import covariate_findings
from steelyard.judge.analyses.planning.lengths import length_finding
from steelyard.judge.analyses.planning.resolution import resolution_findings
from steelyard.judge.analyses.ranking.rank import rankings
from steelyard.judge.analyses.requests.times import request_times
from steelyard.judge.analyses.resources.findings import ResourceFinding
from steelyard.judge.analyses.scaling.capacity import capacity_findings, capacity_verdicts
from steelyard.judge.analyses.scaling.curve import scaling_findings
from steelyard.judge.analyses.scaling.findings import ScalingFinding
from steelyard.judge.analyses.scaling.peaks import peak_verdicts
from steelyard.judge.analyses.sections.cut import section_findings
from steelyard.judge.analyses.steadiness.findings import SteadyFinding
from steelyard.judge.analyses.steadiness.windows import steadiness_caveats, steady_findings
from steelyard.judge.cells import cell_findings
from steelyard.judge.comparisons.aa_control import judged_control, readings_of
from steelyard.judge.comparisons.comparison import Judged, judge
from steelyard.judge.comparisons.families import comparisons, contestants, not_compared, pairs
from steelyard.judge.comparisons.trend import trend_findings
from steelyard.judge.comparisons.verdict_finding import finding
from steelyard.judge.findings import ResponseFinding, VerdictFinding, WorkloadFindings
from steelyard.judge.stopping.stop import workload_caveats
from steelyard.judge.validity.study_caveats import study_caveats
from steelyard.judge.validity.study_checks import study_checks
from steelyard.judge.visits.readings import Readings
from steelyard.judge.visits.series import EFFORT, Effort
from steelyard.plan.model import Plan
from steelyard.records.events import Event
from steelyard.records.load_results import Course
from steelyard.records.schema import TrialRecord
from steelyard.study.workload_study import WorkloadStudy

Part = dict[str, object]


@dataclass(frozen=True)
class Evidence:
    """What was measured of one workload, and what several findings need of it."""

    study: WorkloadStudy
    plan: Plan
    records: Sequence[TrialRecord]
    events: Sequence[Event]
    courses: Mapping[str, Course]
    latency: tuple[LatencyFinding, ...] = ()
    resources: tuple[ResourceFinding, ...] = ()
    effort: Effort = EFFORT

    @property
    def measured(self) -> tuple[WorkloadStudy, Plan, Sequence[TrialRecord]]:
        return self.study, self.plan, self.records

    @property
    def margin_log(self) -> float:
        return self.study.trials.margin_log

    @cached_property
    def readings(self) -> Readings:
        return readings_of(*self.measured, self.effort)

    @cached_property
    def judged(self) -> list[Judged]:
        asked = comparisons(self.study, self.plan)
        return [judge(each, self.readings, self.margin_log) for each in asked]

    @cached_property
    def verdicts(self) -> tuple[VerdictFinding, ...]:
        return tuple(finding(each, self.readings, self.margin_log) for each in self.judged)

    @cached_property
    def overall(self) -> list[Judged]:
        """Of the primary response, over all conditions."""
        of_primary = [each for each in self.judged if each.comparison.response.primary]
        return [each for each in of_primary if each.comparison.conditions is None]

    @cached_property
    def steadiness(self) -> tuple[SteadyFinding, ...]:
        return tuple(steady_findings(*self.measured, self.courses))

    @cached_property
    def scaling(self) -> tuple[ScalingFinding, ...]:
        return tuple(scaling_findings(*self.measured))

    @cached_property
    def consolidation(self) -> tuple[ConsolidationFinding, ...]:
        return tuple(consolidation_findings(*self.measured))

    def noise_log(self) -> float | None:
        """The noise of a visit, the middle of what the overall comparisons say."""
        found = [e.noise_log for e in (each.estimate() for each in self.overall) if e is not None]
        return median(found) if found else None


def findings_of_one(evidence: Evidence) -> WorkloadFindings:
    """All findings of one workload."""
    return WorkloadFindings(
        **_asked(evidence),
        **_compared(evidence),
        **_explored(evidence),
        **_loaded(evidence),
        **_together(evidence),
        **_measured(evidence),
        **_priced(evidence),
        **_bounded(evidence),
    )


def _asked(evidence: Evidence) -> Part:
    """What was measured, by the study and its plan."""
    study, plan = evidence.study, evidence.plan
    return {
        "name": study.workload_name,
        "conditions": plan.conditions,
        "not_applicable": plan.not_applicable,
        "responses": tuple(ResponseFinding.of(spec) for spec in study.responses.values()),
    }


def _compared(evidence: Evidence) -> Part:
    """System against system, and whatever else the study asks to be answered."""
    study, plan, readings, margin = (
        evidence.study,
        evidence.plan,
        evidence.readings,
        evidence.margin_log,
    )
    aa_control = judged_control(study, readings)
    unasked = [judge(each, readings, margin) for each in not_compared(study, plan)]
    ranked = rankings(
        contestants(study, plan),
        plan,
        ResponseFinding.of(study.primary),
        evidence.verdicts,
        unasked,
    )
    return {
        "verdicts": evidence.verdicts,
        "trends": tuple(trend_findings(evidence.overall)),
        "rankings": tuple(ranked),
        "aa_control": None if aa_control is None else finding(aa_control, readings, margin),
        "claims": tuple(claim_findings(study, plan, readings, evidence.scaling, evidence.events)),
    }


def _explored(evidence: Evidence) -> Part:
    """What is seen besides: factors, sections of the report, failures."""
    study, plan, readings = evidence.study, evidence.plan, evidence.readings
    counted = tuple(failure_findings(plan, evidence.records))
    contrasts = failure_contrasts(study, pairs(study, plan), readings, counted)
    return {
        "influence": tuple(influence_findings(study, plan, readings)),
        "sections": tuple(section_findings(study, plan, readings)),
        "failures": counted,
        "failure_contrasts": tuple(contrasts),
    }


def _loaded(evidence: Evidence) -> Part:
    """Over the levels of a load."""
    return {
        "scaling": evidence.scaling,
        "peaks": tuple(peak_verdicts(*evidence.measured, evidence.effort.paths)),
        "capacities": tuple(capacity_findings(*evidence.measured)),
        "capacity_verdicts": tuple(capacity_verdicts(*evidence.measured, evidence.effort.paths)),
    }


def _together(evidence: Evidence) -> Part:
    """Several instances on one machine."""
    return {
        "consolidation": evidence.consolidation,
        "densities": tuple(density_verdicts(*evidence.measured, evidence.effort.paths)),
    }


def _measured(evidence: Evidence) -> Part:
    """What trials brought, before anything is compared."""
    return {
        "cells": tuple(cell_findings(*evidence.measured)),
        "request_times": tuple(request_times(evidence.records)),
        "latency": evidence.latency,
        "happened": tuple(event_findings(*evidence.measured)),
        "resources": (
            *rate_findings(*evidence.measured, evidence.courses),
            *evidence.resources,
        ),
        "costs": tuple(cost_findings(*evidence.measured)),
        "placements": tuple(placement_findings(*evidence.measured)),
        "steadiness": evidence.steadiness,
    }


def _priced(evidence: Evidence) -> Part:
    """What the answer has cost, and what would have made it cheaper."""
    trials = evidence.study.trials
    return {
        "resolution": tuple(resolution_findings(evidence.events, trials)),
        "covariates": tuple(covariate_findings(evidence.overall, evidence.margin_log)),
        "lengths": None
        if evidence.study.events  # the moments of an event fix how long a window is
        else length_finding(*evidence.measured, evidence.courses, evidence.noise_log()),
    }


def _bounded(evidence: Evidence) -> Part:
    """What bounds all this, and what it leaves open."""
    return {
        "calibrations": tuple(calibration_findings(*evidence.measured)),
        "diagnostics": tuple(study_checks(evidence.plan, evidence.overall, evidence.records)),
        "caveats": (
            *study_caveats(*evidence.measured),
            *steadiness_caveats(evidence.study, evidence.steadiness),
            *workload_caveats(evidence.study.workload_name, evidence.plan, evidence.events),
        ),
    }
