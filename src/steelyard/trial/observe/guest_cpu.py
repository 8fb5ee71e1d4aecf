"""What a guest says of its processors, held against what its host gave them.

A guest without a steal clock (an emulated one always) takes the time in which its processors
waited for one of the host for time in which it worked: its busy time, and every duration taken
inside, hold that waiting. The threads that are its processors tell it apart. Pure.
"""

from __future__ import annotations

from steelyard.records.schema import CostRecord
from steelyard.records.warnings import Figures, TrialWarning, WarningKind
from steelyard.systems.platform import VCPU
from steelyard.trial.observe.responses import Seen, measure_responses
from steelyard.trial.observe.window import WindowSamples

HIDDEN_LIMIT = 0.05
"""Cores of waiting that a guest does not see, for each of its processors."""

_CORES = dict.fromkeys(("system.cpu", "host.instance_cpu", "host.vcpu_cpu"), "cores")
_WAIT = {"host.vcpu_wait": "cores"}


def reconciled(seen: Seen) -> CostRecord | None:
    """Both sides in cores; ``None`` where nothing that stands for the instance was sampled."""
    if seen.host is None:
        return None
    told = measure_responses(_CORES | _WAIT, seen)
    instance, vcpus = told["host.instance_cpu"].value, told["host.vcpu_cpu"].value
    if instance is None and vcpus is None:
        return None
    guest = vcpus is not None
    return CostRecord(
        instance_cores=instance,
        vcpus=_count(seen.host, seen.column) if guest else None,
        vcpu_cores=vcpus,
        vcpu_wait_cores=told["host.vcpu_wait"].value,
        busy_inside_cores=told["system.cpu"].value if guest else None,
        stolen_inside_cores=_stolen(seen.window) if guest else None,
    )


def hidden_wait_warnings(name: str, costs: CostRecord | None) -> list[TrialWarning]:
    """That a guest's processors waited for more than the guest saw as stolen."""
    if costs is None or costs.vcpu_wait_cores is None or costs.vcpus is None:
        return []
    stolen = costs.stolen_inside_cores or 0.0
    if costs.vcpu_wait_cores - stolen <= HIDDEN_LIMIT * costs.vcpus:
        return []
    figures = {
        "busy_inside_cores": costs.busy_inside_cores,
        "stolen_inside_cores": costs.stolen_inside_cores,
        "vcpu_cores": costs.vcpu_cores,
        "vcpu_wait_cores": costs.vcpu_wait_cores,
    }
    known: Figures = {name: value for name, value in figures.items() if value is not None}
    return [TrialWarning(kind=WarningKind.HIDDEN_WAIT, figures={"machine": name, **known})]


def _stolen(inside: WindowSamples) -> float | None:
    rate = inside.rate_per_s("cpu.steal_ns")
    return None if rate is None else rate / 1e9


def _count(host: WindowSamples, column: str) -> int | None:
    count = host.peak(f"threads.{column}.{VCPU}.threads")
    return None if count is None else round(count)
