"""The cases of all platforms, each in a folder of its own."""

from __future__ import annotations

import random
import shutil
import sys
import time
from pathlib import Path
from threading import Event

from bench.torture.case import ANY_PROCESS, Case, Result
from bench.torture.controller import Controllers, said
from bench.torture.faults import POWER_CUT
from bench.torture.messages import KILL_AGENT
from bench.torture.platforms import Platform

TRIALS_LEFT = 2


class Bench:
    """Knows of each platform how many steps its runs have, and a run that was stopped near its end.

    ``steps``: of the opening of a run up to its first trial, and of the session that measures its
    last trials. ``messages``: of that session, to agents. Once ``ends`` is set, no case begins.
    """

    def __init__(self, controllers: Controllers, folder: Path, keep: Path | None = None) -> None:
        self.steps: dict[str, int] = {}
        self.messages: dict[str, int] = {}
        self.ends = Event()
        self._controllers = controllers
        self._folder = folder
        self._keep = keep
        self._firsts: dict[str, int] = {}
        self._stopped: dict[str, Case] = {}

    def prepare(self, platform: Platform) -> None:
        """Runs the study of a platform without any fault."""
        place, name = self._folder / platform.name.replace(" ", "-"), platform.name
        whole = Case(self._controllers, place / "whole", platform)
        stopped = Case(self._controllers, place / "stopped", platform)
        last = Case(self._controllers, place / "last", platform)
        self._firsts[name] = whole.count().first
        stopped.stop_before(TRIALS_LEFT)
        self._stopped[name] = stopped
        counted = last.go_on_from(stopped).count()
        self.steps[name] = self._firsts[name] + counted.steps
        self.messages[name] = counted.messages
        for case in (whole, stopped, last):
            case.close()

    def one(self, end_s: float, numbered: tuple[int, tuple[Platform, str, float]]) -> Result | None:
        """One case, unless its time is over, or it is asked to end."""
        number, (platform, fault, at) = numbered
        if time.monotonic() > end_s or self.ends.is_set():
            return None
        folder = self._folder / f"{number:05d}"
        case = Case(self._controllers, folder, platform)
        try:
            result = self._ended(case, fault, at)
        finally:
            case.close()
        _tell(result)
        if result.wrong and self._keep is not None:
            shutil.copytree(folder, self._keep / folder.name, symlinks=True)
            shutil.copy(said(folder), self._keep / said(folder).name)
        shutil.rmtree(folder, ignore_errors=True)
        return result

    def _ended(self, case: Case, fault: str, at: float) -> Result:
        """In the opening of a run up to its first trial, or in a session that measures its last."""
        name = case.platform.name
        if fault == ANY_PROCESS:
            return case.go_on_from(self._stopped[name]).killed(at, random.Random(f"{name} {at}"))
        behind = int(at) if fault == KILL_AGENT else int(at) - self._firsts[name]
        if behind > 0:
            case.go_on_from(self._stopped[name])
        step = behind if behind > 0 else int(at)
        result = case.without_power(step) if fault == POWER_CUT else case.at_step(fault, step)
        result.at = at
        return result


def _tell(case: Result) -> None:
    what = "; ".join(f"{kind}: {why}" for kind, why in case.wrong.items()) or "held"
    met = case.met or "not met"
    sys.stderr.write(f"{case.platform}, {case.fault} at {case.at:g} ({met}): {what}\n")
