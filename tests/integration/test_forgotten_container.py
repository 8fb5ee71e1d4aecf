"""A container that Podman has forgotten and its runtime has not is removed all the same."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from steelyard.engine.patience import Patience
from steelyard.hosts.host import Host
from steelyard.hosts.machines import LOCAL, open_machine
from steelyard.hosts.undo.actions.podman import RemoveContainer

_PODMAN = "#!/bin/sh\necho '[]'\n"
_RUNTIME = '#!/bin/sh\necho "$*" >>"$0.asked"\n'
_MONITOR = "#!/bin/sh\nread -r word\n"


@pytest.fixture
def tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, text in (("podman", _PODMAN), ("runtime", _RUNTIME), ("conmon", _MONITOR)):
        (tmp_path / name).write_text(text, encoding="utf-8")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    return tmp_path


@pytest.fixture
def host(tools: Path) -> Iterator[Host]:
    opened = open_machine(LOCAL, Patience())
    yield opened
    opened.close()


def monitor(tools: Path, name: str, container: str) -> subprocess.Popen[bytes]:
    words = ["--api-version", "1", "-c", container, "-u", container, "-r", f"{tools}/runtime"]
    argv = [f"{tools}/conmon", *words, "-b", "/bundle", "-n", name, "--exit-dir", "/exits"]
    return subprocess.Popen(argv, stdin=subprocess.PIPE)


def test_what_is_left_of_a_start_that_was_cut_short_is_ended_and_no_other(
    tools: Path, host: Host
) -> None:
    ours = monitor(tools, "steelyard-0123abcd-one-1", "c0ffee")
    other = monitor(tools, "steelyard-0123abcd-one-10", "dec0de")
    RemoveContainer("steelyard-0123abcd-one-1", "mark").apply(host)
    ours.communicate(timeout=60)
    assert ours.returncode == -9
    assert (tools / "runtime.asked").read_text() == "delete --force c0ffee\n"
    assert other.poll() is None
    RemoveContainer("steelyard-0123abcd-one-1", "mark").apply(host)
    other.communicate()
