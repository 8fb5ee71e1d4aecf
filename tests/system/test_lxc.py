"""LXC for real: a container on a bridge of the test's own."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from tests.platforms.promises import (
    keeps_its_promise,
    leaving_nothing,
    limits_of_memory,
    refusal,
    seen_from,
)
from tests.system.lxc import BRIDGE, GUEST, Lxc

from steelyard.hosts.machines import Machines
from steelyard.study import catalogue
from steelyard.systems.command_line.platform import CommandLinePlatform
from steelyard.systems.conformance.bench import Bench
from steelyard.systems.conformance.checks import CHECKS

pytestmark = pytest.mark.system
LXC = catalogue.platform("lxc")


@pytest.fixture(scope="module")
def bench(lxc: Lxc) -> Iterator[Bench]:
    settings = {
        "image": str(lxc.image),
        "path": str(lxc.path),
        "include": "/usr/share/lxc/config/common.conf",
        "cpuset": "0",
        "memory": 256 << 20,
        "network": BRIDGE,
        "guest_address": GUEST,
    }
    folder = lxc.folder / "bench"
    folder.mkdir()
    make, host_machine = (
        partial(CommandLinePlatform, platform=LXC),
        partial(seen_from, lxc.enter, lxc.enter),
    )
    with leaving_nothing(make, LXC, settings, host_machine, folder) as made:
        yield made
    assert list(lxc.path.iterdir()) == []


@pytest.mark.parametrize("check", CHECKS)
def test_lxc_keeps_its_promise(bench: Bench, check: str) -> None:
    keeps_its_promise(bench, check)


def test_limits_hold_inside(bench: Bench) -> None:
    assert limits_of_memory(f"lxc.payload.{bench.place().context.label}") == [str(256 << 20)]


@pytest.mark.parametrize(
    ("setting", "value", "kind"),
    [
        ("image", "/nowhere.tar", "image_missing"),
        ("image", "/etc/passwd", "image_unusable"),
        ("network", "nowhere0", "not_supported"),
    ],
)
def test_what_lxc_itself_says_becomes_a_typed_failure(
    bench: Bench, lxc: Lxc, setting: str, value: str, kind: str
) -> None:
    context = bench.context(f"{setting}-{kind}", folder=str(lxc.folder / f"bench-{kind}"))
    context.spec.settings[setting] = value
    place = CommandLinePlatform(context, LXC)
    failure = refusal(place)
    assert failure.kind == kind, failure.message
    assert not (lxc.path / context.label).exists()


def test_a_container_is_taken_down_from_whichever_network_namespace(bench: Bench, lxc: Lxc) -> None:
    context = bench.context("elsewhere", folder=str(lxc.folder / "bench-elsewhere"))
    context.spec.settings["guest_address"] = "10.88.11.9/24"
    place = CommandLinePlatform(context, LXC)
    place.up()
    place.host().close()
    (pending,) = [p for p in bench.undo.pending() if p.removes == context.label]
    with Machines() as machines:
        here = machines.open("local")
        pending.inverse.apply(here)
        bench.undo.done(pending)
        monitor = f"\\[lxc monitor\\] {lxc.path} {context.label}"
        listed = here.run(["pgrep", "--full", "--exact", monitor], timeout_s=30)
    assert listed.stdout == ""
    assert not (lxc.path / context.label).exists()
    assert not list(Path("/sys/fs/cgroup").rglob(f"lxc.payload.{context.label}"))


def test_nothing_is_left_of_a_container_whose_monitor_was_killed(bench: Bench, lxc: Lxc) -> None:
    context = bench.context("killed", folder=str(lxc.folder / "bench-killed"))
    context.spec.settings["guest_address"] = "10.88.11.10/24"
    place = CommandLinePlatform(context, LXC)
    place.up()
    place.host().close()
    (leader,) = place.costs().processes.values()
    monitor = Path(f"/proc/{leader}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[1]
    os.kill(int(monitor), signal.SIGKILL)
    os.kill(leader, signal.SIGKILL)
    place.down()
    assert not list(Path("/sys/fs/cgroup").rglob(f"lxc.*.{context.label}"))
    assert not (lxc.path / context.label).exists()


def test_a_container_of_the_users_own_is_refused_and_left_as_it_is(bench: Bench, lxc: Lxc) -> None:
    context = bench.context("own", folder=str(lxc.folder / "bench-own"))
    theirs = lxc.path / context.label
    theirs.mkdir()
    (theirs / "config").write_text("lxc.uts.name = theirs\n", encoding="ascii")
    place = CommandLinePlatform(context, LXC)
    assert refusal(place).kind == "name_taken"
    assert (theirs / "config").read_text(encoding="ascii") == "lxc.uts.name = theirs\n"
    shutil.rmtree(theirs)
