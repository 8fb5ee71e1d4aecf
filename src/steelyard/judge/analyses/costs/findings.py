"""What is found of processor time inside and outside, and of where threads ran."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from steelyard.judge.analyses.consolidation.findings import NoGuestKernel, OneVisit, RatioFinding
from steelyard.plan.model import Cell, Frozen
from steelyard.records.note import Note


class OnHostItself(Note):
    """The system runs on the machine itself: guest and host are one."""

    kind: Literal["on_host_itself"] = "on_host_itself"


class HostNotSampled(Note):
    """The study does not sample the host."""

    kind: Literal["host_not_sampled"] = "host_not_sampled"


class NothingSampled(Note):
    """Neither a control group nor a process of the instance could be sampled on the host."""

    kind: Literal["nothing_sampled"] = "nothing_sampled"


CostGap = Annotated[
    NoGuestKernel | OneVisit | OnHostItself | HostNotSampled | NothingSampled,
    Field(discriminator="kind"),
]
"""Why figures of the cost of an instance are missing."""


class CoresFinding(Frozen):
    """Cores, mean of a window, over the visits: the middle one, the least and the most."""

    median: float
    least: float
    greatest: float


class OverheadFinding(RatioFinding):
    """A ratio over the visits with its spread: also the least and the greatest visit."""

    least_log: float
    greatest_log: float


class CostFinding(Frozen):
    """What one instance cost its host in one cell, against what it saw itself.

    ``inside`` is what a guest takes for busy, ``outside`` what its host paid for it, emulation
    included; of that ``vcpu`` went to its processors, which waited for ``wait`` more. ``stolen``
    is what the guest saw of this, ``hidden`` what it did not see. ``overhead`` is outside over
    inside. What is ``None`` is explained in ``missing``.
    """

    cell: Cell
    instance: int
    visits: int
    vcpus: int | None
    inside: CoresFinding | None
    outside: CoresFinding | None
    vcpu: CoresFinding | None
    wait: CoresFinding | None
    stolen: CoresFinding | None
    hidden: CoresFinding | None
    overhead: OverheadFinding | None
    interval_level: float
    missing: tuple[CostGap, ...]


class ThreadsFinding(Frozen):
    """Threads of one process that may run in the same places.

    ``names`` are theirs, with ``#`` for the number where several differ by nothing else;
    ``threads`` is how many there were at most at once. ``allowed_cpus`` are all lists of CPUs that
    they were seen with, as ``0-1,4``, ``last_cpus`` all CPUs that they were last seen on.
    ``moved``: one of them was last seen on another CPU in another trial; ``None`` after one trial,
    and where several threads bear every name.
    """

    machine: str
    process: str
    names: tuple[str, ...]
    threads: int
    allowed_cpus: tuple[str, ...]
    last_cpus: tuple[int, ...]
    moved: bool | None


class PlacementFinding(Frozen):
    """Where one instance of a system ran, over all trials with one declaration of CPUs.

    ``declared`` maps settings to CPUs, as ``{"cpuset": "0-1"}``; empty when nothing was declared.
    """

    system: str
    instance: int
    declared: dict[str, str]
    trials: int
    threads: tuple[ThreadsFinding, ...]
