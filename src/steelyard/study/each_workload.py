"""A study of several workloads as what it is: a study of each, which share visits and error rate.

What is judged, timed or counted of a study is so of each of these. The study of one workload is
itself, unchanged.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from typing import TypeVar

from steelyard.study import catalogue
from steelyard.study.lookup import spoken, workload_of
from steelyard.study.model import CLIENTS, SCENARIO, WORKLOAD, Level, Study
from steelyard.study.scenarios import measuring, workload_name
from steelyard.study.workload.settings import SharedSettings

Conditions = dict[str, Level]
_Named = TypeVar("_Named")


def studies(study: Study) -> tuple[Study, ...]:
    """One study for each workload that is measured, in the order written."""
    if len(study.workloads) == 1:
        return (study,)
    return tuple(_of(study, name) for name in measured_names(study))


def measured_names(study: Study) -> tuple[str, ...]:
    """The workloads that any scenario measures; all of them without scenarios."""
    return tuple(n for n in study.workloads if not study.scenarios or measuring(study, n))


def study_of(study: Study, conditions: Mapping[str, Level]) -> Study:
    """The study of the workload that a cell with these conditions measures."""
    if len(study.workloads) == 1:
        return study
    return _of(study, workload_name(study, conditions))


def name_of(study: Study) -> str:
    """The name of the workload of a study of one."""
    return next(iter(study.workloads))


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
    return sum(_count(one) for one in studies(study))


def _product(study: Study) -> list[Conditions]:
    levels = itertools.product(*study.factors.values())
    return [dict(zip(study.factors, combination, strict=True)) for combination in levels]


def _count(study: Study) -> int:
    return math.prod(len(levels) for levels in study.factors.values())


def _of(study: Study, name: str) -> Study:
    """One workload with its own conditions, responses and part of the error rate.

    The rate is shared in equal parts (Bonferroni): all verdicts over the conditions of a workload
    are right together with the probability that a study of one workload promises.
    """
    measured, workload = study.measured[name], study.workloads[name]
    alpha = study.trials.alpha / len(measured_names(study))
    driven = workload_of(workload).load
    looked_at = probed(study, name)
    claims = (claim for claim in study.claims if claim.at.get(WORKLOAD) == name)
    return study.model_copy(
        update={
            "workloads": {name: workload},
            "factors": {WORKLOAD: (name,), **_factors(study, name)},
            "responses": _seen(measured.responses, looked_at=looked_at),
            "gates": _seen(measured.gates, looked_at=looked_at),
            "latency_probe": study.latency_probe if looked_at else None,
            "find": study.find if workload_of(workload).is_load else {},
            "load": study.load if driven else None,
            "claims": tuple(claims),
            "judge": study.judge.model_copy(update={"guardrails": measured.guardrails}),
            "trials": study.trials.model_copy(update={"alpha": alpha}),
        }
    )


def _seen(named: Mapping[str, _Named], *, looked_at: bool) -> dict[str, _Named]:
    """Without what a probe measures, where none does."""
    return {n: each for n, each in named.items() if looked_at or not n.startswith("probe.")}


def _factors(study: Study, name: str) -> dict[str, tuple[Level, ...]]:
    own = {n: levels for n, levels in study.factors.items() if _concerns(study, n, name)}
    if SCENARIO in own:
        own[SCENARIO] = measuring(study, name)
    return _with_clients(study, name, own)


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
