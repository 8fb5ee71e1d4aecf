"""The study file as written: every key, and what it takes.

This is the border. Its classes feed the JSON schema that editors read, and ``resolve`` turns
them into a ``Study``. Defaults are not here but in ``model.py``: a key that was not written is
``None``.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema

from steelyard.study.file.kinds import (
    CommandWritten,
    Count,
    Duration,
    Emptiable,
    Levels,
    LimitWritten,
    Machines,
    OpenPart,
    Part,
    PositiveCount,
    SettleWritten,
    Share,
    TrialsPerCell,
    Wait,
    Word,
    Words,
    named,
)
from steelyard.study.model import Contrasts, Reset, TrialReset, Until

NAME = r"^[A-Za-z0-9][A-Za-z0-9_.+-]*$"
Name = Annotated[str, Field(pattern=NAME, max_length=80)]


class ServicePart(OpenPart):
    """The server under test; its other keys are the settings of the service."""

    use: str
    """Which server: the name of a service."""
    ready_timeout: Wait | None = None
    """How long it may take to be ready, where its file says too little or too much."""


class MeterPart(OpenPart):
    """What measures the power of a machine from outside; other keys are settings of the meter."""

    use: str
    """Which meter: the name of one, or the path of a file of your own."""


class DefaultsPart(OpenPart):
    """What every system has unless it says otherwise; other keys are settings of platforms."""

    service: ServicePart | None = None
    """The server under test on this system."""
    meter: MeterPart | None = None
    """What measures the power of the machine that carries this system."""
    disks: dict[Name, dict[str, object]] | None = None
    """Disks that are attached, by name."""
    instances: PositiveCount | None = None
    """How many of it run at once."""
    host_machine: str | None = None
    """The host it runs on: `local`, or an address such as `ssh://hypervisor`."""
    reset: Reset | None = None
    """What is made anew of it before every trial, where `trials.reset` does not fit."""
    settings: dict[str, object] | None = None
    """Reversible settings inside, by name, as `{tuned: balanced}`."""
    host_settings: dict[str, object] | None = None
    """Reversible settings of its host."""


class SystemPart(DefaultsPart):
    """One system; its other keys are the settings of the platform."""

    platform: str
    """The kind of place the system lives in."""


class ResponsePart(Part):
    """A number that every trial gives."""

    primary: bool = False
    """This response decides; exactly one does."""


class WorkloadPart(OpenPart):
    """What is driven; its other keys are the settings of the workload. A list makes a factor."""

    use: str | None = None
    """Which workload; `command` is enough for a command."""
    service: Annotated[ServicePart | None, BeforeValidator(named)] = None
    """The server that is started for this workload, instead of that of the system."""
    responses: dict[str, Annotated[ResponsePart, Emptiable]] | None = None
    """What is measured of this workload besides, where there are several."""


class ProbePart(OpenPart):
    """A workload of single operations that measures latency while the load runs."""

    use: str
    """Which workload the probe runs."""
    every: Duration
    """Pause between two probes."""


class EventPart(Part):
    """What is done on a machine at a moment of the window."""

    command: CommandWritten
    """What is run, one word per item."""
    on: str | None = None
    """Where: system, host, generator, or an address such as `ssh://nas`."""
    at: Duration
    """When it starts, from the start of the window."""
    within: Wait
    """How long it may take."""
    late: Wait
    """From which response time on an operation is late."""
    calm: Wait | None = None
    """How long nothing may be late where the service is as before."""
    undo: CommandWritten | None = None
    """What is run after the trial, to undo what the event changed."""


class LoadPart(Part):
    """How hard: so many users, or so many operations a second."""

    users: Levels | None = None
    """Users at once; each waits for its answer, thinks, and goes on (closed)."""
    rate: Levels | None = None
    """Operations started per second by the clock, answered or not (open)."""
    think: Duration | None = None
    """Pause of a user between an answer and its next operation."""
    arrival: Literal["constant", "poisson"] | None = None
    """Gaps between operations in open mode: equal, or exponential."""
    connections: PositiveCount | None = None
    """Connections that share the operations in open mode."""


class GeneratorPart(Part):
    """Where the load comes from."""

    host: Machines | None = None
    """`local`, or an address such as `ssh://loader`; several in a list drive the load together."""
    threads: PositiveCount | None = None
    """Threads of each generator."""
    calibrate: bool | None = None
    """Measure before the trials what the generator can do at most. Not given: unless the service
    is the server that it would be measured with."""


class SamplePart(Part):
    """How the machines are sampled."""

    every: Duration | None = None
    """Time between two samples."""
    where: Words | None = None
    """Which machines: system, host, generator."""


class BudgetPart(Part):
    """What the study may cost at most."""

    trials: TrialsPerCell | None = None
    """Trials of each cell."""
    time: Duration | None = None
    """Time from the first trial on."""


class TrialsPart(Part):
    """How each trial runs and how sure the answer must be."""

    margin: Share
    """The smallest difference that matters."""
    window: Duration | None = None
    """Length of the measuring window."""
    warmup: Duration | None = None
    """Load before the window that counts for nothing."""
    drain: Duration | None = None
    """How long operations in flight at the end may still be answered."""
    timeout: Duration | None = None
    """Deadline of one operation; where every workload is a program, of one run of it."""
    reset: TrialReset | None = None
    """What is made anew before every trial; `none`: all systems stay up, with their services."""
    settle: SettleWritten | None = None
    """Pause before a trial."""
    reference_kernel: Duration | None = None
    """A fixed computation before every trial; its speed shows the state of the machine."""
    retry: Count | None = None
    """How often a failed trial is tried again."""
    until: Until | None = None
    """When the study may stop early: at a verdict for every level, or for all levels together."""
    span: Duration | None = None
    """Least time from the first visit to the one that decides."""
    alpha: Share | None = None
    """Largest probability of a false verdict."""
    budget: BudgetPart | None = None
    """What the study may cost at most."""
    seed: Count | None = None
    """Fixes every random choice; drawn when it is not given."""
    order: Literal["bigstick", "pairs", "blocks"] | None = None
    """Removed; read in the studies of earlier runs, whose plans hold the order."""
    aa_control: bool | None = None
    """Measure the baseline again as if it were another system: the two must be equal."""


class ClaimPart(Part):
    """A sentence that the data must support."""

    id: Name
    """Name of the claim."""
    system: Word | None = None
    """The system it speaks of."""
    every_level_of: str | None = None
    """Or every level of this factor."""
    except_: Words | None = Field(default=None, alias="except")
    """Levels that `every_level_of` leaves out."""
    response: str | None = None
    """The response it speaks of."""
    at: dict[str, Word] | None = None
    """The conditions it speaks of, as `{users: 50}`."""
    at_least: Word | None = None
    """`0.95 of NAME`: not below this share of another system."""
    at_most: Word | None = None
    """`1.05 of NAME`: not above this share of another system."""
    faster_than: Word | None = None
    """Better than this system."""
    slower_than: Word | None = None
    """Worse than this system."""
    equivalent_to: Word | None = None
    """Within the margin of this system."""
    no_worse_than: Word | None = None
    """Not worse than this system by the margin."""
    within: Word | None = None
    """`3 % of NAME`: not further from another system than this."""
    peak_users: Word | None = None
    """Where throughput peaks: a range such as `30..70`."""
    without: list[Literal["damage", "errors"]] | None = None
    """And without damage to its disks, failed operations or attempts."""


class ScreenPart(Part):
    """Two-level screening: which factors matter, on one system."""

    system: Word
    """The system that is screened."""
    factors: dict[str, Levels]
    """Dotted names, two levels each."""
    hard_to_change: Words | None = None
    """Those that keep their level for a while, because changing them takes long."""
    ask: Literal["influence"] | None = None
    """What is asked of them."""


class JudgePart(Part):
    """How records become verdicts."""

    engine: Literal["exact", "normal"] | None = None
    """Removed; read in the studies of earlier runs."""
    contrasts: Contrasts | None = None
    """`baseline`: each system against the baseline; `all pairs`: each against each."""
    guardrails: dict[str, Share] | None = None
    """Responses that may not be worse by more than this where a system is called faster."""
    consolidation: bool | None = None
    """Also: sum, minimum, slowdown and fairness of instances against one alone."""


class ReportPart(Part):
    """How the report is cut."""

    sections_by: str | None = None
    """One section per level of this factor."""
    means_by: str | None = None
    """Means over the levels of this factor."""
    notes: str | None = None
    """Folder of the author's notes, one file per section."""


class VariantPart(Part):
    """Parts of the study that a variant replaces; `null` takes a part out."""

    systems: object = None
    """A list of the systems that stay, or a mapping of changes."""
    defaults: dict[str, object] | None = None
    factors: dict[str, object] | None = None
    workload: dict[str, object] | None = None
    workloads: object = None
    load: dict[str, object] | None = None
    generator: dict[str, object] | None = None
    background: dict[str, object] | None = None
    latency_probe: dict[str, object] | None = None
    events: dict[str, object] | None = None
    find: dict[str, object] | None = None
    responses: dict[str, object] | None = None
    sample: dict[str, object] | None = None
    gates: dict[str, object] | None = None
    scenarios: object = None
    screen: dict[str, object] | None = None
    ask: Literal["influence"] | None = None
    judge: dict[str, object] | None = None
    caches: str | None = None
    trials: dict[str, object] | None = None
    baseline: Word | None = None
    machines: Words | None = None
    claims: list[ClaimPart] | None = None
    accepted_differences: dict[str, str] | None = None


class StudyFile(Part):
    """A study: question, systems, workload, load, responses, and how sure."""

    study: Name
    """Name of the study; results are kept under it."""
    question: str
    """What the study shall answer, in one sentence."""
    defaults: DefaultsPart | None = None
    """Keys that every system has unless it says otherwise."""
    systems: Annotated[dict[Name, SystemPart], Field(min_length=1)]
    """What is compared, by name."""
    machines: Words | None = None
    """Several hosts: each carries all systems, in a random order of its own."""
    compare: str | None = None
    """The factor that is judged; `system` unless said otherwise."""
    baseline: Word | None = None
    """The system (or level of `compare`) that the others are judged against."""
    factors: dict[str, Levels] | None = None
    """Further conditions: dotted names and their levels."""
    workload: WorkloadPart | None = None
    """What is driven."""
    workloads: dict[Name, WorkloadPart] | None = None
    """Several workloads, by name; each is judged by itself."""
    background: dict[str, WorkloadPart] | None = None
    """Background workloads: what instances of these numbers run while the others are measured."""
    latency_probe: ProbePart | None = None
    """A workload of single operations that measures latency while the load runs."""
    load: LoadPart | None = None
    """How hard."""
    events: dict[Name, EventPart] | None = None
    """What is done on a machine at a moment of the window, by name."""
    find: dict[Name, dict[str, LimitWritten]] | None = None
    """The largest load that keeps these limits."""
    generator: GeneratorPart | None = None
    """Where the load comes from."""
    responses: dict[str, Annotated[ResponsePart, Emptiable]] | None = None
    """What is measured in every trial."""
    sample: SamplePart | None = None
    """How the machines are sampled."""
    gates: dict[str, LimitWritten] | None = None
    """Conditions a trial must meet to count."""
    scenarios: (
        Annotated[
            dict[Name, dict[str, object]],
            WithJsonSchema({"type": "object", "additionalProperties": {"type": "object"}}),
        ]
        | None
    ) = None
    """What runs on which instance, all started together."""
    screen: ScreenPart | None = None
    """Which factors matter, on one system."""
    ask: Literal["influence"] | None = None
    """`influence`: which of all factors matter, the compared one included."""
    judge: JudgePart | None = None
    """How records become verdicts."""
    clock: Literal["controller", "system"] | None = None
    """Whose clock times the trials."""
    caches: str | None = None
    """`kept`, or `dropped before every window, in guest and host`."""
    trials: TrialsPart
    """How each trial runs and how sure the answer must be."""
    claims: list[ClaimPart] | None = None
    """Sentences that the data must support."""
    accepted_differences: dict[str, str] | None = None
    """Facts that may differ between the compared systems undeclared, each with the reason."""
    report: ReportPart | None = None
    """How the report is cut."""
    variants: dict[Name, VariantPart] | None = None
    """Named sets of changes, such as a small one for a quick run."""
