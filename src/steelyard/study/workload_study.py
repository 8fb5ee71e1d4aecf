"""One workload within a study: what of the study concerns it, and its part of the error rate.

A study of one workload and a study of several are both a tuple of these. They share the visits.
What is judged, timed or counted of a study is so of each.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from typing import TypeVar

from steelyard.study import catalogue
from steelyard.study.lookup import spoken, workload_of
from steelyard.study.model import (
    BYTES,
    CLIENTS,
    SCENARIO,
    WORKLOAD,
    GateSpec,
    GuardrailSpec,
    Level,
    ResponseSpec,
    Study,
    StudyDesign,
    WorkloadSpec,
)
from steelyard.study.scenarios import measuring, workload_name
from steelyard.study.workload.settings import SharedSettings

Conditions = dict[str, Level]
_Named = TypeVar("_Named")


class WorkloadStudy(StudyDesign):
    """One workload of a study, under the factors, questions and error rate that are its own.

    ``workload_name`` is its name in the study. Among several workloads it is also the one level of
    the factor ``WORKLOAD``.
    """

    workload_name: str
    workload: WorkloadSpec
    responses: dict[str, ResponseSpec]
    gates: dict[str, GateSpec]
    guardrails: dict[str, GuardrailSpec]

    @property
    def among(self) -> bool:
        """Whether the study has further workloads."""
        return WORKLOAD in self.factors

    @property
    def has_operations(self) -> bool:
        """Whether a load counts operations, which may fail; streams count bytes."""
        return self.load is not None and self.workload.operation != BYTES

    @property
    def primary(self) -> ResponseSpec:
        """The response that decides."""
        return next(response for response in self.responses.values() if response.primary)

    @property
    def conditions_count(self) -> int:
        """How many conditions each visit measures at most."""
        return math.prod(map(len, self.factors.values()))

    def measures(self, conditions: Mapping[str, Level]) -> bool:
        """Whether a cell with these conditions measures this workload."""
        return conditions.get(WORKLOAD, self.workload_name) == self.workload_name


def studies(study: Study) -> tuple[WorkloadStudy, ...]:
    """One for each workload that is measured, in the order written."""
    return tuple(_of(study, name) for name in measured_names(study))


def measured_names(study: Study) -> tuple[str, ...]:
    """The workloads that any scenario measures; all of them without scenarios."""
    return tuple(n for n in study.workloads if not study.scenarios or measuring(study, n))


def study_of(study: Study, conditions: Mapping[str, Level]) -> WorkloadStudy:
    """That of the workload that a cell with these conditions measures."""
    return _of(study, workload_name(study, conditions))


def probed(study: Study, name: str) -> bool:
    """Whether the latency probe measures a workload: a load whose servers can answer it."""
    workload = study.workloads[name]
    if study.latency_probe is None or not workload_of(workload).is_load:
        return False
    own = (workload.service,) if workload.service is not None else ()
    servers = own or tuple(system.service for system in study.systems.values())
    wanted = catalogue.workload(study.latency_probe.use)
    return all(each is not None and wanted.fits(spoken(each)) for each in servers)


def conditions_of(study: Study) -> tuple[Conditions, ...]:
    """Every combination of the levels of all factors, workload by workload; the last varies
    fastest. A study without any factor has one condition, which is empty.
    """
    return tuple(each for one in studies(study) for each in _product(one))


def conditions_count(study: Study) -> int:
    """How many conditions each visit measures at most."""
    return sum(one.conditions_count for one in studies(study))


def _product(one: WorkloadStudy) -> list[Conditions]:
    levels = itertools.product(*one.factors.values())
    return [dict(zip(one.factors, combination, strict=True)) for combination in levels]


def _of(study: Study, name: str) -> WorkloadStudy:
    """One workload with its own conditions, responses and part of the error rate.

    The rate is shared in equal parts (Bonferroni): all verdicts over the conditions of a workload
    are right together with the probability that a study of one workload promises.
    """
    measured, entry = study.measured[name], workload_of(study.workloads[name])
    looked_at = probed(study, name)
    alpha = study.trials.alpha / len(measured_names(study))
    shared = {field: getattr(study, field) for field in StudyDesign.model_fields}
    own = {
        "workload_name": name,
        "workload": study.workloads[name],
        "factors": _factors(study, name),
        "responses": _seen(measured.responses, looked_at=looked_at),
        "gates": _seen(measured.gates, looked_at=looked_at),
        "guardrails": measured.guardrails,
        "latency_probe": study.latency_probe if looked_at else None,
        "find": study.find if entry.is_load else {},
        "load": study.load if entry.load else None,
        "claims": tuple(c for c in study.claims if c.at.get(WORKLOAD, name) == name),
        "trials": study.trials.model_copy(update={"alpha": alpha}),
    }
    return WorkloadStudy.model_validate(shared | own)


def _seen(named: Mapping[str, _Named], *, looked_at: bool) -> dict[str, _Named]:
    """Without what a probe measures, where none does."""
    return {n: each for n, each in named.items() if looked_at or not n.startswith("probe.")}


def _factors(study: Study, name: str) -> dict[str, tuple[Level, ...]]:
    """All of a study of one workload; of several those that change anything about this one."""
    if WORKLOAD not in study.factors:
        return study.factors
    own = {n: levels for n, levels in study.factors.items() if _concerns(study, n, name)}
    if SCENARIO in own:
        own[SCENARIO] = measuring(study, name)
    return {WORKLOAD: (name,), **_with_clients(study, name, own)}


def _with_clients(
    study: Study, name: str, own: dict[str, tuple[Level, ...]]
) -> dict[str, tuple[Level, ...]]:
    """`clients` of a workload that takes a load are its users, and those of the study are not."""
    workload = study.workloads[name]
    clients = SharedSettings.of(workload.settings).clients
    if clients is None or not workload_of(workload).is_load:
        return own
    listed = f"workloads.{name}.{CLIENTS}"
    levels = own.get(listed, (clients,))
    rest = {factor: found for factor, found in own.items() if factor != listed}
    return {**rest, "load.users": levels}


def _concerns(study: Study, factor: str, name: str) -> bool:
    """Whether a factor changes anything about a workload."""
    workload = study.workloads[name]
    entry = workload_of(workload)
    stage = factor.partition(".")[0]
    if stage == "workloads":
        return factor.startswith(f"workloads.{name}.")
    if stage == "load":
        return entry.load
    if stage == "service":
        return workload.service is None and bool(entry.speaks)
    return factor != WORKLOAD
