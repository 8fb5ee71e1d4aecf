"""One case: a session that meets a fault, ``restore``, ``resume``, and what became of the run."""

from __future__ import annotations

import os
import random
import shutil
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from bench.torture.controller import (
    LONGEST_S,
    MARK,
    STUDIES,
    Controller,
    Controllers,
    note,
    said,
)
from bench.torture.disk import Disk
from bench.torture.faults import POWER_CUT
from bench.torture.network import OwnNetwork
from bench.torture.platforms import Platform, what_stands

from steelyard.records.archive import Run
from steelyard.records.events import AttemptFinished
from steelyard.records.ledger import read_ledger
from steelyard.records.schema import Outcome
from steelyard.records.sessions import last_reason

PROCESS_END_S = 60.0
EXPECTED = {0, 1, 3, 130, -signal.SIGKILL}
"""A trial that found no room may fail (1), the session may end with the operator (3)."""
ANY_PROCESS = "kill -9 of any process"


@dataclass
class Result:
    """What came of a case; it held when ``wrong`` is empty.

    ``met``: the fault did happen. ``wrong`` by kind: ``lost`` and ``repeated`` trials, ``stuck``
    runs, things ``left``, ``defect`` for a traceback or an exit code that is not documented.
    """

    platform: str
    fault: str
    at: float
    met: str = ""
    exit_code: int | None = None
    wrong: dict[str, str] = field(default_factory=dict)

    def document(self) -> dict[str, Any]:
        return asdict(self)


class Counts(NamedTuple):
    """Steps of a session, how many of them to its first trial, and its messages to agents."""

    steps: int
    first: int
    messages: int


class Case:
    """In a folder of its own."""

    def __init__(self, controllers: Controllers, folder: Path, platform: Platform) -> None:
        folder.mkdir(parents=True)
        self.folder = folder
        self.platform = platform
        self.network = OwnNetwork()
        self._controllers = controllers
        (folder / "study.yaml").write_text(platform.study, encoding="utf-8")
        self.disk = Disk(folder / STUDIES) if platform.loses_power else None

    def count(self) -> Counts:
        """Of a session in which nothing happens.

        Raises:
            RuntimeError: it does not even end well without a fault.
        """
        code = self._ended(self._start(self._words(), "no fault", 0))
        if code != 0:
            raise RuntimeError(said(self.folder).read_text())
        return Counts(*map(int, note(self.folder).read_text().split()))

    def stop_before(self, left: int) -> None:
        """A run that was stopped when so many of its trials were left."""
        process = self._start(_RUN)
        while process.exitcode is None:
            time.sleep(0.02)
            if len(list(self.folder.glob(f"{STUDIES}/torture/*/trials/0*"))) == (
                self.platform.trials - left
            ):
                os.kill(process.pid, signal.SIGTERM)
                process.join()
        self._ended(process)

    def go_on_from(self, other: Case) -> Case:
        """With a copy of the other's run."""
        place = self.folder / STUDIES
        shutil.copytree(other.folder / STUDIES, place, symlinks=True, dirs_exist_ok=True)
        if self.disk is not None:
            self.disk.sync()
        return self

    def close(self) -> None:
        """Its network and its disk go away; its folder stays."""
        self.network.close()
        if self.disk is not None:
            self.disk.close()

    def _start(self, words: list[str], fault: str = "", at: int = 0) -> Controller:
        return self._controllers.start(self.folder, words, self.network.path, fault, at)

    def _words(self) -> list[str]:
        run = self._run()
        return _RUN if run is None else ["resume", str(run.path), *_RUN[2:]]

    def at_step(self, fault: str, number: int) -> Result:
        """``fault`` at one step; before ``resume``, every other time, ``restore``."""
        result = Result(self.platform.name, fault, number)
        process = self._start(self._words(), fault, number)
        result.exit_code = self._ended(process)
        if note(self.folder).exists():
            result.met = note(self.folder).read_text().replace(str(self.folder), "")
        self._recover(result, restored=number % 2 == 0)
        return result

    def without_power(self, number: int) -> Result:
        """From the step ``number`` on: what was synced before it has to be there afterwards."""
        assert self.disk is not None
        result = Result(self.platform.name, POWER_CUT, number)
        process = self._start(self._words(), POWER_CUT, number)
        _until(lambda: process.exitcode is not None or self._is_at_its_step(process), LONGEST_S)
        ledger, synced = b"", dict[str, bytes]()
        if note(self.folder).exists():
            result.met = note(self.folder).read_text().replace(str(self.folder), "")
            for pid in self._processes():
                os.kill(pid, signal.SIGSTOP)
            ledger, synced = self._synced(result.met)
            self.disk.copy()
            for pid in [*self._processes(), process.pid]:
                os.kill(pid, signal.SIGKILL)
        result.exit_code = self._ended(process)
        if result.met:
            self.disk.come_back()
        if not self._ledger().startswith(ledger):
            result.wrong["lost"] = "a line of the ledger"
        self._recover(result, restored=number % 2 == 0, before=synced)
        return result

    def _is_at_its_step(self, process: Controller) -> bool:
        return note(self.folder).exists() and _is_stopped(process.pid)

    def _synced(self, step: str) -> tuple[bytes, dict[str, bytes]]:
        """What the ledger says durably, and the good records that it names: the line of which the
        sync is the step is not.
        """
        ledger = self._ledger()
        if "fsync" in step and step.endswith("ledger.jsonl"):
            ledger = ledger[: ledger.rstrip(b"\n").rfind(b"\n") + 1]
        whole = self.folder.with_suffix(".ledger")
        whole.write_bytes(ledger)
        finished = {
            f"{event.trial:04d}-{event.attempt}"
            for event in read_ledger(whole)
            if isinstance(event, AttemptFinished)
        }
        return ledger, {name: data for name, data in self._good().items() if name in finished}

    def _ledger(self) -> bytes:
        found = list(self.folder.glob(f"{STUDIES}/torture/[!.]*/ledger.jsonl"))
        return found[0].read_bytes() if found else b""

    def killed(self, after_s: float, random_: random.Random) -> Result:
        """One of its processes, chosen by chance, is killed after this time."""
        result = Result(self.platform.name, ANY_PROCESS, after_s)
        process = self._start(self._words())
        process.join(after_s)
        victim = random_.choice(sorted([*self._processes(), process.pid]))
        if process.exitcode is None:
            with suppress(OSError):  # it ended by itself meanwhile
                name = "the controller" if victim == process.pid else _name_of(victim)
                os.kill(victim, signal.SIGKILL)
                result.met = name
        result.exit_code = self._ended(process)
        self._recover(result, restored=random_.random() < 0.5)
        return result

    def _recover(
        self, result: Result, *, restored: bool, before: dict[str, bytes] | None = None
    ) -> None:
        """``before``: the good records that have to stay, if not those that there are now."""
        if result.exit_code not in EXPECTED:
            result.wrong["defect"] = f"exit code {result.exit_code}"
        before = self._good() if before is None else before
        run = self._run()
        if restored and run is not None:
            code = self._command("restore", str(run.path))
            if code != 0:
                result.wrong["stuck"] = f"restore ended with {code}"
        code = self._command(*self._words())
        if code != 0:
            result.wrong["stuck"] = f"resume ended with {code}"
        self._compare(result, before)
        if "Traceback" in said(self.folder).read_text():
            result.wrong["defect"] = "a traceback"

    def _compare(self, result: Result, before: dict[str, bytes]) -> None:
        after = self._good()
        if not before.items() <= after.items():
            result.wrong["lost"] = f"{len(before.items() - after.items())} finished trials"
        trials = Counter(name.partition("-")[0] for name in after)
        if any(count > 1 for count in trials.values()):
            result.wrong["repeated"] = f"{trials}"
        if len(trials) != self.platform.trials and not self._decided():
            result.wrong["lost"] = f"{len(trials)} of {self.platform.trials} trials in the end"
        run = self._run()
        stands = what_stands(self.folder, None if run is None else run.path, self.network)
        left = [*stands, *map(str, self._processes())]
        if left:
            result.wrong["left"] = "; ".join(left)

    def _command(self, *words: str) -> int:
        return self._ended(self._start(list(words)))

    def _ended(self, process: Controller) -> int:
        written, still_s = self._written(), time.monotonic() + LONGEST_S
        while process.exitcode is None:
            process.join(1.0)
            if self._written() != written:
                written, still_s = self._written(), time.monotonic() + LONGEST_S
            elif process.exitcode is None and time.monotonic() > still_s:
                process.kill()
                process.join()
                return 124
        _until(lambda: not self._processes(), PROCESS_END_S)
        return process.exitcode

    def _written(self) -> int:
        """Bytes of its ledger, which grows with every step of a session."""
        ledgers = self.folder.glob(f"{STUDIES}/torture/*/ledger.jsonl")
        return sum(path.stat().st_size for path in ledgers)

    def _run(self) -> Run | None:
        found = list(self.folder.glob(f"{STUDIES}/torture/[!.]*/run.json"))
        return Run(found[0].parent) if found else None

    def _decided(self) -> bool:
        """Equal systems are called different in a few of a hundred runs, which end sooner."""
        run = self._run()
        return run is not None and last_reason(run.events()) == "decided"

    def _good(self) -> dict[str, bytes]:
        """Every good record by its folder, byte for byte."""
        run = self._run()
        records = [] if run is None else run.records()
        good = [f"{r.trial:04d}-{r.attempt}" for r in records if r.outcome is Outcome.OK]
        assert run is not None or not good
        return {
            name: (run.path / "trials" / name / "record.json").read_bytes()
            for name in good
            if run is not None
        }

    def _processes(self) -> list[int]:
        """Live processes that this case started, whatever became of their parent."""
        wanted = f"{MARK}={self.folder}\0".encode()
        return [pid for pid in _pids() if wanted in _environment(pid)]


_RUN = ["run", "study.yaml", "--quiet", "--format", "json"]


def _until(holds: Callable[[], bool], limit_s: float) -> None:
    end = time.monotonic() + limit_s
    while not holds() and time.monotonic() < end:
        time.sleep(0.02)


def _pids() -> Iterator[int]:
    return (int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit())


def _environment(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/environ").read_bytes() + b"\0"
    except OSError:
        return b""


def _is_stopped(pid: int) -> bool:
    return (
        Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[0] == "T"
    )


def _name_of(pid: int) -> str:
    words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    return " ".join(Path(word.decode(errors="replace")).name for word in words[:2])
