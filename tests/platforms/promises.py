"""The frame of every test of a platform: its bench, its promises, and a platform that refuses."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from steelyard.engine.agent import Agent
from steelyard.engine.locate import find_engine
from steelyard.engine.patience import Patience
from steelyard.hosts.failures import SystemFailure
from steelyard.hosts.host import Host
from steelyard.hosts.transport import Way, here, open_local_pipe
from steelyard.study.catalogue import Platform as Declared
from steelyard.systems.conformance.bench import Bench, Make
from steelyard.systems.conformance.remains import traces
from steelyard.systems.conformance.session import sit
from steelyard.systems.platform import Platform


def keeps_its_promise(bench: Bench, check: str) -> None:
    """Asks one; skips the test where this platform has none to keep."""
    (finding,) = sit(bench, [check])
    assert finding.grade != "bad", finding.seen
    if finding.grade == "note":
        pytest.skip(finding.seen)


@contextmanager
def leaving_nothing(
    make: Make,
    declared: Declared,
    settings: dict[str, Any],
    host_machine: Callable[[], Host],
    folder: Path,
) -> Iterator[Bench]:
    """A bench; when it is closed nothing of it is on the machine that carried it."""
    made = Bench(make, declared, settings, host_machine, folder)
    yield made
    made.close()
    host = host_machine()
    try:
        assert traces(host, made.run) == [], "the platform left something on this machine"
    finally:
        host.close()


def local() -> Host:
    """This machine."""
    return Host("local", open_local_pipe(), here, str(find_engine()))


def seen_from(enter: Callable[[list[str]], list[str]], way: Way = here) -> Host:
    """This machine, by an agent that ``enter`` has put where a bridge is."""
    engine = str(find_engine())
    return Host("local", Agent(enter([engine, "agent"]), Patience()), way, engine)


def refusal(place: Platform) -> SystemFailure:
    """Why it does not come up; what it had made by then is taken down."""
    with pytest.raises(SystemFailure) as failure:
        place.up()
    place.down()
    return failure.value


def limits_of_memory(group: str) -> list[str]:
    """Of every control group of this name, in whichever version."""
    return [
        file.read_text().strip()
        for name in ("memory.limit_in_bytes", "memory.max")
        for file in Path("/sys/fs/cgroup").rglob(name)
        if file.parent.name == group
    ]
