"""Every fault: how it begins and ends beside a running study, and what must name it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from abc import ABC, abstractmethod
from contextlib import suppress
from pathlib import Path

from bench.injected import machine
from bench.injected.steal import StolenTime

_MIB = 2**20
_LIMIT, _WANTED, _SWAP = 48 * _MIB, 128 * _MIB, 512 * _MIB
_FILLED = 40 * _MIB
"""Left by the file that fills the disk: less than a trial asks for."""
SMALL_DISK_MIB = 128


class Fault(ABC):
    """``kinds``: of warnings and outcomes, of which one must name it. ``workload``: of its study.

    ``prepare`` is called once the controller runs, ``begin`` and ``end`` around every trial of the
    system that has the fault, ``close`` at last and whatever happened.
    """

    words: str
    kinds: frozenset[str]
    workload = "http"
    how = ""
    """What is not the real thing, if so."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.controller = 0

    def setup(self) -> list[str]:
        """Words of a shell in the namespaces of the study, before its controller starts."""
        return []

    def prepare(self, controller: int) -> None:
        self.controller = controller

    @abstractmethod
    def begin(self) -> None: ...

    @abstractmethod
    def end(self) -> None: ...

    def close(self) -> None:
        self.end()

    def _inside(self, *argv: str) -> None:
        """In the network of the study, unless it has just gone."""
        command = ["nsenter", f"--net=/proc/{self.controller}/ns/net", *argv]
        subprocess.run(command, check=False, capture_output=True)


class Nothing(Fault):
    """No fault at all, over the network."""

    words = "none (http)"
    kinds = frozenset[str]()

    def begin(self) -> None:
        """Nothing begins."""

    def end(self) -> None:
        """Nothing ends."""


class NothingOnDisk(Nothing):
    """No fault at all, on a disk."""

    words = "none (durable mail)"
    workload = "smtp"


class _Programs(Fault):
    """Other programs that run while the fault is on."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._running: list[subprocess.Popen[bytes]] = []

    def _commands(self) -> list[list[str]]:
        raise NotImplementedError

    def begin(self) -> None:
        self._running = [machine.start(argv, cwd=self.folder) for argv in self._commands()]

    def end(self) -> None:
        for process in self._running:
            machine.end(process)
        self._running = []


class ProcessorHog(_Programs):
    """Twice as many endless loops as there are processors."""

    words = "processor hog"
    kinds = frozenset({"foreign_cpu"})

    def _commands(self) -> list[list[str]]:
        return [["sh", "-c", "while :; do :; done"]] * (2 * (os.cpu_count() or 1))


class BackgroundWriter(_Programs):
    """Two that write blocks of 1 MiB and sync each, on the filesystem of the service."""

    words = "background writer"
    kinds = frozenset({"foreign_disk"})
    workload = "smtp"

    def _commands(self) -> list[list[str]]:
        write = "while :; do dd if=/dev/zero of=written-{} bs=1M count=64 oflag=dsync; done"
        return [["sh", "-c", write.format(number)] for number in (1, 2)]

    def close(self) -> None:
        super().close()
        for written in self.folder.glob("written-*"):
            written.unlink()


class _Stopped(Fault):
    """One program with too little memory, stopped while the fault is off."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._group = machine.LimitedGroup(_LIMIT)
        self._hog = self._start()

    def _start(self) -> subprocess.Popen[bytes]:
        raise NotImplementedError

    def _started(self, kind: str, path: str) -> subprocess.Popen[bytes]:
        hog = str(Path(__file__).with_name("hogs.py"))
        argv = [sys.executable, hog, kind, path, str(_WANTED)]
        return machine.start(argv, preexec_fn=self._group.enter)

    def begin(self) -> None:
        os.killpg(self._hog.pid, signal.SIGCONT)

    def end(self) -> None:
        with suppress(ProcessLookupError):
            for pid in machine.descendants(self._hog.pid):
                os.kill(pid, signal.SIGSTOP)

    def close(self) -> None:
        machine.end(self._hog)
        self._group.close()


class Swapping(_Stopped):
    """Another program swaps: 128 MiB where it has 48."""

    words = "swap"
    kinds = frozenset({"foreign_paging", "swapped"})

    def _start(self) -> subprocess.Popen[bytes]:
        self._swap = machine.SwapFile(_SWAP)
        return self._started("memory", "-")

    def close(self) -> None:
        super().close()
        self._swap.close()


class MemoryPressure(_Stopped):
    """Another program reads a file of 128 MiB where it has 48 for it, without swap."""

    words = "memory pressure"
    kinds = frozenset({"foreign_paging"})

    def _start(self) -> subprocess.Popen[bytes]:
        self._file = self.folder / "pages"
        machine.write_pages(self._file, _WANTED)
        return self._started("file", str(self._file))

    def close(self) -> None:
        super().close()
        self._file.unlink(missing_ok=True)


class LostPackets(Fault):
    """One packet in a hundred is dropped on its way."""

    words = "retransmissions"
    kinds = frozenset({"retransmits"})
    _rule = ("INPUT", "-m", "statistic", "--mode", "random", "--probability", "0.01", "-j", "DROP")

    def begin(self) -> None:
        self._inside("iptables", "-A", *self._rule)

    def end(self) -> None:
        self._inside("iptables", "-D", *self._rule)


_ABOVE = "-p tcp -m hashlimit --hashlimit-above 4mb/s --hashlimit-burst 8mb --hashlimit-name it"


class LimitedSender(LostPackets):
    """The sender's own machine drops what exceeds 4 MB/s, and its TCP is told."""

    words = "throttled link (policer)"
    kinds = frozenset({"link_throttled"})
    _rule = ("OUTPUT", *_ABOVE.split(), "-j", "DROP")


class PolicedLink(LostPackets):
    """What exceeds 4 MB/s is dropped on its way."""

    words = "throttled link (policer beyond the sender)"
    _rule = ("INPUT", *_ABOVE.split(), "-j", "DROP")


class ShapedLink(Fault):
    """40 Mbit/s with a queue in front that drops nothing, as a shaper does."""

    words = "throttled link (shaper)"
    kinds = frozenset({"link_throttled"})

    def begin(self) -> None:
        shape = ["tbf", "rate", "40mbit", "burst", "64kb", "latency", "2s"]
        self._inside("tc", "qdisc", "replace", "dev", "lo", "root", *shape)

    def end(self) -> None:
        self._inside("tc", "qdisc", "del", "dev", "lo", "root")


class Steal(Fault):
    """Three tenths of the time."""

    words = "steal"
    kinds = frozenset({"steal"})
    how = "the counter is a stand-in, as no hypervisor steals on request; the time is taken"

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._stolen = StolenTime(folder / "stat")

    def setup(self) -> list[str]:
        return [f"mount --bind {self._stolen.path} /proc/stat"]

    def prepare(self, controller: int) -> None:
        super().prepare(controller)
        self._stolen.root = controller

    def begin(self) -> None:
        self._stolen.on = True

    def end(self) -> None:
        self._stolen.on = False

    def close(self) -> None:
        self.end()
        self._stolen.close()


class ClockStep(Fault):
    """50 ms from one look at the clock to the next."""

    words = "clock step"
    kinds = frozenset({"clock_step"})
    how = (
        "what the controller reads is a stand-in: a time namespace has no wall clock of its own, "
        "and that of the machine is everybody's"
    )

    @property
    def flag(self) -> Path:
        return self.folder / "clock-steps"

    def begin(self) -> None:
        self.flag.touch()

    def end(self) -> None:
        self.flag.unlink(missing_ok=True)


class FullDisk(Fault):
    """Another program fills the filesystem of the results."""

    words = "full disk"
    kinds = frozenset({"disk_full"})

    def setup(self) -> list[str]:
        return [f"mount -t tmpfs -o size={SMALL_DISK_MIB}m none results"]

    @property
    def _filler(self) -> Path:
        return Path(f"/proc/{self.controller}/root{self.folder}/results/filler")

    def begin(self) -> None:
        size = SMALL_DISK_MIB * _MIB - _FILLED
        with suppress(OSError), self._filler.open("wb") as file:
            os.posix_fallocate(file.fileno(), 0, size)

    def end(self) -> None:
        with suppress(OSError):
            self._filler.unlink(missing_ok=True)


FAULTS: tuple[type[Fault], ...] = (
    ProcessorHog,
    Steal,
    LostPackets,
    LimitedSender,
    PolicedLink,
    ShapedLink,
    Swapping,
    MemoryPressure,
    BackgroundWriter,
    ClockStep,
    FullDisk,
)
NO_FAULT: tuple[type[Fault], ...] = (Nothing, NothingOnDisk)
