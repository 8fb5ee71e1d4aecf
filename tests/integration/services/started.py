"""A service of the catalogue, really started by a local agent, and proof that nothing stays."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from steelyard.hosts.failures import SystemFailure
from steelyard.hosts.host import Host
from steelyard.study import catalogue
from steelyard.study.declared.value import default_of, read_value
from steelyard.study.model import ServiceSpec
from steelyard.systems import services
from steelyard.systems.services import RunningService
from steelyard.systems.services.ports import LIST, used_ports

LACKING = ("tool_missing", "no_rights")


def spec_of(use: str, **written: Any) -> ServiceSpec:
    """A service with settings as a study would write them."""
    settings = {
        name: read_value(written.pop(name), setting) if name in written else default_of(setting)
        for name, setting in catalogue.service(use).settings.items()
    }
    assert not written
    return ServiceSpec(use=use, settings=settings)


@contextmanager
def started(host: Host, folder: Path, use: str, **written: Any) -> Iterator[RunningService]:
    """The service while it runs; skips the test where something it needs is not installed."""
    try:
        running = services.start(host, spec_of(use, **written), str(folder), "service")
    except SystemFailure as failure:
        if failure.kind in LACKING:
            pytest.skip(f"{failure.message}; {failure.hint}")
        raise
    try:
        yield running
        assert services.how_it_died(running) is None
    finally:
        services.stop(running)
    assert_nothing_is_left(folder, running)


def assert_nothing_is_left(folder: Path, running: RunningService) -> None:
    """No process uses the folder, and none listens on the ports."""
    assert_nobody_holds(folder)
    ports = {int(address.rpartition(":")[2]) for address in running.listeners.values()}
    listed = subprocess.run(["sh", "-c", LIST], capture_output=True, text=True, check=False)
    assert not ports & used_ports(listed.stdout)


def assert_nobody_holds(folder: Path) -> None:
    """No process uses the folder; those that do are named."""
    found = list(holders(folder))
    assert found == [], f"still there: {found}"


def holders(folder: Path) -> Iterator[str]:
    """Processes with the folder in their command, as working folder, or with a file of it open."""
    for process in Path("/proc").glob("[0-9]*"):
        if int(process.name) != os.getpid() and (how := _how_it_holds(process, str(folder))):
            yield f"{process.name} below {_parent(process)}: {_read(process / 'cmdline')}, by {how}"


def _how_it_holds(process: Path, folder: str) -> list[str]:
    """Its command, or the links that lead into the folder."""
    command = ["its command"] if folder in _read(process / "cmdline") else []
    links = [process / "cwd", *_children(process / "fd")]
    leading = ((link, _target(link)) for link in links)
    return command + [f"{link.name} -> {target}" for link, target in leading if folder in target]


def _parent(process: Path) -> str:
    return " ".join(_read(process / "stat").rpartition(")")[2].split()[1:2])


def _read(path: Path) -> str:
    try:
        return path.read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return ""


def _children(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir())
    except OSError:
        return []


def _target(link: Path) -> str:
    try:
        return str(link.readlink())
    except OSError:
        return ""
