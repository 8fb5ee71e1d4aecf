"""Every setting of a machine in an emulated guest: applied, read back, taken back."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest
from tests.platforms.guests import guest_settings

from steelyard.hosts.failures import SystemFailure
from steelyard.hosts.host import Host
from steelyard.hosts.kernel_values import changed_values, read_values, shown
from steelyard.systems.conformance.bench import Bench
from steelyard.systems.disks import DiskPlan, prepare, take_down
from steelyard.systems.platform import AttachedDisk, Platform
from steelyard.systems.qemu.platform import Qemu
from steelyard.systems.settings import Place, apply_settings, revert_settings, setting_facts

pytestmark = pytest.mark.system
LONGEST_S = 900
THP = "/sys/kernel/mm/transparent_hugepage/enabled"
LEVELS: dict[str, tuple[Any, str]] = {
    "read_ahead": (1 << 20, "1024"),
    "scheduler": ("mq-deadline", "mq-deadline"),
    "thp": ("never", "never"),
    "sysctl.vm.swappiness": ("13", "13"),
    "sysctl.vm.dirty_bytes": ("67108864", "67108864"),
}
"""By setting: a level that a Debian guest has not by itself, and what the kernel then shows."""
Facts = dict[str, str | None]


@contextmanager
def applied(bench: Bench, host: Host, place: Place, levels: dict[str, Any]) -> Iterator[Facts]:
    """The facts of settings while they hold; afterwards every value is as before."""
    before = read_values(host)
    done = apply_settings(host, levels, bench.undo, place)
    yield setting_facts(host, done)
    revert_settings(host, done, bench.undo)
    assert changed_values(before, read_values(host)) == {}


@pytest.fixture
def place(guest: Platform, disks: list[AttachedDisk]) -> Place:
    return Place("steelyard-guest", guest.folder(), (disks[0].device,))


@pytest.mark.parametrize("setting", LEVELS)
def test_a_value_holds_in_a_guest_and_comes_back(
    guest_bench: Bench, guest: Platform, place: Place, setting: str
) -> None:
    level, shows = LEVELS[setting]
    with applied(guest_bench, guest.host(), place, {setting: level}) as facts:
        assert facts[f"setting.{setting}"] == shows


def test_off_leaves_every_value_of_a_guest_as_found(
    guest_bench: Bench, guest: Platform, place: Place
) -> None:
    levels = dict.fromkeys((*LEVELS, "mount", "cgroup.cpus", "module.bfq"), "off")
    found = read_values(guest.host())
    with applied(guest_bench, guest.host(), place, levels):
        assert changed_values(found, read_values(guest.host())) == {}


@pytest.mark.parametrize("setting", ["governor", "turbo"])
def test_a_guest_without_frequencies_says_so(
    guest_bench: Bench, guest: Platform, place: Place, setting: str
) -> None:
    level = {"governor": "performance", "turbo": "off"}[setting]
    with pytest.raises(SystemFailure, match="not available here: the kernel has no"):
        apply_settings(guest.host(), {setting: level}, guest_bench.undo, place)


def test_mount_options_of_a_disk_hold_and_come_back(
    guest_bench: Bench, guest: Platform, disks: list[AttachedDisk]
) -> None:
    host, plan = guest.host(), DiskPlan("data", "/srv/data", "single", "ext4")
    prepared = prepare(host, disks, plan, guest_bench.undo)
    found = mounted_with(host)
    levels = {"mount": "noatime,commit=30"}
    with applied(guest_bench, host, Place("steelyard-guest", plan.mount_point), levels):
        assert {"noatime", "commit=30"} <= mounted_with(host)
    assert mounted_with(host) == found
    take_down(host, prepared, guest_bench.undo)


def mounted_with(host: Host) -> set[str]:
    """Options of the disk's filesystem, as the kernel shows them."""
    line = host.run(["findmnt", "-no", "OPTIONS", "/srv/data"], timeout_s=30).stdout
    return set(line.strip().split(","))


def test_limits_of_control_groups_of_version_2_hold(
    guest_bench: Bench, guest: Platform, place: Place
) -> None:
    host = guest.host()
    kind = host.run(["stat", "-f", "-c", "%T", "/sys/fs/cgroup"], timeout_s=30).stdout.strip()
    assert kind == "cgroup2fs"
    host.write_file("/sys/fs/cgroup/cgroup.subtree_control", "+cpu +memory")
    limits = {"cgroup.cpus": 0.5, "cgroup.memory": 64 << 20}
    done = apply_settings(host, limits, guest_bench.undo, place)
    facts = setting_facts(host, done)
    assert (facts["setting.cgroup.cpus"], facts["setting.cgroup.memory"]) == (
        "50000 100000",
        str(64 << 20),
    )
    entering = [word for each in done for word in each.enter]
    told = host.run([*entering, "cat", "/proc/self/cgroup"], timeout_s=30)
    assert told.stdout.strip() == f"0::/{place.label}"
    revert_settings(host, done, guest_bench.undo)
    assert not host.path_facts(f"/sys/fs/cgroup/{place.label}").exists


def test_a_controller_that_is_not_given_to_children_is_named(
    guest_bench: Bench, guest: Platform, place: Place
) -> None:
    host = guest.host()
    host.write_file("/sys/fs/cgroup/cgroup.subtree_control", "-cpuset")
    host.write_file("/sys/fs/cgroup/cgroup.subtree_control", "-cpu")
    with pytest.raises(SystemFailure, match="gives the controller cpu to its children"):
        apply_settings(host, {"cgroup.cpus": 0.5}, guest_bench.undo, place)


def test_words_of_the_command_line_hold_after_a_boot(guest_bench: Bench) -> None:
    context = guest_bench.context("words", folder=f"{guest_bench.context('0').folder}-words")
    settings = {**guest_settings(), "network": "lab"}
    levels = {"command_line": "mitigations=off transparent_hugepage=never"}
    context = replace(
        context, spec=context.spec.model_copy(update={"settings": settings, "inside": levels})
    )
    booted = Qemu(context)
    try:
        booted.up()
        done = apply_settings(
            booted.host(), levels, guest_bench.undo, Place("steelyard-words", booted.folder())
        )
        assert levels["command_line"] in (
            setting_facts(booted.host(), done)["setting.command_line"] or ""
        )
        assert "[never]" in booted.host().read_file(THP)
        proof = booted.reset("boot")
        assert booted.host().boot_id == proof.evidence["boot_id"]
        assert "[never]" in booted.host().read_file(THP)
    finally:
        booted.down()


def start_tuned(host: Host) -> None:
    """With as long as it takes an emulated guest of a busy machine; systemd gives it 90 s."""
    drop_in = "/run/systemd/system/tuned.service.d/patient.conf"
    host.make_directory(drop_in.rpartition("/")[0])
    host.write_file(drop_in, f"[Service]\nTimeoutStartSec={LONGEST_S}\n", create=True)
    for words in ("systemctl daemon-reload", "systemctl start tuned", "tuned-adm profile balanced"):
        ran = host.run(words.split(), timeout_s=LONGEST_S)
        assert ran.succeeded, f"{words}: {ran.stderr}"


@pytest.mark.parametrize("profile", ["throughput-performance", "latency-performance", "off"])
def test_the_daemon_of_tuned_holds_a_profile_and_gives_the_former_one_back(
    guest_bench: Bench, guest: Platform, profile: str
) -> None:
    host = guest.host()
    start_tuned(host)
    before = read_values(host)
    place = Place("steelyard-guest", guest.folder())
    applied = apply_settings(host, {"tuned": profile}, guest_bench.undo, place)
    assert setting_facts(host, applied)["setting.tuned"] == profile
    if profile == "throughput-performance":
        assert shown(host.read_file("/proc/sys/vm/dirty_ratio")) == "40"
    revert_settings(host, applied, guest_bench.undo)
    active = host.run(["tuned-adm", "active"], timeout_s=60).stdout
    assert "balanced" in active
    assert changed_values(before, read_values(host)) == {}


def test_a_profile_holds_at_once_where_no_daemon_answers(
    guest_bench: Bench, guest: Platform
) -> None:
    host = guest.host()
    host.run(["systemctl", "stop", "tuned"], timeout_s=120)
    before = read_values(host)
    place = Place("steelyard-guest", guest.folder())
    applied = apply_settings(host, {"tuned": "throughput-performance"}, guest_bench.undo, place)
    assert shown(host.read_file("/proc/sys/vm/dirty_ratio")) == "40"
    revert_settings(host, applied, guest_bench.undo)
    assert changed_values(before, read_values(host)) == {}


def test_a_scheduler_in_a_module_is_loaded_used_and_gone(
    guest_bench: Bench, guest: Platform, disks: list[AttachedDisk]
) -> None:
    host = guest.host()
    place = Place("steelyard-guest", guest.folder(), (disks[0].device,))
    wanted = {"module.bfq": "loaded", "scheduler": "bfq"}
    applied = apply_settings(host, wanted, guest_bench.undo, place)
    assert setting_facts(host, applied)["setting.scheduler"] == "bfq"
    revert_settings(host, applied, guest_bench.undo)
    assert not host.path_facts("/sys/module/bfq").exists
