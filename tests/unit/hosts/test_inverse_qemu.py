"""A machine that a dead controller left is ended; another's of the same name is not."""

from __future__ import annotations

from tests.unit.hosts.stand_in import Machine, said

from steelyard.hosts.undo.actions.qemu import EndMachine, machines, name_argv
from steelyard.hosts.undo.actions.table import read_inverse

OURS = f"qemu-system-x86_64 -name {name_argv('steelyard-a-1')} -pidfile /run/a/qemu.pid -m 1"
THEIRS = f"qemu-system-x86_64 -name {name_argv('steelyard-a-1')} -pidfile /run/b/qemu.pid -m 1"
STAT = "41 (qemu (x) y) S 1 41 41 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 777 0 0"


def host_with(*lines: str) -> Machine:
    listed = "".join(f"{pid} {line}\n" for pid, line in enumerate(lines, start=41))
    return Machine(files={"/proc/41/stat": STAT}, tools={"ps -eww": lambda _: said(stdout=listed)})


def test_only_the_machine_of_this_folder_is_ended() -> None:
    machine = host_with(OURS, THEIRS)
    EndMachine("steelyard-a-1", "/run/a").apply(machine.host())
    assert [change for change in machine.changes if change[0] == "kill"] == [("kill", 41, 777)]


def test_a_name_is_taken_whoever_has_it() -> None:
    assert machines(host_with("bash", THEIRS).host(), "steelyard-a-1") == [42]
    assert machines(host_with("bash", THEIRS).host(), "steelyard-a") == []


def test_a_machine_that_is_gone_is_no_reason_to_complain() -> None:
    machine = host_with("bash")
    EndMachine("steelyard-a-1", "/run/a").apply(machine.host())
    assert [change[0] for change in machine.changes] == ["run"]


def test_it_is_read_from_the_ledger_as_it_was_written() -> None:
    fields = {"label": "steelyard-a-1", "folder": "/run/a", "kind": "end_machine"}
    assert read_inverse(fields) == EndMachine("steelyard-a-1", "/run/a")
