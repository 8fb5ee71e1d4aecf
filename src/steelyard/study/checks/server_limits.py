"""Limits of servers that the load of a study goes beyond, found before anything runs.

A server that turns clients away, or lets them wait, looks fast or slow for a reason that is
written in its configuration. What a limit counts is said in the service file (`load_limits`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from steelyard.study.checks.load_per_minute import Arrivals, in_a_minute
from steelyard.study.lookup import service_of, workload_of
from steelyard.study.model import ServiceSpec, Study, SystemSpec, WorkloadSpec
from steelyard.study.workload.entry import ANY
from steelyard.study.workload.settings import SharedSettings
from steelyard.study.workload_study import WorkloadStudy, studies

_ENCODED = 4 / 3  # base64 of an attachment
_LINE_ENDS = 78 / 76
_LOGINS = "logins at once"
"""At most as many as there are connections: who is logged in already is not among them."""


@dataclass(frozen=True)
class Limit:
    """What one server serves at most: ``limit`` of what it ``counts``, of which ``asked`` come.

    ``came`` is ``None`` where it is not known what the load brings. ``system`` names the system,
    and the workload where there are several.
    """

    system: str
    service: str
    setting: str
    limit: int
    came: Arrivals | None
    counts: str | None
    refused: str

    @property
    def asked(self) -> float | None:
        """How many come at most: infinitely many where only the answers hold them back."""
        return None if self.came is None else self.came.most

    @property
    def too_small(self) -> bool:
        """Whether the load goes beyond it."""
        return self.asked is not None and self.limit < self.asked


def limits_of(study: Study) -> list[Limit]:
    """Every limit that is set of every server that the study starts, its smallest level."""
    return [
        found
        for one in studies(study)
        for system in one.systems.values()
        for found in _of_system(one, system)
    ]


def exceeded_limits(study: Study) -> list[Limit]:
    """Every limit of every system that the largest load of the study goes beyond."""
    return [limit for limit in limits_of(study) if limit.too_small]


def _of_system(study: WorkloadStudy, system: SystemSpec) -> Iterator[Limit]:
    service = study.workload.service or system.service
    speaks = workload_of(study.workload).spoken_with(study.workload.settings).speaks
    if service is None or not speaks:
        return
    entry = service_of(service)
    own = ANY in speaks or not entry.listeners or set(speaks) & set(entry.listeners)
    asked = _asked(study) if own else {}
    for setting, refused in entry.limits.items():
        counts = entry.load_limits.get(setting)
        for limit in _levels(study, service, setting):
            if limit > 0:
                yield Limit(
                    f"{system.name}, {study.workload_name}" if study.among else system.name,
                    service.use, setting, limit, asked.get(counts or ""), counts, refused,
                )  # fmt: skip
                break


def _levels(study: WorkloadStudy, service: ServiceSpec, setting: str) -> list[int]:
    """What the limit is in the cells of the study, the smallest first; 0 stands for none."""
    own = (service.settings.get(setting),)
    levels = study.factors.get(f"service.{setting}", own)
    return sorted(int(level) for level in levels if isinstance(level, int | float))


def _asked(study: WorkloadStudy) -> dict[str, Arrivals]:
    """How much of each thing that limits count the largest load brings to one instance."""
    return in_a_minute(study, _width(study)) | {
        counts: Arrivals(number, exactly=counts != _LOGINS)
        for counts, number in _at_once(study).items()
    }


def _at_once(study: WorkloadStudy) -> dict[str, int]:
    width = _width(study)
    looking_on = 0 if study.latency_probe is None else 1
    asked = dict.fromkeys(("connections", _LOGINS), width + looking_on)
    asked["connections with the server's own two"] = width + looking_on + 2
    workload = study.workload
    if "logins" in workload.settings:
        logins = SharedSettings.of(workload.settings).logins or width
        asked["connections of one login"] = math.ceil(width / logins)
    if "attachment" in workload.settings:
        asked["bytes of a message"] = _message_bytes(workload)
    return asked


def _width(study: WorkloadStudy) -> int:
    if study.load is not None and study.load.mode == "open":
        return study.load.connections
    levels = study.factors.get("load.users", (1,))
    return max(int(level) for level in levels)


def _message_bytes(workload: WorkloadSpec) -> int:
    settings = SharedSettings.of(workload.settings)
    body = settings.body if isinstance(settings.body, int) else 0
    return math.ceil(body + (settings.attachment or 0) * _ENCODED * _LINE_ENDS)
