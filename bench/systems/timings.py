"""Times of resets, by figure: the place, what is done to it, and the goal."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from steelyard.engine.locate import find_engine
from steelyard.hosts.host import Host
from steelyard.hosts.transport import here, open_local_pipe
from steelyard.study import catalogue
from steelyard.study.model import Reset
from steelyard.systems.conformance.bench import Bench
from steelyard.systems.platform import Platform
from steelyard.systems.platforms import PLATFORMS

GUEST = {
    "cpus": 1,
    "memory": 512 << 20,
    "accel": "tcg",
    "nic": "virtio",
    "disk_bus": "virtio",
    "disk_cache": "unsafe",
    "network": "lab",
}


@dataclass(frozen=True)
class Figure:
    """One row: ``instances`` are reset at once, and the last to answer counts."""

    name: str
    platform: str
    settings: dict[str, Any]
    reset: Reset
    instances: int
    goal_s: float


FIGURES = (
    Figure("container", "podman", {"network": "lab", "storage": "overlay"}, "container", 1, 0.5),
    Figure("snapshot", "qemu", {**GUEST, "image": "debian-minimal"}, "snapshot", 1, 2.0),
    Figure("three-snapshots", "qemu", {**GUEST, "image": "debian-minimal"}, "snapshot", 3, 3.0),
    Figure("boot-minimal", "qemu", {**GUEST, "image": "debian-minimal"}, "boot", 1, 6.0),
    Figure("boot-systemd", "qemu", {**GUEST, "image": "debian-tuned"}, "boot", 1, 15.0),
)


def measure(figure: Figure, repetitions: int, folder: Path) -> list[float]:
    """Seconds of each repetition; one before the first is not counted.

    Raises:
        SystemFailure: the place cannot be made here.
    """
    declared = catalogue.platform(figure.platform)
    bench = Bench(PLATFORMS[figure.platform], declared, figure.settings, _local, folder)
    places: list[Platform] = []
    try:
        bench.network()
        for number in range(1, figure.instances + 1):
            context = bench.context(str(number), folder=str(folder / f"place-{number}"))
            places.append(PLATFORMS[figure.platform](context))
        _at_once([place.up for place in places])
        resets = [_to_an_agent(place, figure.reset) for place in places]
        return [_timed(resets) for _ in range(repetitions + 1)][1:]
    finally:
        for place in places:
            place.down()
        bench.close()


def _local() -> Host:
    return Host("local", open_local_pipe(), here, str(find_engine()))


def _to_an_agent(place: Platform, strength: Reset) -> Callable[[], object]:
    """The reset with its proof, and a question that the agent inside answers."""

    def do() -> object:
        place.reset(strength)
        return place.host().clock()

    return do


def _timed(actions: Sequence[Callable[[], object]]) -> float:
    started_s = time.monotonic()
    _at_once(actions)
    return time.monotonic() - started_s


def _at_once(actions: Sequence[Callable[[], object]]) -> None:
    with ThreadPoolExecutor(len(actions)) as pool:
        for answer in [pool.submit(action) for action in actions]:
            answer.result()
