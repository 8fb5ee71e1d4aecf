"""The words of ``podman run``: pure, from the settings of a system."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from steelyard.hosts.failures import SystemFailure
from steelyard.study.platform.settings import PodmanSettings

ENGINE = "/.steelyard/engine"
"""Where the engine is inside; bound read-only, so that the image is run as it is."""
SERVICE_FOLDER = "/var/lib/steelyard"
MARK = "steelyard"
HOST_NETWORK = "host"
_LONGEST_NAME = 63
ID_NOTE, PID_NOTE = "container.id", "container.pid"


@dataclass(frozen=True)
class Running:
    """What one container is made of. ``network`` is ``host`` or ``ns:PATH``.

    ``notes`` is the folder where Podman writes the container's id and its first process.
    """

    name: str
    mark: str
    image: str
    engine: str
    notes: str
    network: str
    settings: PodmanSettings
    limits: Mapping[str, int]
    volume: str | None = None
    with_disks: bool = False


def run_argv(running: Running) -> list[str]:
    """The words after ``podman``: the agent is the container's own process.

    With stdin open and no log there is one pipe from the controller to the agent; an agent
    started by ``podman exec`` would cost a second start of a process in the container.
    """
    return [
        "run",
        "--interactive",
        f"--name={running.name}",
        f"--cidfile={running.notes}/{ID_NOTE}",
        f"--pidfile={running.notes}/{PID_NOTE}",
        f"--label={MARK}={running.mark}",
        "--pull=never",
        "--log-driver=none",
        f"--network={running.network}",
        *_names(running),
        "--security-opt=label=disable",
        "--user=0:0",
        "--passwd=false",
        "--workdir=/",
        *(f"--ulimit={name}={limit}:{limit}" for name, limit in running.limits.items()),
        *_limits(running.settings),
        f"--volume={running.engine}:{ENGINE}:ro",
        *_volume(running.volume),
        *(_DISKS if running.with_disks else ()),
        f"--entrypoint={json.dumps([ENGINE])}",
        running.image,
        "agent",
    ]


_DISKS = (
    "--cap-add=SYS_ADMIN",
    "--security-opt=apparmor=unconfined",
    "--device-cgroup-rule=b 7:* rwm",
)
"""To make and mount filesystems on loop devices (major 7) that are attached later."""


def _limits(settings: PodmanSettings) -> Iterator[str]:
    limits = {
        "--cpus": settings.cpus,
        "--memory": None if settings.memory is None else f"{settings.memory}b",
        "--cpuset-cpus": settings.cpuset,
        "--pids-limit": settings.pids,
    }
    yield from (f"{option}={limit}" for option, limit in limits.items() if limit is not None)


def _names(running: Running) -> Iterator[str]:
    """The container knows its own name, and in a network of the run's no one is asked for others.

    There no server of names can be reached, and a service that asks the one of the host waits
    until it gives up: Samba for its own name, before it has answered its first client.
    """
    own = running.name[-_LONGEST_NAME:].strip("-")
    yield from (f"--hostname={own}", f"--add-host={own}:127.0.0.1")
    if running.network != HOST_NETWORK:
        yield "--dns=127.0.0.1"


def _volume(folder: str | None) -> tuple[str, ...]:
    return () if folder is None else (f"--volume={folder}:{SERVICE_FOLDER}",)


def not_started(name: str, said: str) -> SystemFailure:
    """Why a container did not come to an agent, by the last that Podman said."""
    if ENGINE in said and "no such file" in said.lower():
        return SystemFailure(
            "engine_unfit",
            f"the engine cannot be run in {name}: the image has not the loader that it asks for",
            "link the engine statically, as `make engine` does, or take an image that has its libc",
            last_words=said,
        )
    message = f"the container {name} does not start: {said.rpartition(': ')[2]}"
    hint = "try it by hand: podman run --rm -it IMAGE; `steelyard doctor --platform podman`"
    return SystemFailure("not_ready", message, hint, last_words=said)
