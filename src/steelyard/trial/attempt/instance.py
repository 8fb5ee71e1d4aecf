"""One instance of a system during one attempt: what runs there and what was seen of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from steelyard.hosts.clocks import ClockOffset
from steelyard.hosts.host import Host, LoadAnswer
from steelyard.hosts.undo.log import INSIDE, PendingUndo
from steelyard.records.missing import Missing
from steelyard.records.schema import (
    ClockRecord,
    CostRecord,
    Distribution,
    GeneratorRecord,
    InstanceRecord,
    Measured,
    PlacementRecord,
    ResetRecord,
)
from steelyard.study.lookup import has_agent
from steelyard.study.model import WorkloadSpec
from steelyard.study.workload.output_checks import STREAMS
from steelyard.systems.disks import Prepared
from steelyard.systems.platform import AttachedDisk, Platform, ResetProof
from steelyard.systems.services import RunningService
from steelyard.systems.settings import Applied
from steelyard.trial.observe.responses import INSTANCE, SERVICE
from steelyard.workloads.operations.model import Server
from steelyard.workloads.tools.ready import ReadyTool
from steelyard.workloads.tools.timed import Timed

_OF_THE_PLACE = ("attached", "prepared", "caches", "applied", "held", "undos", "service")


@dataclass
class Instance:
    """Filled by the phases of ``conduct``. ``folder`` is the attempt's own, inside.

    ``data`` is where the service keeps its data: the first disk of the study, or ``folder``.
    ``undos`` undo what was made for its load or its tool. ``window_ns`` is what was
    measured, by the controller's monotonic clock. ``search`` is how the largest load was looked
    for, ``found`` what came of it. ``outputs`` is what its tool wrote, by source, ``unread`` why
    some of that cannot be used.
    """

    number: int
    platform: Platform
    host: Host
    folder: str
    workload: WorkloadSpec
    proof: ResetProof
    turn: int = 0
    """Which of several workloads on it this is; 0 is the first."""
    attached: list[AttachedDisk] = field(default_factory=list)
    prepared: dict[str, Prepared] = field(default_factory=dict)
    caches: tuple[str, ...] = ()
    applied: list[Applied] = field(default_factory=list)
    held: dict[str, str | None] = field(default_factory=dict)
    """What the kernel showed of its settings when they were applied."""
    undos: list[tuple[Host, PendingUndo]] = field(default_factory=list)
    service: RunningService | None = None
    counters: dict[str, object] = field(default_factory=dict)
    clocks: list[ClockOffset] = field(default_factory=list)
    load: LoadAnswer | None = None
    generator_loads: tuple[LoadAnswer, ...] = ()
    """What each of several generators said of its share of the load, in their order."""
    generators: tuple[GeneratorRecord, ...] = ()
    background_load: LoadAnswer | None = None
    """What a background load did until it was ended; no response comes of it."""
    tool: ReadyTool | None = None
    distributions: Mapping[str, Distribution] = field(default_factory=dict)
    probe: LoadAnswer | None = None
    probe_missing: Missing | None = None
    ran: list[Timed] = field(default_factory=list)
    outputs: dict[str, str] = field(default_factory=dict)
    unread: dict[str, str | None] = field(default_factory=dict)
    window_ns: tuple[int, int] | None = None
    work_ns: tuple[int, int] | None = None
    """When its tool worked, without the way there and back; ``None`` of a load."""
    began_ns: int | None = None
    """When the first operation was really sent, by the controller's clock."""
    search: dict[str, object] = field(default_factory=dict)
    found: Mapping[str, Measured] = field(default_factory=dict)
    costs: CostRecord | None = None
    placements: tuple[PlacementRecord, ...] = ()
    responses: Mapping[str, Measured] = field(default_factory=dict)

    def shadow(self, workload: WorkloadSpec, turn: int) -> Instance:
        """The same place for a further workload on it, whose results are not those of the first."""
        fresh = Instance(self.number, self.platform, self.host, self.folder, workload, self.proof)
        shared = {name: getattr(self, name) for name in _OF_THE_PLACE}
        return replace(fresh, turn=turn, **shared)

    def again(self, workload: WorkloadSpec) -> Instance:
        """The same place as it stands, for the next trial on it without a reset."""
        kept = {name: getattr(self, name) for name in _OF_THE_PLACE if name != "undos"}
        proof = ResetProof("none", 0, {})
        return replace(
            Instance(self.number, self.platform, self.host, self.folder, workload, proof), **kept
        )

    @property
    def name(self) -> str:
        """How its machine is called in the record: ``system``, ``system.2``."""
        return "system" if self.number == 1 else f"system.{self.number}"

    @property
    def service_processes(self) -> dict[str, int]:
        """The processes of its service by the names that they have in every record."""
        own = self.service
        if own is None:
            return {}
        return {name.replace(own.name, SERVICE, 1): pid for name, pid in own.processes.items()}

    @property
    def column(self) -> str:
        """How what stands for it on its host is called among the samples taken there."""
        return INSTANCE if self.number == 1 else f"{INSTANCE}{self.number}"

    @property
    def data(self) -> str:
        disk = next(iter(self.prepared.values()), None)
        return self.folder if disk is None else disk.plan.mount_point

    def data_folder(self) -> str | None:
        """The folder of the service's data on another disk; ``None`` for one below its own."""
        return None if self.data == self.folder else f"{self.data}/data"

    def checksums_of(self, disk: str) -> str:
        """The file with the checksums of what lies on a disk, which is not on that disk."""
        return f"{self.folder}/{disk}.sha256"

    def enter(self) -> tuple[str, ...]:
        """Words before those of a command that put it where the settings want it."""
        return tuple(word for one in self.applied for word in one.enter)

    @property
    def throwaway(self) -> bool:
        """Whether it is a place of its own, with files of its own, that goes away as a whole."""
        return self.host.name.startswith(INSIDE)

    @property
    def has_agent(self) -> bool:
        """Whether anything is known of the machine that it is."""
        return has_agent(self.platform.context.spec)

    @property
    def carried(self) -> bool:
        """Whether another machine carries it."""
        return self.host is not self.platform.context.host_machine()

    def running_service(self) -> RunningService:
        """The service; only asked for after it was started."""
        if self.service is None:
            raise RuntimeError("the service was not started")
        return self.service

    def server(self) -> Server:
        """Where the load goes."""
        service = self.running_service()
        return Server(service.address, service.listeners, service.authority)

    def output_files(self) -> dict[str, bytes]:
        """What its tool wrote, by the name of the file that it is kept in beside the record."""
        suffix = "" if self.number == 1 else f"-{self.number}"
        stems = {name: name if name in STREAMS else f"output-{name}" for name in self.outputs}
        return {
            f"{stems[name]}{suffix}.txt": text.encode()
            for name, text in self.outputs.items()
            if text
        }

    def record(self, background: Sequence[str] = ()) -> InstanceRecord:
        """What is stored of it; ``background`` is what ran together with its workload."""
        proof = self.proof
        return InstanceRecord(
            instance=self.number,
            workload=self.workload.use,
            background=tuple(background),
            reset=ResetRecord(
                strength=proof.strength, took_ns=proof.took_ns, evidence=proof.evidence
            ),
            clocks=tuple(
                ClockRecord(offset_ns=c.offset_ns, uncertainty_ns=c.uncertainty_ns)
                for c in self.clocks
            ),
            started_ns=None if self.window_ns is None else self.window_ns[0],
            began_ns=self.began_ns,
            caches=self.caches,
            costs=self.costs,
            placements=self.placements,
            generators=self.generators,
            distributions=dict(self.distributions),
            responses=dict(self.responses),
        )
