"""Images for real: the same bits each time, nothing left of a build that failed."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.platforms.guests import IMAGE, built
from tests.platforms.needs import need

from steelyard.errors import ExitCode
from steelyard.hosts.failures import SystemFailure
from steelyard.hosts.host import Host
from steelyard.hosts.machines import LOCAL, Machines
from steelyard.systems.images import mmdebstrap
from steelyard.systems.images.build import build_image
from steelyard.systems.images.recipe import NamedRecipe, Recipe, find_recipe
from steelyard.systems.images.store import DISK, INITRD, KERNEL, Image

UNKNOWN = "no-such-package-anywhere"


@contextmanager
def keeping_in(cache: Path) -> Iterator[Host]:
    """This machine, through an agent that keeps its images elsewhere."""
    with pytest.MonkeyPatch.context() as patch, Machines() as machines:
        patch.setenv("XDG_CACHE_HOME", str(cache))
        yield machines.open(LOCAL)


def built_in(cache: Path) -> Image:
    with keeping_in(cache) as host:
        image = build_image(host, find_recipe(IMAGE), "guest")
        assert build_image(host, find_recipe(IMAGE), "guest") == image
        return image


@pytest.mark.system
def test_a_second_build_gives_the_same_bits_and_a_third_is_not_made(tmp_path: Path) -> None:
    built(IMAGE, "guest")
    with Machines() as machines:
        first = build_image(machines.open(LOCAL), find_recipe(IMAGE), "guest").manifest
    second = built_in(tmp_path / "second").manifest
    if first.packages != second.packages:  # it was built when Debian had others
        first = built_in(tmp_path / "third").manifest
    for name in (DISK, KERNEL, INITRD):
        assert first.files[name] == second.files[name]
    assert "busybox-static" in second.packages


def test_a_build_that_fails_says_why_and_leaves_nothing(tmp_path: Path) -> None:
    need(*mmdebstrap.TOOLS["container"], root=True)
    nowhere = Recipe(summary="For tests.", mirror="http://127.0.0.1:9/debian")
    with keeping_in(tmp_path) as host, pytest.raises(SystemFailure) as refused:
        build_image(host, NamedRecipe(name="wrong", recipe=nowhere), "container")
    assert refused.value.kind == "tool_failed"
    assert "127.0.0.1" in str(refused.value.last_words)
    assert list((tmp_path / "steelyard" / "images").iterdir()) == []


def test_a_build_that_is_interrupted_leaves_nothing(tmp_path: Path) -> None:
    need(*mmdebstrap.TOOLS["container"], root=True)
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    with socket.create_server(("127.0.0.1", 0)) as silent:
        recipe = tmp_path / "mine.yaml"
        mirror = f"http://127.0.0.1:{silent.getsockname()[1]}/debian"
        recipe.write_text(f"summary: For tests.\nkind: container\nmirror: {mirror}\n")
        environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path), "TMPDIR": str(temporary)}
        argv = [sys.executable, "-m", "steelyard", "image", "build", str(recipe)]
        build = subprocess.Popen(argv, env=environment, stderr=subprocess.PIPE)
        silent.settimeout(120)
        silent.accept()[0].close()  # apt asks: the tree is there
        assert list(temporary.iterdir())
        build.send_signal(signal.SIGINT)
        build.communicate(timeout=120)
    assert build.returncode == ExitCode.INTERRUPTED
    assert list(temporary.iterdir()) == []
    assert list((tmp_path / "steelyard" / "images").iterdir()) == []


def test_a_package_that_apt_does_not_know_is_named() -> None:
    need("apt-get")
    words = ["apt-get", "install", "--simulate", UNKNOWN]
    environment = {**os.environ, "LC_ALL": "C"}
    ran = subprocess.run(words, capture_output=True, text=True, env=environment, check=False)
    kind, told = mmdebstrap.complaint(ran.stderr)
    assert kind == "image_unusable"
    assert f"`{UNKNOWN}`" in told["message"]
