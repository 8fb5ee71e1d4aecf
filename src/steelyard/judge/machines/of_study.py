"""A study on several machines: what its parts say together, while they run and at the end.

A part is the study of one machine, and its findings are those of any study. Joined they are the
findings of a study with one condition more, ``machine``: over all of them stands what is judged on
all of these.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from steelyard.inference.sequential import DECIDED
from steelyard.judge.comparisons.aa_control import readings_of
from steelyard.judge.comparisons.families import Comparison, comparisons, deciding
from steelyard.judge.findings import VerdictFinding
from steelyard.judge.machines.findings import MachinesFinding
from steelyard.judge.machines.together import judge_together, word_together
from steelyard.judge.visits.readings import Readings
from steelyard.judge.visits.series import EFFORT, Effort
from steelyard.judge.visits.workload_run import workload_runs
from steelyard.plan.model import Plan
from steelyard.records.schema import TrialRecord
from steelyard.study.model import Study
from steelyard.study.workload_study import WorkloadStudy, studies


class MachinePart(NamedTuple):
    """What the judge takes of one machine."""

    study: Study
    plan: Plan
    records: Sequence[TrialRecord]


class _Together(NamedTuple):
    """One workload of the study, one of its plans, and its visits on each machine."""

    study: WorkloadStudy
    plan: Plan
    on: dict[str, Readings]


def decided_together(
    study: Study, parts: Mapping[str, MachinePart], effort: Effort = EFFORT
) -> bool:
    """Whether all that is asked of all of these machines is decided; then it stays so."""
    return all(
        word_together(each, one.on, study.trials.margin_log) in DECIDED
        for one in _workloads(study, parts, effort)
        for each in deciding(one.study, one.plan)
    )


def verdicts_together(
    study: Study, parts: Mapping[str, MachinePart], effort: Effort = EFFORT
) -> dict[str, list[tuple[VerdictFinding, MachinesFinding | None]]]:
    """By workload the verdicts on all of these machines, and what depends on the machine.

    Shares of failed operations are judged on each machine alone.
    """
    margin_log = study.trials.margin_log
    return {
        one.study.workload_name: [judge_together(each, one.on, margin_log) for each in _asked(one)]
        for one in _workloads(study, parts, effort)
    }


def _asked(one: _Together) -> list[Comparison]:
    return [each for each in comparisons(one.study, one.plan) if each.scale == "log"]


def _workloads(
    study: Study, parts: Mapping[str, MachinePart], effort: Effort
) -> Iterator[_Together]:
    runs = {name: workload_runs(*part) for name, part in parts.items()}
    for place, own in enumerate(studies(study)):
        on = {name: readings_of(*each[place], effort) for name, each in runs.items()}
        yield _Together(own, next(iter(runs.values()))[place].plan, on)
