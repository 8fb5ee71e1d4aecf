"""A tool on a real machine, from its file to its figures, without a study around it."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import cast

from steelyard.hosts.clocks import ClockOffset
from steelyard.hosts.host import Host
from steelyard.hosts.undo.actions.command import Command
from steelyard.records.schema import Measured
from steelyard.study import catalogue
from steelyard.study.declared.placeholders import Value
from steelyard.study.declared.value import defaults_of
from steelyard.study.lookup import WORKLOAD_FILES
from steelyard.study.model import WorkloadSpec
from steelyard.trial.attempt.instance import Instance
from steelyard.trial.drive.drivers import RunDrive
from steelyard.trial.observe.outputs import measured_by_tool
from steelyard.workloads.tools.ready import ToolContext, make_ready


@dataclass
class Bench:
    """One instance, and the inverses that were planned for it."""

    host: Host
    folder: Path
    planned: list[Command] = field(default_factory=list)
    instance: Instance = field(init=False)

    def measured(
        self, text: str, chosen: dict[str, object] | None = None, **given: Value
    ) -> dict[str, Measured]:
        """What a trial measures, of this file, or of the workload of this name."""
        spec = self._spec(text, chosen or {})
        folder = str(self.folder)
        always: dict[str, Value] = {
            "folder": folder,
            "mount": folder,
            "window": 0.05,
            "warmup": 0.05,
            "seed": 1,
        }
        context = ToolContext(self.host, folder, always | given, self.planned.append, 20.0)
        tool = make_ready(spec, context)
        instance = SimpleNamespace(host=self.host, ran=[], outputs={}, unread={}, workload=spec)
        self.instance = cast("Instance", instance)
        drive = RunDrive(self.instance, ClockOffset(0, 0, 0), tool, 20.0)
        drive.warmup()
        drive.begin(None)
        drive.finish(time.monotonic_ns() + 20_000_000_000)
        return measured_by_tool(tool, self.instance)

    @staticmethod
    def _spec(text: str, chosen: dict[str, object]) -> WorkloadSpec:
        if text in catalogue.names("workloads"):
            entry, own = catalogue.workload(text), None
        else:
            entry, own = WORKLOAD_FILES.parse(text.encode(), Path("mine.yaml")), text
        settings = defaults_of(entry.settings)
        use = text if own is None else "mine"
        return WorkloadSpec(use=use, settings=settings | chosen, text=own)

    def clean(self) -> None:
        for inverse in reversed(self.planned):
            inverse.apply(self.host)
