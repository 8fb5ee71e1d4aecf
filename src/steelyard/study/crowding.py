"""Limits of servers that the load of a study goes beyond, found before anything runs.

A server that turns clients away, or lets them wait, looks fast or slow for a reason that is
written in its configuration. What a limit counts is said in the service file (`crowds`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from steelyard.study.model import Study, SystemSpec, WorkloadSpec
from steelyard.study.service.own import service_of

_ENCODED = 4 / 3  # base64 of an attachment
_LINE_ENDS = 78 / 76


@dataclass(frozen=True)
class Crowded:
    """One limit that is too small: ``asked`` of what it counts come, ``limit`` are served."""

    system: str
    service: str
    setting: str
    limit: int
    asked: int
    counts: str
    refused: str

    @property
    def words(self) -> str:
        """What will happen, and what to set."""
        return (
            f"{self.system}: the load has {self.asked:,} {self.counts}, `{self.setting}` of "
            f"{self.service} allows {self.limit:,}: {self.refused}; "
            f"set `service: {{{self.setting}: {self.asked}}}` unless that is the question"
        )


def crowded(study: Study) -> list[Crowded]:
    """Every limit of every system that the largest load of the study goes beyond."""
    return [found for system in study.systems.values() for found in _of_system(study, system)]


def _of_system(study: Study, system: SystemSpec) -> Iterator[Crowded]:
    if system.service is None:
        return
    entry = service_of(system.service)
    asked = _asked(study)
    for setting, counts in entry.crowds.items():
        for limit in _levels(study, system, setting):
            if counts in asked and 0 < limit < asked[counts]:
                yield Crowded(
                    system.name, system.service.use, setting, limit, asked[counts], counts,
                    entry.limits[setting],
                )  # fmt: skip
                break


def _levels(study: Study, system: SystemSpec, setting: str) -> list[int]:
    """What the limit is in the cells of the study, the smallest first; 0 stands for none."""
    own = () if system.service is None else (system.service.settings.get(setting),)
    levels = study.factors.get(f"service.{setting}", own)
    return sorted(int(level) for level in levels if isinstance(level, int | float))


def _asked(study: Study) -> dict[str, int]:
    """How much of each thing that limits count the largest load brings to one instance."""
    width = _width(study)
    looking_on = 0 if study.probe is None else 1
    asked = {"connections": width + looking_on}
    for workload in study.workloads.values():
        logins = workload.settings.get("logins")
        if "logins" in workload.settings:
            asked["connections of one login"] = math.ceil(width / int(logins or width))
        if "attachment" in workload.settings:
            asked["bytes of a message"] = _message_bytes(workload)
    return asked


def _width(study: Study) -> int:
    if study.load is not None and study.load.mode == "open":
        return study.load.connections
    levels = study.factors.get("load.users", (1,) if study.load is not None else (0,))
    return max(int(level) for level in levels)


def _message_bytes(workload: WorkloadSpec) -> int:
    body, attached = (int(workload.settings.get(name) or 0) for name in ("body", "attachment"))
    return math.ceil(body + attached * _ENCODED * _LINE_ENDS)
