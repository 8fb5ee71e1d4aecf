"""Settings on this machine: applied, read back, taken back. Only small and reversible ones."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from tests.platforms.alone import alone_with_the_machine
from tests.platforms.loops import LoopDevice, loop_device, said
from tests.platforms.needs import need

from steelyard.hosts.failures import SystemFailure
from steelyard.hosts.host import Host
from steelyard.hosts.kernel_values import changed_values, read_values, shown
from steelyard.hosts.undo.log import UndoLog
from steelyard.study.model import ServiceSpec
from steelyard.systems import services
from steelyard.systems.settings import Place, apply_settings, revert_settings, setting_facts

SWAPPINESS = Path("/proc/sys/vm/swappiness")


def told(path: Path | str) -> str:
    return shown(Path(path).read_text(encoding="ascii"))


@pytest.fixture(autouse=True)
def left_as_found(host_machine: Host) -> Iterator[None]:
    """Every value of the kernel is as before, whatever the test did; else it is made so."""
    need("losetup", root=True)
    with alone_with_the_machine():
        yield from compared(host_machine)


def values(host_machine: Host) -> dict[str, str]:
    """Without those of loop devices, which other tests attach and detach meanwhile."""
    found = read_values(host_machine)
    return {path: now for path, now in found.items() if not path.startswith("/sys/block/loop")}


def compared(host_machine: Host) -> Iterator[None]:
    before = values(host_machine)
    yield
    moved = {
        path: old
        for path, (old, new) in changed_values(before, values(host_machine)).items()
        if old is not None and new is not None
    }
    for path, old in moved.items():
        Path(path).write_text(old, encoding="ascii")
    assert moved == {}


@pytest.fixture
def loop(tmp_path: Path) -> Iterator[LoopDevice]:
    with loop_device(tmp_path / "disk.img", size_mib=64) as device:
        yield device


@pytest.fixture
def place(tmp_path: Path, name: str, loop: LoopDevice) -> Place:
    return Place(name, str(tmp_path), (loop.device,))


def test_several_settings_hold_and_are_undone(
    host_machine: Host, undo: UndoLog, place: Place, loop: LoopDevice
) -> None:
    queue = Path("/sys/block", loop.name, "queue")
    before = {p: told(p) for p in (SWAPPINESS, queue / "scheduler", queue / "read_ahead_kb")}
    wanted = {"sysctl.vm.swappiness": 13, "scheduler": "mq-deadline", "read_ahead": 64 * 1024}
    applied = apply_settings(host_machine, wanted, undo, place)
    assert setting_facts(host_machine, applied) == {
        "setting.sysctl.vm.swappiness": "13",
        "setting.scheduler": "mq-deadline",
        "setting.read_ahead": "64",
    }
    assert told(SWAPPINESS) == "13"
    revert_settings(host_machine, applied, undo)
    assert {path: told(path) for path in before} == before
    assert undo.pending() == []


def test_a_ratio_comes_back_although_bytes_took_its_place(
    host_machine: Host, undo: UndoLog, place: Place
) -> None:
    ratio = apply_settings(host_machine, {"sysctl.vm.dirty_ratio": 23}, undo, place)
    wanted = {"sysctl.vm.dirty_bytes": 512 * 2**20}
    applied = apply_settings(host_machine, wanted, undo, place)
    assert told("/proc/sys/vm/dirty_ratio") == "0"
    revert_settings(host_machine, applied, undo)
    assert told("/proc/sys/vm/dirty_ratio") == "23"
    revert_settings(host_machine, ratio, undo)


def test_a_level_that_does_not_take_is_named_and_all_before_it_is_undone(
    host_machine: Host, undo: UndoLog, place: Place
) -> None:
    before = told(SWAPPINESS)
    wanted = {"read_ahead": 64 * 1024, "sysctl.vm.swappiness": 13, "sysctl.vm.dirty_ratio": 1000}
    with pytest.raises(SystemFailure, match=r"`sysctl.vm.dirty_ratio` cannot be '1000'") as caught:
        apply_settings(host_machine, wanted, undo, place)
    assert caught.value.kind == "not_supported"
    assert told(SWAPPINESS) == before
    assert undo.pending() == []


IMPOSSIBLE = {
    "sysctl.vm.no_such_thing": ("1", "no_such_thing"),
    "module.no-such-module": ("loaded", "no-such-module is not available here"),
    "command_line": ("no.such=word", "booted without `no.such=word`"),
    "tuned": ("no-such-profile", "no profile `no-such-profile`"),
    "mount": ("data=journal", "cannot be undone"),
}
TOOLS = {"module.no-such-module": ("modprobe",), "tuned": ("tuned", "tuned-adm")}


@pytest.mark.parametrize("setting", IMPOSSIBLE)
def test_what_this_machine_cannot_do_is_not_supported_and_changes_nothing(
    host_machine: Host, undo: UndoLog, place: Place, setting: str
) -> None:
    need(*TOOLS.get(setting, ()))
    level, words = IMPOSSIBLE[setting]
    with pytest.raises(SystemFailure, match=words) as caught:
        apply_settings(host_machine, {setting: level}, undo, place)
    assert caught.value.kind == "not_supported"
    assert undo.pending() == []


def test_a_scheduler_that_the_kernel_has_not_is_named_with_those_it_has(
    host_machine: Host, undo: UndoLog, place: Place
) -> None:
    with pytest.raises(SystemFailure) as caught:
        apply_settings(host_machine, {"scheduler": "cfq"}, undo, place)
    assert "none" in (caught.value.hint or "")


def test_options_of_a_mounted_filesystem_change_and_come_back(
    host_machine: Host, undo: UndoLog, place: Place, loop: LoopDevice, tmp_path: Path
) -> None:
    need("mkfs.ext4")
    mounted = loop.mounted(tmp_path / "mnt")
    inside = Place(place.label, str(mounted), place.devices)
    before = said("findmnt", "-no", "OPTIONS", mounted)
    applied = apply_settings(host_machine, {"mount": "noatime,commit=30"}, undo, inside)
    assert {"noatime", "commit=30"} <= set(said("findmnt", "-no", "OPTIONS", mounted).split(","))
    revert_settings(host_machine, applied, undo)
    assert said("findmnt", "-no", "OPTIONS", mounted) == before


def test_a_service_enters_its_cgroup_before_it_runs_and_the_group_goes(
    host_machine: Host, undo: UndoLog, place: Place
) -> None:
    limits = {"cgroup.cpus": 0.5, "cgroup.memory": 64 * 2**20}
    applied = apply_settings(host_machine, limits, undo, place)
    try:
        [enter] = [one.enter for one in applied if one.enter]
        seen = host_machine.run([*enter, "cat", "/proc/self/cgroup"], timeout_s=60)
        assert place.label in seen.stdout, seen.stderr
        heavy = ["python3", "-c", "x = bytearray(128 << 20); print('fits')"]
        assert "fits" not in host_machine.run([*enter, *heavy], timeout_s=60).stdout
    finally:
        revert_settings(host_machine, applied, undo)
    assert not list(Path("/sys/fs/cgroup").glob(f"*/{place.label}"))


def test_the_engines_own_server_runs_in_its_cgroup(
    host_machine: Host, undo: UndoLog, place: Place, tmp_path: Path
) -> None:
    applied = apply_settings(host_machine, {"cgroup.cpus": 0.5}, undo, place)
    try:
        spec = ServiceSpec(use="sink-http", settings={"body": 1024})
        folder = str(tmp_path / "service")
        service = services.start(
            host_machine, spec, folder, "sink", enter=applied[-1].enter, undo=undo
        )
        pid = service.processes["sink"]
        groups = Path(f"/proc/{pid}/cgroup").read_text(encoding="ascii")
        services.stop(service)
        assert place.label in groups
    finally:
        revert_settings(host_machine, applied, undo)


OWN = "./lean/tuned.conf"
PROFILE = """\
[main]
summary=for a test

[sysctl]
vm.swappiness=17
vm.dirty_ratio=33
"""


def test_a_profile_of_a_users_own_holds_and_every_value_comes_back(
    host_machine: Host, undo: UndoLog, place: Place, tmp_path: Path
) -> None:
    need("tuned", "tuned-adm", "unshare")
    place = replace(place, profiles={OWN: PROFILE})
    before = values(host_machine)
    applied = apply_settings(host_machine, {"tuned": OWN}, undo, place)
    assert (told(SWAPPINESS), told("/proc/sys/vm/dirty_ratio")) == ("17", "33")
    facts = setting_facts(host_machine, applied)
    assert "/proc/sys/vm/swappiness: " in (facts["setting.tuned.changed"] or "")
    revert_settings(host_machine, applied, undo)
    assert changed_values(before, values(host_machine)) == {}
    assert not (tmp_path / "tuned").exists()


def test_a_profile_that_runs_a_script_is_refused_where_no_one_could_take_it_back(
    host_machine: Host, undo: UndoLog, place: Place
) -> None:
    need("tuned", "tuned-adm", "unshare")
    scripted = PROFILE + "\n[script]\nscript=${i:PROFILE_DIR}/x.sh\n"
    with pytest.raises(SystemFailure, match="uses script"):
        apply_settings(host_machine, {"tuned": OWN}, undo, replace(place, profiles={OWN: scripted}))


def test_off_leaves_everything_as_found(host_machine: Host, undo: UndoLog, place: Place) -> None:
    levels = {"tuned": "off", "scheduler": "off", "sysctl.vm.swappiness": "off", "mount": "off"}
    before = read_values(host_machine)
    revert_settings(host_machine, apply_settings(host_machine, levels, undo, place), undo)
    assert changed_values(before, read_values(host_machine)) == {}
