"""Starts and stops the server under test, as its file in the catalogue says.

A service announces on its first line of stdout where it listens, as ``{"listening": "ADDRESS"}``;
that is when it is ready. No port is ever polled.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from steelyard.engine.agent import AgentRefusal
from steelyard.engine.messages import Failure, ProcessState, Started
from steelyard.hosts.host import Host
from steelyard.study import catalogue
from steelyard.study.model import ServiceSpec
from steelyard.study.setting import Setting

READY_TIMEOUT_S = 10.0
STOP_GRACE_S = 5.0


@dataclass(frozen=True)
class RunningService:
    """A service that is ready, on the machine whose agent started it."""

    host: Host
    name: str
    pid: int
    address: str
    version: str
    listeners: dict[str, str] = field(default_factory=dict)
    authority: str | None = None


def start(host: Host, spec: ServiceSpec, folder: str, name: str) -> RunningService:
    """The service on ``host``, ready, with ``folder`` for its files.

    Raises:
        AgentRefusal: it could not be started, or was not ready in time; typed.
    """
    argv = command_line(spec, folder)
    started = host.start(name, argv, directory=folder, ready_timeout_s=READY_TIMEOUT_S)
    said = _announced(started)
    return RunningService(
        host=host,
        name=name,
        pid=started.pid,
        address=str(said["listening"]),
        version=host.engine_version,
        listeners=said.get("listeners") or {},
        authority=_authority(spec, folder),
    )


def stop(service: RunningService) -> ProcessState:
    """Ends the service; how it ended, and what it used.

    Raises:
        EngineError: its agent has ended, and the service with it.
    """
    return service.host.stop(service.name, grace_s=STOP_GRACE_S)


def counters(ended: ProcessState) -> dict[str, Any]:
    """What the service counted itself: the last line it wrote, if that is a JSON object."""
    last = ended.stdout_tail.strip().rpartition("\n")[2]
    try:
        document = json.loads(last)
    except ValueError:
        return {}
    return document if isinstance(document, dict) else {}


def command_line(spec: ServiceSpec, folder: str) -> list[str]:
    """The words that start the service: its command, then an option for each setting it has."""
    entry = catalogue.service(spec.use)
    places = {"folder": folder, "port": spec.settings.get("port") or 0}
    words = [word.format_map(places) for word in entry.command]
    for name, setting in entry.settings.items():
        value = spec.settings.get(name)
        words += [word.format_map(places) for word in setting.options.get(str(value), ())]
        if setting.option is not None and value is not None:
            words += [setting.option, _word(setting, value)]
    return words


def _authority(spec: ServiceSpec, folder: str) -> str | None:
    """The file that a certificate made for the trial is verified with."""
    file = catalogue.service(spec.use).authority
    if file is None or spec.settings.get("tls") in (None, "none"):
        return None
    return file.format_map({"folder": folder})


def _word(setting: Setting, value: object) -> str:
    match setting.kind:
        case "duration":
            return f"{value:.9f}s"
        case "word":
            return str(value).replace(" ", "-")
        case _:
            return str(value)


def _announced(started: Started) -> dict[str, Any]:
    try:
        said: dict[str, Any] = json.loads(started.ready_line or "")
        said["listening"]
    except (ValueError, KeyError, TypeError) as error:
        failure = Failure(
            kind="not_ready",
            message=f"the service did not say where it listens, but {started.ready_line!r}",
            hint='a service announces {"listening": "ADDRESS:PORT"} on its first line',
        )
        raise AgentRefusal("start", failure) from error
    return said
