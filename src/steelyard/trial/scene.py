"""One attempt while it lasts: where it runs, what is known so far, and the record at its end."""

from __future__ import annotations

import hashlib
import json
import time
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import polars as pl

from steelyard.engine.messages import Clock, LoadResult, ProcessState
from steelyard.hosts.host import Host, LoadAnswer
from steelyard.plan.model import PlannedTrial
from steelyard.records.archive import attempt_key
from steelyard.records.schema import (
    AttemptFailure,
    Calibration,
    Doubt,
    GateRecord,
    Measured,
    Outcome,
    TrialRecord,
)
from steelyard.study import catalogue
from steelyard.study.bind import BoundCell, bind
from steelyard.systems import services
from steelyard.systems.platform import Platform
from steelyard.systems.services import RunningService
from steelyard.trial.gates import service_doubts
from steelyard.trial.stage import Stage
from steelyard.trial.timeline import Timeline
from steelyard.trial.window import samples_frame
from steelyard.workloads.operations.model import Server


@dataclass(frozen=True)
class Ending:
    """How an attempt ended."""

    outcome: Outcome
    failure: AttemptFailure | None


@dataclass(frozen=True)
class Attempted:
    """One finished attempt: its record, and the raw documents that are stored beside it."""

    record: TrialRecord
    documents: dict[str, bytes]
    samples: pl.DataFrame | None


@dataclass
class Scene:
    """Filled by the phases of ``conduct``, in their order."""

    stage: Stage
    trial: PlannedTrial
    attempt: int
    timeline: Timeline = field(default_factory=Timeline)
    service: RunningService | None = None
    counters: dict[str, Any] = field(default_factory=dict)
    clock: Clock | None = None
    facts: dict[str, dict[str, str | None]] = field(default_factory=dict)
    load: LoadAnswer | None = None
    samples: pl.DataFrame | None = None
    missing: dict[str, str] = field(default_factory=dict)
    responses: dict[str, Measured] = field(default_factory=dict)
    gates: tuple[GateRecord, ...] = ()
    doubts: list[Doubt] = field(default_factory=list)
    limited: str | None = None
    calibration: Calibration | None = None

    @property
    def folder(self) -> str:
        """The trial's own folder on the machine."""
        return f"{self.stage.scratch}/{attempt_key(self.trial.trial, self.attempt)}"

    @property
    def cell(self) -> BoundCell:
        """Every setting of the system and the workload at the levels of this cell."""
        return bind(self.stage.study, self.trial.cell)

    @property
    def platform(self) -> Platform:
        return self.stage.platform(self.trial.cell.system)

    @cached_property
    def host(self) -> Host:
        """The machine as it was when the attempt began: an agent that ends takes the service with
        it, so an attempt never goes on with another.
        """
        platform = self.platform
        platform.up()
        return platform.host()

    @property
    def seed(self) -> int:
        """Seeds the generator's own choices; another in every trial, so that no hidden choice is
        the same for all, and known from the plan.
        """
        text = f"{self.stage.plan.seed}:load:{self.trial.trial}"
        digest = hashlib.sha256(text.encode()).digest()
        return int.from_bytes(digest[:8], "big")

    def running_service(self) -> RunningService:
        """The service; only asked for after it was started."""
        if self.service is None:
            raise RuntimeError("the service was not started")
        return self.service

    def server(self) -> Server:
        """Where the load goes."""
        service = self.running_service()
        return Server(service.address, service.listeners, service.authority)

    def measured_load(self) -> LoadResult:
        """The load's result; only asked for after the load."""
        if self.load is None:
            raise RuntimeError("the load was not run")
        return self.load.result

    def samples_frame(self) -> pl.DataFrame:
        """The samples; only asked for after the load."""
        if self.samples is None:
            raise RuntimeError("the machine was not sampled")
        return self.samples

    def keep_samples(self) -> None:
        """Ends sampling and keeps what was seen, also of a load that failed."""
        samples = self.host.stop_sampling()
        self.samples = samples_frame(samples)
        self.missing = samples.missing
        if samples.rows_lost:
            message = f"{samples.rows_lost} samples were lost: the sampler's buffer was full"
            self.doubts.append(Doubt(state="suspect", kind="samples_lost", message=message))

    def keep_counters(self, ended: ProcessState) -> None:
        """Keeps what the service counted itself, and holds it against the generator's figures."""
        self.counters = services.counters(ended)
        if self.load is not None and catalogue.workload(self.cell.workload.use).counted:
            self.doubts += service_doubts(self.load.result, self.counters)

    def system_facts(self) -> dict[str, str | None]:
        """What the study declares of this system, as facts beside those of its machine."""
        system = self.cell.system
        facts: dict[str, str | None] = {"system.platform": system.platform}
        facts |= _declared("system", system.settings)
        if system.service is not None:
            facts["service.use"] = system.service.use
            facts |= _declared("service", system.service.settings)
        if self.service is not None:
            facts["service.version"] = self.service.version
        return facts

    def cores(self) -> int | None:
        """Processors of the system's machine."""
        told = self.facts.get("system", {}).get("cpu.count")
        return int(told) if told is not None and told.isdigit() else None

    def attempted(self, ending: Ending) -> Attempted:
        """The attempt as it is stored."""
        documents: dict[str, bytes] = {}
        if self.load is not None:
            documents["load.json"] = json.dumps(self.load.document, indent=1).encode() + b"\n"
            self._split_measure(self.load.result)
        if self.counters:
            documents["service.json"] = json.dumps(self.counters, indent=1).encode() + b"\n"
        return Attempted(self._record(ending, tuple(documents)), documents, self.samples)

    def _split_measure(self, load: LoadResult) -> None:
        warm_up_ns = round(self.stage.study.trials.warm_up_s * 1e9)
        self.timeline.split_measure(warm_up_ns, load.load.window_ns)

    def _record(self, ending: Ending, files: tuple[str, ...]) -> TrialRecord:
        return TrialRecord(
            trial=self.trial.trial,
            attempt=self.attempt,
            visit=self.trial.visit,
            cell=self.trial.cell,
            outcome=ending.outcome,
            failure=ending.failure,
            started_unix_ns=self.timeline.started_unix_ns,
            finished_unix_ns=time.time_ns(),
            phases_ns=self.timeline.durations_ns,
            responses=self.responses,
            gates=self.gates,
            doubts=tuple(self.doubts),
            limited_by=self.limited,
            calibration=self.calibration,
            facts=self.facts,
            files=files if self.samples is None else (*files, "samples.parquet"),
        )


def _declared(prefix: str, settings: dict[str, Any]) -> dict[str, str | None]:
    return {
        f"{prefix}.{name}": None if value is None else str(value)
        for name, value in sorted(settings.items())
    }
