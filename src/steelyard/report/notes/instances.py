"""Why figures of several instances, or of the cost of an instance, are missing."""

from __future__ import annotations

from steelyard.judge.analyses.consolidation.findings import (
    HostCostUndeclared,
    InstancesApart,
    InverseAsSpeed,
    NoGuestKernel,
    NoScenario,
    NotAdditive,
    NoVisitWithBoth,
    OneVisit,
    TooFewInstances,
)
from steelyard.judge.analyses.costs.findings import HostNotSampled, NothingSampled, OnHostItself
from steelyard.report.figures import listed
from steelyard.report.notes.registry import writes


@writes(InverseAsSpeed)
def _inverse_as_speed(note: InverseAsSpeed) -> str:
    return f"speed is one over {note.label}"


@writes(NotAdditive)
def _not_additive(note: NotAdditive) -> str:
    return f"{note.label} cannot be added over instances, so there is no total; a rate can"


@writes(NoVisitWithBoth)
def _no_visit_with_both(_: NoVisitWithBoth) -> str:
    return "no visit has both one alone and several at once"


@writes(OneVisit)
def _one_visit(_: OneVisit) -> str:
    return "one visit has no spread, so there is no interval"


@writes(InstancesApart)
def _instances_apart(note: InstancesApart) -> str:
    return (
        f"in {note.visits} of {note.of} visits one worked without the others for more than a tenth "
        "of its time, so that the figures of several at once are too high"
    )


@writes(HostCostUndeclared)
def _host_cost_undeclared(note: HostCostUndeclared) -> str:
    return f"the host's cost needs the responses {listed([f'`{n}`' for n in note.responses])}"


@writes(NoGuestKernel)
def _no_guest_kernel(_: NoGuestKernel) -> str:
    return "guest CPU is known only of guests with a kernel and processors of their own"


@writes(NoScenario)
def _no_scenario(_: NoScenario) -> str:
    return "not in the study"


@writes(TooFewInstances)
def _too_few_instances(_: TooFewInstances) -> str:
    return "not applicable: too few instances"


@writes(OnHostItself)
def _on_host_itself(_: OnHostItself) -> str:
    return "runs on the machine itself: guest CPU and host CPU are the same"


@writes(HostNotSampled)
def _host_not_sampled(_: HostNotSampled) -> str:
    return "the host was not sampled: `sample.where` has no `host`"


@writes(NothingSampled)
def _nothing_sampled(_: NothingSampled) -> str:
    return "no process or control group of the instance could be sampled on the host"
