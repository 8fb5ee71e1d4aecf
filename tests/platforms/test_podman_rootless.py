"""Podman without root keeps every promise, too; what it cannot do it says with a type."""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import signal
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from tests.platforms.needs import need
from tests.platforms.promises import keeps_its_promise

from steelyard.engine.agent import Agent
from steelyard.engine.locate import find_engine
from steelyard.engine.patience import Patience
from steelyard.hosts.failures import SystemFailure
from steelyard.hosts.host import Host
from steelyard.study import catalogue
from steelyard.systems.conformance.bench import Bench
from steelyard.systems.conformance.checks import CHECKS
from steelyard.systems.platforms import PLATFORMS

USER = "nobody"


@pytest.fixture(scope="module")
def home() -> Iterator[Path]:
    """A home for nobody, who has none; outside of pytest's folders, which nobody may enter."""
    need("podman", "setpriv", root=True)
    user = pwd.getpwnam(USER)
    folder = Path(tempfile.mkdtemp(prefix="steelyard-nobody-"))
    for part in ("run", "data", "bench", "lab"):
        (folder / part).mkdir()
        os.chown(folder / part, user.pw_uid, user.pw_gid)
    shutil.copy(find_engine(), folder / "engine")
    folder.chmod(0o755)
    yield folder
    for file in folder.rglob("pause.pid"):  # Podman keeps the namespaces of a user in a process
        with contextlib.suppress(ProcessLookupError):  # it may have ended with its last container
            os.kill(int(file.read_text()), signal.SIGKILL)
    shutil.rmtree(folder)


@pytest.fixture(scope="module")
def bench(home: Path) -> Iterator[Bench]:
    made = Bench(
        PLATFORMS["podman"],
        catalogue.platform("podman"),
        {"network": "host", "storage": "overlay"},
        lambda: as_nobody(home),
        home / "bench",
    )
    yield made
    made.close()


def as_nobody(home: Path) -> Host:
    """This machine, as a user without rights sees it."""
    user = pwd.getpwnam(USER)
    places: dict[str, Path | str] = {
        "PATH": "/usr/local/bin:/usr/bin:/bin",  # the test's own may have folders of root's
        "HOME": home,
        "XDG_RUNTIME_DIR": home / "run",
        "XDG_DATA_HOME": home / "data",
        "XDG_CONFIG_HOME": home / "data" / "config",
    }

    def way(argv: Sequence[str]) -> list[str]:
        who = ["setpriv", f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups"]
        return [*who, "env", *(f"{name}={place}" for name, place in places.items()), *argv]

    engine = str(home / "engine")
    host = Host("nobody", Agent(way([engine, "agent"]), Patience()), way, engine)
    ran = host.run(["podman", "info"], timeout_s=60)
    if ran.exit_code != 0:
        host.close()
        pytest.skip(f"Podman does not run without root here: {ran.stderr[-200:]}")
    return host


@pytest.mark.parametrize("check", CHECKS)
def test_podman_without_root_keeps_its_promise(bench: Bench, check: str) -> None:
    keeps_its_promise(bench, check)


def test_the_lab_network_is_refused_without_root(home: Path) -> None:
    lab = Bench(
        PLATFORMS["podman"],
        catalogue.platform("podman"),
        {"network": "lab"},
        lambda: as_nobody(home),
        home / "lab",
    )
    try:
        with pytest.raises(SystemFailure) as refused:
            lab.place()
        assert refused.value.kind == "no_rights"
    finally:
        lab.close()
