"""What a study is, once read: everything resolved, in base units, frozen.

Durations are seconds, sizes bytes, shares ratios. Every default of the study file stands here
and nowhere else. ``read.py`` builds it from a file; tests may build it by hand.
"""

from __future__ import annotations

import math
from typing import Literal

from pydantic import BaseModel, ConfigDict

from steelyard.study.declared.setting import SettingValue

Level = str | int | float | bool
Direction = Literal["higher", "lower", "none"]
Reset = Literal["service", "process", "container", "snapshot", "boot"]
TrialReset = Literal["none", "service", "process", "container", "snapshot", "boot"]
Until = Literal["every level", "overall"]
Contrasts = Literal["baseline", "all pairs"]

WORKLOAD, SCENARIO = "workload", "scenario"
"""The conditions that say which of several workloads a cell measures, and what runs where."""
CLIENTS = "clients"
"""The setting of a workload that is another word for its users."""
FIND = "find"
"""The condition of a trial that searches for a load: its level is the name of the search."""
MIN_VISITS = 8
DEFAULT_VISITS = 96


BYTES = "bytes"
"""What the operations of a bulk stream are called."""


class Spec(BaseModel):
    """Part of a study."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class ServiceSpec(Spec):
    """The server under test. ``settings`` holds every setting of its service file.

    ``text`` is that file when it is the user's own. ``ready_timeout_s`` is how long the study lets
    it take to be ready; ``None`` leaves that to its file.
    """

    use: str
    settings: dict[str, SettingValue] = {}
    text: str | None = None
    ready_timeout_s: float | None = None


class MeterSpec(Spec):
    """What measures the power of the machine that carries a system, from outside.

    ``settings`` holds every setting of its file, ``text`` is that file when it is the user's own.
    """

    use: str
    settings: dict[str, SettingValue] = {}
    text: str | None = None


class SystemSpec(Spec):
    """One system that is compared: where it lives, how that is set up, what serves on it.

    ``settings`` holds those of the platform; ``disks`` what is attached, by name. ``inside`` are
    reversible settings of the machine that the system is, by dotted name, ``outside`` of the one
    that carries it; ``host_machine`` is that one: ``local`` or an address such as ``ssh://hypervisor``.
    ``reset`` is that of the trials unless it has its own. ``platform_text`` is the file of a
    platform that is the user's own; ``profiles`` are those of tuned's profiles that are, by the
    path that the study names: all of the study's, since any may be a level of a factor.
    """

    name: str
    platform: str
    platform_text: str | None = None
    host_machine: str = "local"
    reset: Reset | None = None
    settings: dict[str, SettingValue] = {}
    inside: dict[str, Level] = {}
    outside: dict[str, Level] = {}
    profiles: dict[str, str] = {}
    service: ServiceSpec | None = None
    meter: MeterSpec | None = None
    disks: dict[str, dict[str, SettingValue]] = {}
    instances: int = 1


class GeneratorSpec(Spec):
    """Where the load comes from: ``local``, an address such as ``ssh://loader``, or ``instance 2``.

    ``further`` are the machines that drive it together with the first. ``threads`` are those of
    each. ``calibrate``: what they can do at most is measured before the trials; ``None``: unless
    the service is the server that it would be measured with.
    """

    host: str = "local"
    further: tuple[str, ...] = ()
    threads: int = 1
    calibrate: bool | None = None

    @property
    def hosts(self) -> tuple[str, ...]:
        """The machine of each generator, the first first; one may be named twice."""
        return (self.host, *self.further)

    @property
    def instance(self) -> int | None:
        """The number of the instance that the load comes from; ``None`` for a machine."""
        word, _, number = self.host.partition(" ")
        return int(number) if word == "instance" else None


class WorkloadSpec(Spec):
    """What is driven. ``operation`` is the plural noun of one operation: ``messages``.

    A setting that is a factor holds the first of its levels here; ``bind.py`` puts the level of
    a cell in its place. ``text`` is the file of a workload that is the user's own. ``service`` is
    started for it instead of that of the system.
    """

    use: str
    settings: dict[str, SettingValue] = {}
    operation: str = "operations"
    text: str | None = None
    service: ServiceSpec | None = None


class LoadSpec(Spec):
    """How operations are started. The levels of users or rate are factors.

    ``closed``: each user waits for its answer and thinks. ``open``: operations start by the
    clock, ``connections`` wide.
    """

    mode: Literal["closed", "open"] = "closed"
    think_time_s: float = 0.0
    arrival: Literal["constant", "poisson"] = "poisson"
    connections: int = 64


class ResponseSpec(Spec):
    """One number per trial. ``source`` says what computes it."""

    name: str
    label: str
    unit: str
    direction: Direction
    primary: bool = False
    meaning: str = ""
    source: str = ""


class GateSpec(Spec):
    """A limit that a response must keep, in the response's unit; exactly one side is set."""

    name: str
    kind: Literal["at_most", "at_least"] = "at_most"
    at_most: float | None = None
    at_least: float | None = None
    unit: str = ""
    text: str = ""


class SampleSpec(Spec):
    """How often the machines are sampled, and which: ``host`` is that of the system."""

    every_s: float = 1.0
    where: tuple[str, ...] = ("system", "host")


class BudgetSpec(Spec):
    """What the study may cost; without either the plan holds ``DEFAULT_VISITS`` visits."""

    trials_per_cell: int | None = None
    time_s: float | None = None


class TrialsSpec(Spec):
    """How each trial runs and how sure the answer must be.

    ``aa_control`` is the name under which the baseline is measured again as another system.
    ``timeout_s`` is the deadline of one operation, ``command_s`` of one run of a program.
    With ``reset`` ``none`` all systems stay up side by side, their services too.
    ``span_s`` is the least time within which the visits of a decision lie.
    """

    margin_ratio: float
    window_s: float = 10.0
    warmup_s: float = 2.0
    drain_s: float = 2.0
    timeout_s: float = 10.0
    command_s: float = 1800.0
    reset: TrialReset = "service"
    settle_s: float | None = None
    settle_until_idle: bool = False
    reference_kernel_s: float | None = None
    retry: int = 3
    until: Until = "every level"
    span_s: float | None = None
    alpha: float = 0.05
    budget: BudgetSpec = BudgetSpec()
    seed: int | None = None
    aa_control: str | None = None

    @property
    def systems_stay_up(self) -> bool:
        """Whether systems are prepared once, and visited in turn without a reset."""
        return self.reset == "none"

    @property
    def margin_log(self) -> float:
        """The margin on the scale of natural logarithms."""
        return math.log1p(self.margin_ratio)


class ProbeSpec(Spec):
    """A workload of single operations that measures latency while the load runs."""

    use: str
    every_s: float
    settings: dict[str, SettingValue] = {}


class EventSpec(Spec):
    """What is done on a machine while the load runs, and from when on an operation is late.

    ``on`` is ``system`` (the first instance), ``host``, ``generator``, or an address. ``command``
    starts ``at_s`` after the start of the window and takes ``within_s`` at most. The service is as
    before when for ``calm_s`` nothing took longer than ``late_s``. ``undo`` is run after the trial.
    ``since_s`` is from when on the service is as before the event: since another one is over.
    """

    name: str
    command: tuple[str, ...]
    on: str = "system"
    at_s: float
    within_s: float
    late_s: float
    calm_s: float
    undo: tuple[str, ...] = ()
    since_s: float = 0.0


class FindSpec(Spec):
    """The largest load that keeps all limits."""

    name: str
    limits: tuple[GateSpec, ...]


Without = Literal["damage", "errors"]
"""What a claim may say that a system is without."""


class ClaimSpec(Spec):
    """A sentence that the data must support.

    ``subject`` is a system or a level of the compared factor; ``every_level_of`` stands for all
    but ``excepted``. ``other`` is what it is compared with, ``factor`` the share of it
    (``0.95 of physical``) or how far from it (``3 % of physical``), ``low`` and ``high`` the range
    of ``peak_users``. ``without``: what must not have been seen of a subject besides.
    """

    id: str
    kind: Literal[
        "at_least",
        "at_most",
        "faster_than",
        "slower_than",
        "equivalent_to",
        "no_worse_than",
        "within",
        "peak_users",
    ]
    subject: str | None = None
    every_level_of: str | None = None
    excepted: tuple[str, ...] = ()
    response: str | None = None
    at: dict[str, Level] = {}
    other: str | None = None
    factor: float | None = None
    low: float | None = None
    high: float | None = None
    without: tuple[Without, ...] = ()


class ScreenSpec(Spec):
    """Two-level screening of factors on one system.

    What is ``hard_to_change`` keeps its level while the others are varied within.
    """

    system: str
    factors: dict[str, tuple[Level, ...]]
    hard_to_change: tuple[str, ...] = ()
    ask: Literal["influence"] = "influence"


class PlacedWorkload(Spec):
    """One workload on one instance; ``*`` is each in turn, ``same`` what instance 1 runs."""

    workload: str
    settings: dict[str, SettingValue] = {}


class ScenarioSpec(Spec):
    """What runs on which instance, all started together."""

    name: str
    instances: dict[int, tuple[PlacedWorkload, ...]]


class GuardrailSpec(Spec):
    """A response that may not be worse by more than ``margin`` where a system is called faster.

    The margin is a share of the response; where that may be zero (``absolute``), a difference.
    ``declared`` ones forbid the word when they cannot be judged, others only when they can.
    """

    name: str
    label: str
    unit: str
    direction: Direction
    margin: float
    absolute: bool = False
    declared: bool = True


class JudgeSpec(Spec):
    """How records become verdicts. ``contrasts``: which systems are compared with which.

    ``engine`` may be one that was removed, in the studies of earlier runs.
    """

    engine: Literal["exact", "normal"] = "exact"
    contrasts: Contrasts = "baseline"
    consolidation: bool = False


class MeasuredSpec(Spec):
    """What counts of one workload: its responses, one of them primary, and limits."""

    responses: dict[str, ResponseSpec]
    gates: dict[str, GateSpec] = {}
    guardrails: dict[str, GuardrailSpec] = {}


class CachesSpec(Spec):
    """Whether caches are dropped before every window, and where."""

    dropped: bool = False
    where: tuple[str, ...] = ()


class ReportSpec(Spec):
    """How the report is cut; dotted factor names, and a folder of the author's notes."""

    sections_by: str | None = None
    means_by: str | None = None
    notes: str | None = None


class StudyDesign(Spec):
    """What a study states of itself and, in the same words, of each of its workloads.

    ``compare`` names the factor that is judged and ``compared`` its levels (the systems, unless
    said otherwise), ``names`` what they are called where that is another word; ``baseline`` is
    the name of one of them. ``factors`` maps every other factor, by dotted
    name, to its levels: the conditions under which the comparison is made. ``background``
    is what instances of other numbers run while the rest run the workload. ``ask`` is what is
    asked of all factors together. ``machines`` are the addresses of several hosts that each carry
    all systems; ``machine`` is the name of the one that this is the part of (``machines.py``).
    ``sha256`` is that of the bytes as read, followed by the name of the variant.
    ``accepted_differences`` are reasons, by the fact that may differ.
    """

    name: str
    question: str
    variant: str | None = None
    sha256: str
    systems: dict[str, SystemSpec]
    machines: tuple[str, ...] = ()
    machine: str | None = None
    compare: str = "system"
    compared: tuple[Level, ...] = ()
    names: tuple[str, ...] = ()
    baseline: str
    factors: dict[str, tuple[Level, ...]] = {}
    background: dict[int, WorkloadSpec] = {}
    load: LoadSpec | None = None
    generator: GeneratorSpec = GeneratorSpec()
    sample: SampleSpec = SampleSpec()
    trials: TrialsSpec
    latency_probe: ProbeSpec | None = None
    events: dict[str, EventSpec] = {}
    find: dict[str, FindSpec] = {}
    claims: tuple[ClaimSpec, ...] = ()
    accepted_differences: dict[str, str] = {}
    variants: tuple[str, ...] = ()
    scenarios: dict[str, ScenarioSpec] = {}
    screen: ScreenSpec | None = None
    ask: Literal["influence"] | None = None
    judge: JudgeSpec = JudgeSpec()
    clock: Literal["controller", "system"] = "controller"
    caches: CachesSpec = CachesSpec()
    report: ReportSpec = ReportSpec()

    @property
    def named(self) -> dict[str, Level]:
        """The compared levels by their names: ``64 KiB`` is 65536."""
        return dict(zip(self.names or map(str, self.compared), self.compared, strict=True))


class Study(StudyDesign):
    """One study, complete: one workload or several, and by the same names what counts of each.

    Several are a factor, ``WORKLOAD``. What is asked of one of them is asked of its
    ``WorkloadStudy`` (``workload_study.py``).
    """

    workloads: dict[str, WorkloadSpec]
    measured: dict[str, MeasuredSpec]
