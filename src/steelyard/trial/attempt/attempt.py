"""One attempt while it lasts: where it runs, what is known so far, and the record at its end."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from steelyard.engine.messages import Clock, LoadResult, ProcessState
from steelyard.errors import HostError
from steelyard.hosts.host import Host
from steelyard.hosts.secrets import without_password
from steelyard.plan.model import PlannedTrial
from steelyard.records.attempt_folder import attempt_key, samples_file
from steelyard.records.counters import Counters
from steelyard.records.disk_checks import DiskCheck
from steelyard.records.schema import (
    AttemptFailure,
    Calibration,
    EventRecord,
    GateRecord,
    Measured,
    Outcome,
    TrialRecord,
)
from steelyard.records.steady_clock import now_unix_ns
from steelyard.records.warnings import Bottleneck, TrialWarning, WarningKind
from steelyard.study.bind import BoundCell, bind
from steelyard.study.lookup import workload_of
from steelyard.study.scenarios import peer_of
from steelyard.systems import services
from steelyard.systems.meters import MeterSeries
from steelyard.systems.settings import Applied, setting_facts
from steelyard.trial.attempt.failed_operations import failures_of
from steelyard.trial.attempt.gates import service_warnings
from steelyard.trial.attempt.instance import Instance
from steelyard.trial.attempt.timeline import Timeline
from steelyard.trial.observe.disturbances import Incidents
from steelyard.trial.observe.window import Sampled
from steelyard.trial.session_state.context import SessionContext

IDLE = "idle"
METER = "meter"
"""How the readings of a meter are called among the samples of an attempt."""
_ASIDE = 100
"""Numbers of generators of what runs aside lie beyond those of instances."""


@dataclass(frozen=True)
class Ending:
    """How an attempt ended; ``stop`` is what somebody has to do before another makes sense."""

    outcome: Outcome
    failure: AttemptFailure | None
    stop: HostError | None = None


@dataclass(frozen=True)
class AttemptResult:
    """One finished attempt: its record, and what is stored beside it by file name."""

    record: TrialRecord
    documents: dict[str, bytes]
    samples: dict[str, Counters]
    stop: HostError | None = None


@dataclass(frozen=True)
class Outside:
    """What was changed on the machine that carries the system."""

    host: Host
    applied: list[Applied]
    held: dict[str, str | None]


@dataclass
class Attempt:
    """Filled by the phases of ``conduct``, in their order."""

    session: SessionContext
    trial: PlannedTrial
    number: int
    timeline: Timeline = field(default_factory=Timeline)
    instances: list[Instance] = field(default_factory=list)
    co_located: list[Instance] = field(default_factory=list)
    """Places once more, for what runs together with the first workload of an instance."""
    outside: Outside | None = None
    facts: dict[str, dict[str, str | None]] = field(default_factory=dict)
    reference_kernel: dict[str, Measured] = field(default_factory=dict)
    incidents: dict[str, Incidents] = field(default_factory=dict)
    walls: dict[str, Clock] = field(default_factory=dict)
    """The wall clocks of all machines before the load, by the names that warnings have for them."""
    sampled: dict[str, Sampled] = field(default_factory=dict)
    meter: MeterSeries | None = None
    """What the meter of its system told, where it has one."""
    apart: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Columns of what is ours on a machine besides our process tree, by the machine's name."""
    events: list[EventRecord] = field(default_factory=list)
    responses: dict[str, Measured] = field(default_factory=dict)
    gates: tuple[GateRecord, ...] = ()
    warnings: list[TrialWarning] = field(default_factory=list)
    bottleneck: Bottleneck | None = None
    cpu_ratios: list[float | None] = field(default_factory=list)
    calibration: Calibration | None = None
    disk_checks: list[DiskCheck] = field(default_factory=list)
    unchecked: bool = False
    """Whether the user asked to stop before its disks were checked."""

    @property
    def key(self) -> str:
        """Names the attempt within its run: ``0007-1``."""
        return attempt_key(self.trial.trial, self.number)

    @cached_property
    def cell(self) -> BoundCell:
        """Every setting of the system and the workload at the levels of this cell."""
        return bind(self.session.study, self.trial.cell)

    @property
    def stays_up(self) -> bool:
        """Whether its system stays up for the next trial on it."""
        return self.session.study.trials.systems_stay_up

    @property
    def measured(self) -> list[Instance]:
        """The instances that run the measured workload, and none of the background."""
        return [each for each in self.instances if each.number not in self.cell.background]

    @property
    def working(self) -> list[Instance]:
        """The instances that run anything at all."""
        return [each for each in self.instances if each.workload.use != IDLE]

    def loads(self) -> list[LoadResult]:
        """What every generator says of its load."""
        return [each.load.result for each in self.instances if each.load is not None]

    def host_machine(self) -> Host:
        """The machine that carries the system; itself where nothing lies between."""
        return self.session.machines.at(self.cell.system.host_machine)

    def generator(self, instance: Instance) -> Host:
        """Where the load on an instance comes from: a machine, or another instance."""
        session = self.session
        other = peer_of(instance.workload.settings) or session.study.generator.instance
        if other is not None:
            return self.instances[other - 1].host
        return session.machines.generator(
            instance.number + _ASIDE * instance.turn,
            session.study.generator.host,
            session.pool.network,
        )

    def generators(self, instance: Instance) -> list[Host]:
        """Where the load on an instance comes from; several machines may drive it together."""
        session = self.session
        first = self.generator(instance)
        return [
            first,
            *(
                session.machines.generator(instance.number, address, session.pool.network, place)
                for place, address in enumerate(session.study.generator.further, start=2)
            ),
        ]

    def span_ns(self) -> tuple[int, int]:
        """From the first start of a measured window to the last end, by the controller's clock."""
        windows = [each.window_ns for each in self.measured if each.window_ns is not None]
        return min(start for start, _ in windows), max(end for _, end in windows)

    def machines(self) -> list[Host]:
        """Every machine that takes part, each once; a container is on the one that carries it."""
        session = self.session
        hosts = [self.host_machine(), *(each.host for each in self.instances)]
        if session.study.generator.instance is None:
            hosts += map(session.machines.at, session.study.generator.hosts)
        return list({host.boot_id or host.name: host for host in reversed(hosts)}.values())

    def seed(self, instance: Instance) -> int:
        """Seeds the generator's own choices; another in every trial and instance, so that no
        hidden choice is the same for all, and known from the plan.
        """
        which = "" if instance.number == 1 else f":{instance.number}"
        text = f"{self.session.plan.seed}:load:{self.trial.trial}{which}"
        digest = hashlib.sha256(text.encode()).digest()
        return int.from_bytes(digest[:8], "big")

    def warn(self, kind: WarningKind, **figures: float | str) -> None:
        """Adds a reason to distrust the trial."""
        self.warnings.append(TrialWarning(kind=kind, figures=figures))

    def keep_counters(self, instance: Instance, ended: ProcessState) -> None:
        """Keeps what the service counted itself, and holds it against the generator's figures."""
        instance.counters = services.counters(ended)
        counted = workload_of(instance.workload).counted
        if instance.load is not None and counted:
            self.warnings += service_warnings(instance.load.result, instance.counters)

    def system_facts(self, instance: Instance) -> dict[str, str | None]:
        """What the study declares of this system, as facts beside those of its machine."""
        system = self.cell.system
        facts: dict[str, str | None] = {"system.platform": system.platform}
        facts["system.reset"] = system.reset or self.session.study.trials.reset
        facts |= _declared("system", system.settings)
        facts |= _declared("settings", system.inside)
        facts |= _declared("host_settings", system.outside)
        facts |= {f"platform.{key}": value for key, value in instance.platform.facts().items()}
        if system.meter is not None:
            facts["meter.use"] = system.meter.use
            facts |= _declared("meter", without_password(system.meter.settings))
        service = self.cell.service_of(instance.number)
        if service is not None:
            facts["service.use"] = service.use
            facts |= _declared("service", service.settings)
        facts |= setting_facts(instance.host, instance.applied)
        for prepared in instance.prepared.values():
            facts |= prepared.facts
        if instance.tool is not None:
            facts["tool.version"] = instance.tool.version
            if instance.tool.digests is not None:
                facts["tool.sha256"] = instance.tool.digests
        if instance.service is not None:
            facts["service.version"] = instance.service.version
            facts |= instance.service.facts
        return facts

    def cores(self, instance: Instance) -> int | None:
        """Processors of the machine that an instance is."""
        told = self.facts.get(instance.name, {}).get("cpu.count")
        return int(told) if told is not None and told.isdigit() else None

    def result(self, ending: Ending) -> AttemptResult:
        """The attempt as it is stored."""
        documents: dict[str, bytes] = {}
        for instance in self.instances:
            suffix = "" if instance.number == 1 else f"-{instance.number}"
            if instance.load is not None:
                documents[f"load{suffix}.json"] = _document(instance.load.document)
            for number, answer in enumerate(instance.generator_loads, start=1):
                documents[f"generator-{number}{suffix}.json"] = _document(answer.document)
            if instance.probe is not None:
                documents[f"probe{suffix}.json"] = _document(instance.probe.document)
            if instance.search:
                documents[f"search{suffix}.json"] = _document(instance.search)
            if instance.counters:
                documents[f"service{suffix}.json"] = _document(instance.counters)
            documents |= instance.output_files()
        documents |= self._background_documents()
        if self.loads() and "measure" in self.timeline.durations_ns:
            self._split_measure(self.loads()[0])
        samples = {samples_file(name): seen.counters for name, seen in self.sampled.items()}
        if self.meter is not None:
            samples[samples_file(METER)] = self.meter.counters()
        record = self._record(ending, tuple(documents), tuple(samples))
        return AttemptResult(record, documents, samples, ending.stop)

    def _background_documents(self) -> dict[str, bytes]:
        """What background loads did, by the number of their instance."""
        found: dict[str, bytes] = {}
        for each in (*self.instances, *self.co_located):
            if each.background_load is not None:
                turn = f"-{each.turn}" if each.turn else ""
                name = f"background-{each.number}{turn}.json"
                found[name] = _document(each.background_load.document)
        return found

    def _co_located(self, instance: Instance) -> list[str]:
        """What runs together with the workload of an instance, the traffic that it drives too."""
        driven = (
            each for each in self.instances if peer_of(each.workload.settings) == instance.number
        )
        return [
            *(each.use for each in self.cell.co_located.get(instance.number, ())),
            *(f"{each.workload.use} to instance {each.number}" for each in driven),
        ]

    def _split_measure(self, load: LoadResult) -> None:
        warmup_ns = round(self.session.study.trials.warmup_s * 1e9)
        self.timeline.split_measure(warmup_ns, load.load.window_ns)

    def _record(
        self, ending: Ending, documents: tuple[str, ...], samples: tuple[str, ...]
    ) -> TrialRecord:
        starts = [each.began_ns for each in self.instances if each.began_ns is not None]
        return TrialRecord(
            trial=self.trial.trial,
            attempt=self.number,
            visit=self.trial.visit,
            cell=self.trial.cell,
            outcome=ending.outcome,
            failure=ending.failure,
            started_unix_ns=self.timeline.started_unix_ns,
            finished_unix_ns=now_unix_ns(),
            phases_ns=self.timeline.durations_ns,
            responses={**self.responses, **self.reference_kernel},
            gates=self.gates,
            failed_operations=failures_of(
                [each.load.result for each in self.measured if each.load is not None]
            ),
            warnings=tuple(self.warnings),
            bottleneck=self.bottleneck,
            cpu_ratio=_largest(self.cpu_ratios),
            calibration=self.calibration,
            instances=tuple(each.record(self._co_located(each)) for each in self.instances),
            start_spread_ns=max(starts) - min(starts) if len(starts) > 1 else None,
            events=tuple(self.events),
            disk_checks=tuple(self.disk_checks),
            facts=self.facts,
            files=(*documents, *samples),
        )


def _largest(shares: list[float | None]) -> float | None:
    """``None`` where one is not known."""
    known = [share for share in shares if share is not None]
    return max(known) if known and len(known) == len(shares) else None


def _document(content: dict[str, Any]) -> bytes:
    return json.dumps(content, indent=1).encode() + b"\n"


def _declared(prefix: str, settings: dict[str, Any]) -> dict[str, str | None]:
    return {
        f"{prefix}.{name}": None if value is None else str(value)
        for name, value in sorted(settings.items())
    }
