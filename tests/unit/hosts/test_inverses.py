"""Every inverse survives the ledger, and does nothing where there is nothing of ours."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

import pytest
from tests.unit.hosts.stand_in import MOUNT_TABLE, Machine, refusal, runs, said

from steelyard.engine.agent import AgentRefusal
from steelyard.engine.messages import Ran
from steelyard.hosts.undo.actions import storage
from steelyard.hosts.undo.actions.command import Command
from steelyard.hosts.undo.actions.command_line import TakeDown
from steelyard.hosts.undo.actions.files import RemoveTree, RestoreFile, WriteValue, sha256_of
from steelyard.hosts.undo.actions.inverse import Inverse
from steelyard.hosts.undo.actions.network import RemoveNamespace
from steelyard.hosts.undo.actions.podman import RemoveContainer, RemoveImageName
from steelyard.hosts.undo.actions.processes import EndProcess, RemoveCgroup, RemoveCgroupTree
from steelyard.hosts.undo.actions.qemu import EndMachine
from steelyard.hosts.undo.actions.storage import (
    DetachLoop,
    Remount,
    StopArray,
    Unmount,
    WipeSignatures,
)
from steelyard.hosts.undo.actions.table import INVERSES, read_inverse
from steelyard.hosts.undo.actions.tuned import TunedProfile
from steelyard.hosts.undo.actions.values import RestoreValues

FILE = "/srv/run/disk.img"
MOUNTED = "36 35 7:0 / /srv/run/mnt rw,noatime shared:1 - ext4 /dev/loop0 rw\n"
OURS = sha256_of("ours\n")

EXAMPLES: list[Inverse] = [
    Command(("ip", "link", "delete", "br9"), "delete the bridge br9", unless=("false",)),
    DetachLoop(FILE),
    EndMachine("steelyard-7-a-1", "/srv/run"),
    EndProcess(7, 99),
    Remount("/srv", "/dev/vdb", "relatime,commit=0"),
    RemoveCgroup("/sys/fs/cgroup/steelyard-7-a-1"),
    RemoveCgroupTree("/sys/fs/cgroup/systemd/steelyard-7-a-1"),
    RemoveContainer("steelyard-7-a-1", "0123456789abcdef"),
    RemoveImageName("localhost/steelyard-7-a-1:latest"),
    RemoveNamespace("steelyard-7-lab"),
    RemoveTree("/srv/scratch"),
    RestoreFile("/etc/tuned/active_profile", "balanced\n", 0o644, OURS),
    RestoreValues("/srv/run/before.json", OURS, "boot-1"),
    TakeDown(
        "steelyard-7-a-1",
        "docker",
        {"argv": ["docker", "inspect", "steelyard-7-a-1"]},
        absent="No such object",
        ours="steelyard-7-a-1",
        down=({"argv": ["docker", "rm", "steelyard-7-a-1"]},),
    ),
    StopArray("aaaa:bbbb:cccc:dddd", "steelyard-1"),
    TunedProfile("balanced"),
    Unmount("/srv/run/mnt", "/dev/loop0"),
    WipeSignatures("/dev/vdb", serial="data-1"),
    WriteValue("/proc/sys/vm/swappiness", "60", "boot-1"),
]


@pytest.mark.parametrize("inverse", EXAMPLES, ids=lambda inverse: inverse.kind)
def test_an_inverse_comes_back_from_the_ledger_as_it_was(inverse: Inverse) -> None:
    assert read_inverse(json.loads(json.dumps(asdict(inverse)))) == inverse


@pytest.mark.parametrize("inverse", EXAMPLES, ids=lambda inverse: inverse.kind)
def test_an_inverse_says_in_words_what_it_does(inverse: Inverse) -> None:
    assert str(inverse)[0].islower()


def test_every_inverse_of_the_table_is_tried_here_under_its_name() -> None:
    assert {inverse.kind: type(inverse) for inverse in EXAMPLES} == INVERSES


def loops(*backing: tuple[str, str | None]) -> Ran:
    devices = [{"name": device, "back-file": file} for device, file in backing]
    return said(stdout=json.dumps({"loopdevices": devices}))


def test_a_folder_with_something_mounted_below_is_not_removed() -> None:
    machine = Machine(files={MOUNT_TABLE: MOUNTED})
    with pytest.raises(AgentRefusal, match=r"/dev/loop0 is mounted at /srv/run/mnt"):
        RemoveTree("/srv/run").apply(machine.host())
    assert machine.changes == []


def test_a_folder_beside_a_mount_of_a_similar_name_is_removed() -> None:
    machine = Machine(files={MOUNT_TABLE: MOUNTED})
    RemoveTree("/srv/run/mn").apply(machine.host())
    assert machine.changes == [("remove", "/srv/run/mn")]


def test_a_file_gets_its_former_content_once() -> None:
    machine = Machine(files={"/etc/x": "ours\n"})
    inverse = RestoreFile("/etc/x", "theirs\n", 0o644, OURS)
    inverse.apply(machine.host())
    inverse.apply(machine.host())
    assert machine.changes == [("write", "/etc/x", "theirs\n")]


def test_a_file_that_was_not_there_is_removed() -> None:
    machine = Machine(files={"/etc/x": "ours\n"})
    RestoreFile("/etc/x", None, None, OURS).apply(machine.host())
    assert runs(machine) == ["rm -f -- /etc/x"]


@pytest.mark.parametrize("former", ["theirs\n", None])
def test_a_file_that_somebody_changed_since_is_left_to_them(former: str | None) -> None:
    machine = Machine(files={"/etc/x": "edited by hand\n"})
    with pytest.raises(AgentRefusal, match="changed by somebody else"):
        RestoreFile("/etc/x", former, 0o644, OURS).apply(machine.host())
    assert machine.changes == []


def test_a_value_of_the_kernel_is_written_again() -> None:
    machine = Machine(files={"/proc/sys/vm/swappiness": "10\n"})
    WriteValue("/proc/sys/vm/swappiness", "60", "boot-1").apply(machine.host())
    assert machine.changes == [("write", "/proc/sys/vm/swappiness", "60")]


def test_a_value_that_the_kernel_does_not_restore_is_named() -> None:
    class Stubborn(Machine):
        def write_file(self, path: str, content: str, **_more: Any) -> None:
            self.changes.append(("write", path, content))

    machine = Stubborn(files={"/sys/block/vda/queue/scheduler": "[mq-deadline] none\n"})
    with pytest.raises(AgentRefusal, match="the kernel shows 'mq-deadline'"):
        WriteValue("/sys/block/vda/queue/scheduler", "none").apply(machine.host())


def test_a_value_that_a_boot_has_undone_is_left() -> None:
    machine = Machine(files={"/proc/sys/vm/swappiness": "10\n"}, boot_id="boot-2")
    WriteValue("/proc/sys/vm/swappiness", "60", "boot-1").apply(machine.host())
    assert machine.changes == []


def test_a_value_of_a_device_that_has_gone_needs_nothing() -> None:
    machine = Machine()
    WriteValue("/sys/block/vdz/queue/scheduler", "none").apply(machine.host())
    assert machine.changes == []


def test_no_file_but_a_value_of_the_kernel_is_written() -> None:
    machine = Machine(files={"/etc/passwd": "x"})
    with pytest.raises(AgentRefusal, match="no value of the kernel"):
        WriteValue("/etc/passwd", "y").apply(machine.host())


def test_what_is_mounted_is_unmounted_and_what_is_not_needs_nothing() -> None:
    machine = Machine(files={MOUNT_TABLE: MOUNTED})
    Unmount("/srv/run/mnt", "/dev/loop0").apply(machine.host())
    Unmount("/srv/run/other", "/dev/loop0").apply(machine.host())
    assert runs(machine) == ["umount /srv/run/mnt"]


def test_what_somebody_else_mounted_there_is_not_unmounted() -> None:
    machine = Machine(files={MOUNT_TABLE: MOUNTED})
    with pytest.raises(AgentRefusal, match="not ours"):
        Unmount("/srv/run/mnt", "/dev/loop7").apply(machine.host())
    assert machine.changes == []


def test_a_busy_filesystem_is_named_with_what_to_do() -> None:
    machine = Machine(files={MOUNT_TABLE: MOUNTED})
    machine.tools["umount"] = lambda _: said(32, stderr="umount: /srv/run/mnt: target is busy.\n")
    with pytest.raises(AgentRefusal, match="target is busy") as caught:
        Unmount("/srv/run/mnt", "/dev/loop0").apply(machine.host())
    assert "fuser" in (caught.value.failure.hint or "")


def test_only_the_loop_device_of_our_file_is_detached() -> None:
    machine = Machine()
    answers = [loops(("/dev/loop0", "/home/theirs.img"), ("/dev/loop3", FILE)), loops()]
    machine.tools["losetup --list"] = lambda _: answers.pop(0)
    DetachLoop(FILE).apply(machine.host())
    assert "losetup --detach /dev/loop3" in runs(machine)
    assert "losetup --detach /dev/loop0" not in runs(machine)


def test_a_loop_device_whose_file_was_deleted_is_still_ours() -> None:
    machine = Machine()
    answers = [loops(("/dev/loop3", FILE + " (deleted)")), loops()]
    machine.tools["losetup --list"] = lambda _: answers.pop(0)
    DetachLoop(FILE).apply(machine.host())
    assert "losetup --detach /dev/loop3" in runs(machine)


def test_a_loop_device_that_somebody_else_is_about_to_attach_has_no_file() -> None:
    machine = Machine()
    answers = [loops(("/dev/loop0", None), ("/dev/loop3", FILE)), loops(("/dev/loop0", None))]
    machine.tools["losetup --list"] = lambda _: answers.pop(0)
    DetachLoop(FILE).apply(machine.host())
    assert "losetup --detach /dev/loop3" in runs(machine)


def test_a_loop_device_that_somebody_looks_at_for_a_moment_is_waited_for() -> None:
    machine = Machine()
    answers = [loops(("/dev/loop3", FILE))] * 3 + [loops()]
    machine.tools["losetup --list"] = lambda _: answers.pop(0)
    DetachLoop(FILE).apply(machine.host())
    assert runs(machine).count("losetup --detach /dev/loop3") == 1


def test_a_loop_device_that_was_let_go_since_it_was_listed_needs_no_detaching() -> None:
    machine = Machine()
    answers = [loops(("/dev/loop3", FILE)), loops()]
    machine.tools["losetup --list"] = lambda _: answers.pop(0)
    words = "losetup: /dev/loop3: detach failed: No such device or address"
    machine.tools["losetup --detach"] = lambda _: said(1, stderr=words)
    DetachLoop(FILE).apply(machine.host())
    assert answers == []


def test_a_loop_device_that_stays_because_it_is_in_use_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(storage, "_PATIENCE_S", 0)
    machine = Machine()
    machine.tools["losetup --list"] = lambda _: loops(("/dev/loop3", FILE))
    with pytest.raises(AgentRefusal, match=r"/dev/loop3 is still in use"):
        DetachLoop(FILE).apply(machine.host())


def test_an_array_is_stopped_by_its_uuid_under_whatever_name() -> None:
    machine = Machine()
    scan = (
        "ARRAY /dev/md127 metadata=1.2 name=x:0 UUID=aaaa:bbbb:cccc:dddd\n"
        "ARRAY /dev/md0 metadata=1.2 name=x:1 UUID=1111:2222:3333:4444\n"
    )
    machine.tools["mdadm --detail"] = lambda _: said(stdout=scan)
    StopArray("aaaa:bbbb:cccc:dddd", "steelyard-1").apply(machine.host())
    assert runs(machine)[1:] == ["mdadm --stop /dev/md127"]


def test_signatures_go_only_from_a_disk_with_our_serial_number() -> None:
    machine = Machine(
        files={"/sys/block/vdb/serial": "data-1\n", "/sys/block/sda/device/vpd_pg80": "\0"}
    )
    machine.tools["cat /sys/block/sda"] = lambda _: said(stdout="\0\x80\0\x06data-2")
    WipeSignatures("/dev/vdb", serial="data-1").apply(machine.host())
    WipeSignatures("/dev/sda", serial="data-2").apply(machine.host())
    WipeSignatures("/dev/vdb", serial="data-9").apply(machine.host())
    WipeSignatures("/dev/vdc", serial="data-1").apply(machine.host())
    WipeSignatures("/dev/vdb").apply(machine.host())
    wiped = [line for line in runs(machine) if line.startswith("wipefs")]
    assert wiped == ["wipefs --all --quiet /dev/vdb", "wipefs --all --quiet /dev/sda"]


@pytest.mark.parametrize(
    ("inverse", "tool", "refusal"),
    [
        (Unmount("/srv/run/mnt", "/dev/loop0"), "umount", "target is busy."),
        (
            WipeSignatures("/dev/loop0", backing_file=FILE),
            "wipefs",
            "probing initialization failed: Device or resource busy",
        ),
        (StopArray("aaaa", "steelyard-1"), "mdadm --stop", "Cannot get exclusive access to"),
    ],
)
def test_what_somebody_uses_for_a_moment_is_tried_again(
    inverse: Inverse, tool: str, refusal: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(storage, "_PATIENCE_S", 0.0)
    machine = Machine(files={MOUNT_TABLE: MOUNTED})
    machine.tools["losetup"] = lambda _: loops(("/dev/loop0", FILE))
    machine.tools["mdadm --detail"] = lambda _: said(stdout="ARRAY /dev/md0 UUID=aaaa\n")
    answers = [said(32, stderr=f"{tool}: {refusal}\n")] * 2 + [said()]
    machine.tools[tool] = lambda _: answers.pop(0)
    inverse.apply(machine.host())
    assert answers == []


def test_signatures_go_only_from_a_loop_device_of_our_file() -> None:
    machine = Machine()
    machine.tools["losetup"] = lambda _: loops(("/dev/loop0", "/home/theirs.img"))
    WipeSignatures("/dev/loop0", backing_file=FILE).apply(machine.host())
    assert not [line for line in runs(machine) if line.startswith("wipefs")]


def test_a_tool_is_not_run_when_nothing_is_left_to_undo() -> None:
    machine = Machine()
    inverse = Command(("ip", "link", "delete", "b"), "delete b", unless=("test", "!", "-e", "b"))
    inverse.apply(machine.host())
    assert runs(machine) == ["test ! -e b"]


def test_a_tool_that_fails_is_named_with_its_last_words() -> None:
    machine = Machine()
    machine.tools["ip"] = lambda _: said(1, stderr="first\nCannot find device\n")
    with pytest.raises(AgentRefusal, match="its last words: Cannot find device"):
        Command(("ip", "link", "delete", "b"), "delete b").apply(machine.host())


def test_a_tool_that_finds_nothing_left_to_undo_has_not_failed() -> None:
    machine = Machine()
    machine.tools["btrfs"] = lambda _: said(1, stderr="ERROR: No such file or directory\n")
    inverse = Command(("btrfs", "forget"), "let btrfs forget", fine="No such file")
    inverse.apply(machine.host())
    with pytest.raises(AgentRefusal):
        Command(("btrfs", "forget"), "let btrfs forget", fine="busy").apply(machine.host())


ALL = ["/proc/sys/vm/dirty_ratio", "/proc/sys/vm/dirty_bytes"]


class Paired(Machine):
    """Writing one of a pair makes the other 0, and 0 cannot be written."""

    def write_file(self, path: str, content: str, **_more: Any) -> None:
        if path in ALL and content == "0":
            raise refusal("write_file", "system", "Invalid argument")
        super().write_file(path, content)
        for other in set(ALL) - {path}:
            self.files[other] = "0"

    def listed(self, _argv: list[str]) -> Ran:
        return said(stdout="".join(f"{path}:{self.files[path]}\n" for path in ALL))


def kept(machine: Paired, values: dict[str, str]) -> RestoreValues:
    machine.tools["sh"] = machine.listed
    machine.files["/srv/before.json"] = json.dumps(values)
    return RestoreValues("/srv/before.json", sha256_of(json.dumps(values)), "boot-1")


def test_values_that_change_each_other_are_written_until_all_are_as_before() -> None:
    machine = Paired(files={ALL[0]: "0", ALL[1]: "4096"})
    kept(machine, {ALL[0]: "20", ALL[1]: "0"}).apply(machine.host())
    assert (machine.files[ALL[0]], machine.files[ALL[1]]) == ("20", "0")


def test_values_that_cannot_be_written_again_are_named() -> None:
    machine = Paired(files={ALL[0]: "20", ALL[1]: "0"}, refuses=set(ALL))
    with pytest.raises(AgentRefusal, match=r"dirty_ratio cannot be '10' again"):
        kept(machine, {ALL[0]: "10", ALL[1]: "0"}).apply(machine.host())


@pytest.mark.parametrize(("content", "words"), [(None, "has gone"), ("{}", "was changed")])
def test_values_are_not_guessed_when_what_kept_them_is_not_there(
    content: str | None, words: str
) -> None:
    machine = Paired(files={ALL[0]: "0", ALL[1]: "4096"})
    inverse = kept(machine, {ALL[0]: "20", ALL[1]: "0"})
    del machine.files["/srv/before.json"]
    if content is not None:
        machine.files["/srv/before.json"] = content
    with pytest.raises(AgentRefusal, match=words):
        inverse.apply(machine.host())


def test_a_cgroup_in_which_something_runs_is_kept_and_the_process_is_not_killed() -> None:
    group = "/sys/fs/cgroup/steelyard-7-a-1"
    machine = Machine(files={f"{group}/cgroup.procs": "4711\n"})
    with pytest.raises(AgentRefusal, match="process 4711 runs in it"):
        RemoveCgroup(group).apply(machine.host())
    machine.files[f"{group}/cgroup.procs"] = ""
    RemoveCgroup(group).apply(machine.host())
    assert runs(machine) == [f"rmdir {group}"]


def test_a_cgroup_without_our_mark_is_never_removed() -> None:
    machine = Machine(files={"/sys/fs/cgroup/system.slice/cgroup.procs": ""})
    with pytest.raises(AgentRefusal, match="no cgroup of ours"):
        RemoveCgroup("/sys/fs/cgroup/system.slice").apply(machine.host())


def test_the_profile_that_was_active_is_active_again() -> None:
    machine = Machine()
    machine.tools["tuned-adm active"] = lambda _: said(stdout="Current active profile: powersave\n")
    TunedProfile("balanced").apply(machine.host())
    TunedProfile("").apply(machine.host())
    TunedProfile("powersave").apply(machine.host())
    changing = [line for line in runs(machine) if line != "tuned-adm active"]
    assert changing == ["tuned-adm profile balanced", "tuned-adm off"]


def test_a_profile_stays_pending_while_no_daemon_of_tuned_answers() -> None:
    machine = Machine()
    machine.tools["tuned-adm"] = lambda _: said(1, stderr="Cannot talk to TuneD daemon via DBus.\n")
    with pytest.raises(AgentRefusal, match="no daemon"):
        TunedProfile("balanced").apply(machine.host())


def test_a_filesystem_of_somebody_else_is_not_mounted_anew() -> None:
    machine = Machine(files={MOUNT_TABLE: MOUNTED})
    Remount("/srv/run/mnt", "/dev/loop7", "relatime").apply(machine.host())
    assert machine.changes == []
    Remount("/srv/run/mnt", "/dev/loop0", "relatime,commit=0").apply(machine.host())
    assert runs(machine)[0].endswith("-o remount,atime,relatime,commit=0 /srv/run/mnt")


LISTED = '[{"Names": ["steelyard-7-a-1"], "State": "removing", "Labels": {"steelyard": "ours"}}]'


def test_a_container_whose_removal_was_cut_short_is_removed() -> None:
    machine = Machine()
    machine.tools["podman ps"] = lambda _: said(stdout=LISTED)
    machine.tools["podman container inspect"] = lambda _: said(125, stderr="container not known")
    RemoveContainer("steelyard-7-a-1", "ours").apply(machine.host())
    assert "podman rm --force --time=0 --volumes steelyard-7-a-1" in runs(machine)


def test_a_container_that_another_removed_meanwhile_needs_nothing() -> None:
    machine = Machine()
    listed = [LISTED, "[]"]
    machine.tools["podman ps"] = lambda _: said(stdout=listed.pop(0))
    machine.tools["podman rm"] = lambda _: said(1, stderr="no such container")
    RemoveContainer("steelyard-7-a-1", "ours").apply(machine.host())
    assert listed == []
