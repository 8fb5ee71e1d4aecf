"""Settings on a machine that is not there: what the one at hand cannot show."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.unit.hosts.stand_in import MOUNT_TABLE, Machine, refusal, runs, said

from steelyard.engine.agent import AgentRefusal
from steelyard.engine.messages import Ran
from steelyard.hosts.failures import SystemFailure
from steelyard.hosts.undo.log import UndoLog
from steelyard.records.ledger import Ledger
from steelyard.records.schema import Outcome
from steelyard.study.declared.machine import declared_setting, declared_settings, flat_settings
from steelyard.study.declared.value import read_value
from steelyard.systems.settings import (
    Applied,
    Place,
    apply_settings,
    held_values,
    revert_settings,
    setting_facts,
)
from steelyard.systems.settings.apply import SETTINGS
from steelyard.systems.settings.command_line import boot_arguments
from steelyard.trial.attempt.outcomes import RETRY_HELPS, TrialFailed
from steelyard.trial.attempt.prepare import refuse_changed_settings
from steelyard.units import UnitError

PLACE = Place("steelyard-7-a-1", "/srv/a", ("/dev/vdb",))
CPU = "/sys/devices/system/cpu"


@pytest.fixture
def undo(tmp_path: Path) -> Iterator[UndoLog]:
    with Ledger(tmp_path / "ledger.jsonl") as ledger:
        yield UndoLog(ledger)


def governed(*governors: str) -> Machine:
    names = [f"cpu{number}" for number in range(len(governors))]
    files = {
        f"{CPU}/{name}/cpufreq/scaling_governor": governor
        for name, governor in zip(names, governors, strict=True)
    }
    machine = Machine(files={MOUNT_TABLE: "", **files})
    machine.tools["find /sys/devices"] = lambda _: said(
        stdout="".join(f"{CPU}/{name}\n" for name in names)
    )
    return machine


def test_whatever_is_declared_can_be_done_and_the_other_way_round() -> None:
    assert {name.partition(".")[0] for name in declared_settings()} == set(SETTINGS)


@pytest.mark.parametrize("name", declared_settings())
def test_off_is_a_level_of_every_setting_and_its_meaning_is_said(name: str) -> None:
    setting = declared_settings()[name]
    assert setting.off
    assert read_value("off", setting) == read_value(False, setting) == "off"


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("sysctl.vm.swappiness", True),
        ("sysctl.net.ipv4.conf.eth0/7.rp_filter", True),
        ("sysctl.vm/../x", False),
        ("sysctl", False),
        ("tuned.balanced", False),
        ("cgroup.cpus", True),
        ("cgroup", False),
        ("module.kyber-iosched", True),
    ],
)
def test_a_family_wants_a_key_and_others_take_none(name: str, known: bool) -> None:
    assert (declared_setting(name) is not None) == known


def test_a_level_that_cannot_be_is_refused_before_any_machine_is_asked() -> None:
    with pytest.raises(UnitError, match="is not one of the choices"):
        read_value("fast", declared_settings()["turbo"])


def test_nested_settings_are_those_with_dotted_names() -> None:
    nested = {"sysctl": {"vm.swappiness": 1, "net": {"core.somaxconn": 2}}, "thp": "never"}
    flat = {"sysctl.vm.swappiness": 1, "sysctl.net.core.somaxconn": 2, "thp": "never"}
    assert flat_settings(nested) == flat


def test_every_processor_gets_the_governor_and_its_own_again(undo: UndoLog) -> None:
    machine = governed("powersave\n", "schedutil\n", "performance\n")
    before = dict(machine.files)
    applied = apply_settings(machine.host(), {"governor": "performance"}, undo, PLACE)
    assert setting_facts(machine.host(), applied) == {"setting.governor": "performance"}
    assert len(undo.pending()) == 2, "what holds already needs no inverse"
    revert_settings(machine.host(), applied, undo)
    assert {p: v.strip() for p, v in machine.files.items()} == {
        p: v.strip() for p, v in before.items()
    }


def test_the_inverse_is_in_the_ledger_when_the_value_is_written(undo: UndoLog) -> None:
    class Watched(Machine):
        def write_file(self, path: str, content: str, **_more: object) -> None:
            assert str(undo.pending()[0].inverse) == f"write '60' to {path} again"
            super().write_file(path, content)

    machine = Watched(files={"/proc/sys/vm/swappiness": "60\n"})
    apply_settings(machine.host(), {"sysctl.vm.swappiness": 10}, undo, PLACE)
    assert machine.changes == [("write", "/proc/sys/vm/swappiness", "10")]


@pytest.mark.parametrize(
    ("file", "level", "written"),
    [
        ("intel_pstate/no_turbo", "off", "1"),
        ("intel_pstate/no_turbo", "on", "0"),
        ("cpufreq/boost", "off", "0"),
        ("cpufreq/boost", "on", "1"),
    ],
)
def test_turbo_is_switched_by_whichever_file_there_is(
    undo: UndoLog, file: str, level: str, written: str
) -> None:
    machine = Machine(files={f"{CPU}/{file}": "7"})
    apply_settings(machine.host(), {"turbo": level}, undo, PLACE)
    assert machine.changes == [("write", f"{CPU}/{file}", written)]


def test_a_machine_without_the_files_says_where_they_would_be(undo: UndoLog) -> None:
    with pytest.raises(SystemFailure, match=r"not available here.*no_turbo.*boost") as caught:
        apply_settings(Machine().host(), {"turbo": "on"}, undo, PLACE)
    assert caught.value.kind == "not_supported"


def test_a_value_that_does_not_stay_is_a_failure_and_is_undone(undo: UndoLog) -> None:
    class Rounding(Machine):
        def write_file(self, path: str, content: str, **_more: object) -> None:
            super().write_file(path, "128" if content == "100" else content)

    path = "/sys/block/vdb/queue/read_ahead_kb"
    machine = Rounding(files={path: "256\n"})
    with pytest.raises(SystemFailure, match=r"'100' was written .* shows '128'"):
        apply_settings(machine.host(), {"read_ahead": 100 * 1024}, undo, PLACE)
    assert machine.files[path] == "256"
    assert undo.pending() == []


def test_a_value_that_may_not_be_written_is_a_matter_of_rights(undo: UndoLog) -> None:
    class ReadOnly(Machine):
        def write_file(self, path: str, *_content: str, **_more: object) -> None:
            raise refusal("write_file", "permission_denied", f"cannot write {path}: not permitted")

    machine = ReadOnly(files={"/proc/sys/vm/swappiness": "60\n"})
    with pytest.raises(SystemFailure) as caught:
        apply_settings(machine.host(), {"sysctl.vm.swappiness": 10}, undo, PLACE)
    assert caught.value.kind == "no_rights"
    assert undo.pending() != [], "what cannot be undone now is not forgotten"


def test_settings_are_applied_in_the_order_of_the_catalogue(undo: UndoLog) -> None:
    thp = "/sys/kernel/mm/transparent_hugepage/enabled"
    machine = Machine(files={thp: "[madvise] never\n", "/proc/sys/vm/swappiness": "60\n"})
    wanted = {"sysctl.vm.swappiness": 10, "thp": "never"}
    apply_settings(machine.host(), wanted, undo, PLACE)
    assert [path for _, path, _ in machine.changes] == [thp, "/proc/sys/vm/swappiness"]


def test_a_setting_that_changed_by_the_end_of_the_window_fails_the_trial(undo: UndoLog) -> None:
    path = "/proc/sys/vm/swappiness"
    machine = Machine(files={MOUNT_TABLE: "", path: "60"})
    applied = apply_settings(machine.host(), {"sysctl.vm.swappiness": 10}, undo, PLACE)
    held = held_values(machine.host(), applied)
    refuse_changed_settings(machine.host(), applied, held)
    machine.files[path] = "30"
    with pytest.raises(TrialFailed) as failed:
        refuse_changed_settings(machine.host(), applied, held)
    assert failed.value.outcome is Outcome.SETTING_CHANGED
    assert failed.value.outcome in RETRY_HELPS
    assert "'10'" in failed.value.message
    assert "'30'" in failed.value.message


def test_values_that_a_profile_set_are_read_back_each() -> None:
    path = "/proc/sys/vm/dirty_ratio"
    machine = Machine(files={path: "40"})
    applied = [Applied("tuned", "throughput-performance", also_set=(path,))]
    held = held_values(machine.host(), applied)
    del machine.files[path]
    with pytest.raises(TrialFailed, match="dirty_ratio"):
        refuse_changed_settings(machine.host(), applied, held)


def test_one_that_cannot_be_undone_keeps_no_other(undo: UndoLog) -> None:
    machine = Machine(files={"/proc/sys/vm/a": "1", "/proc/sys/vm/b": "1"})
    applied = apply_settings(machine.host(), {"sysctl.vm.a": 2, "sysctl.vm.b": 2}, undo, PLACE)
    machine.refuses = {"/proc/sys/vm/b"}
    with pytest.raises(AgentRefusal):
        revert_settings(machine.host(), applied, undo)
    assert machine.files["/proc/sys/vm/a"] == "1"
    assert [str(p.inverse) for p in undo.pending()] == ["write '1' to /proc/sys/vm/b again"]


class Daemon:
    """A daemon of tuned, as its command line reports it."""

    def __init__(self, machine: Machine, active: str, *, verifies: bool = True) -> None:
        self.active = active
        machine.tools["tuned-adm active"] = lambda _: said(
            stdout=f"Current active profile: {self.active}\n"
            if self.active
            else "No current active profile.\n"
        )
        machine.tools["tuned-adm profile"] = lambda words: self.become(words[-1])
        machine.tools["tuned-adm off"] = lambda _: self.become("")
        machine.tools["tuned-adm verify"] = lambda _: said(0 if verifies else 1)

    def become(self, profile: str) -> Ran:
        self.active = profile
        return said()


def with_profile(name: str) -> Machine:
    return Machine(files={f"/usr/lib/tuned/{name}/tuned.conf": "[main]\n", MOUNT_TABLE: ""})


@pytest.mark.parametrize("before", ["balanced", ""])
def test_the_daemon_of_tuned_gets_the_profile_and_its_former_one_again(
    undo: UndoLog, before: str
) -> None:
    machine = with_profile("powersave")
    daemon = Daemon(machine, before, verifies=False)
    applied = apply_settings(machine.host(), {"tuned": "powersave"}, undo, PLACE)
    assert daemon.active == "powersave"
    facts = setting_facts(machine.host(), applied)
    assert facts["setting.tuned.verified"] == "no, by tuned-adm verify"
    revert_settings(machine.host(), applied, undo)
    assert daemon.active == before


def test_off_switches_the_daemon_of_tuned_off_and_on_again(undo: UndoLog) -> None:
    machine = Machine()
    daemon = Daemon(machine, "balanced")
    applied = apply_settings(machine.host(), {"tuned": "off"}, undo, PLACE)
    assert daemon.active == ""
    revert_settings(machine.host(), applied, undo)
    assert daemon.active == "balanced"


def test_a_profile_that_the_daemon_does_not_take_is_a_failure(undo: UndoLog) -> None:
    machine = with_profile("powersave")
    daemon = Daemon(machine, "balanced")
    machine.tools["tuned-adm profile"] = lambda _: said()
    with pytest.raises(SystemFailure, match="did not become active: balanced"):
        apply_settings(machine.host(), {"tuned": "powersave"}, undo, PLACE)
    assert daemon.active == "balanced"


def test_a_machine_without_tuned_has_it_off_already(undo: UndoLog) -> None:
    class Bare(Machine):
        def run(self, argv: list[str], **_more: object) -> Ran:
            raise refusal("run", "not_found", f"{argv[0]} is not there")

    applied = apply_settings(Bare().host(), {"tuned": "off"}, undo, PLACE)
    assert applied[0].undos == ()


def test_a_module_that_was_there_before_is_not_removed(undo: UndoLog) -> None:
    machine = Machine(files={"/sys/module/kyber_iosched/refcnt": "1"})
    applied = apply_settings(machine.host(), {"module.kyber-iosched": "loaded"}, undo, PLACE)
    assert setting_facts(machine.host(), applied) == {
        "setting.module.kyber-iosched": "loaded before"
    }
    assert runs(machine) == []


def test_a_module_that_was_loaded_is_removed(undo: UndoLog) -> None:
    machine = Machine()

    def load(_: list[str]) -> Ran:
        machine.files["/sys/module/bfq/refcnt"] = "0"
        return said()

    machine.tools["modprobe bfq"] = load
    machine.tools["test"] = lambda _: said(1)
    applied = apply_settings(machine.host(), {"module.bfq": "loaded"}, undo, PLACE)
    revert_settings(machine.host(), applied, undo)
    assert runs(machine)[-1] == "modprobe -r bfq"


V2 = "30 1 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"


def test_all_limits_are_one_group_in_version_2(undo: UndoLog) -> None:
    machine = Machine(
        files={MOUNT_TABLE: V2, "/sys/fs/cgroup/cgroup.subtree_control": "cpu memory\n"}
    )
    group = "/sys/fs/cgroup/steelyard-7-a-1"

    def make(path: str) -> None:
        machine.files |= {f"{path}/cpu.max": "max 100000", f"{path}/memory.max": "max"}

    machine.make_directory = make  # type: ignore[method-assign]
    limits = {"cgroup.cpus": 1.5, "cgroup.memory": 2**26}
    applied = apply_settings(machine.host(), limits, undo, PLACE)
    assert machine.files[f"{group}/cpu.max"] == "150000 100000"
    assert machine.files[f"{group}/memory.max"] == str(2**26)
    assert [one.enter[4:] for one in applied if one.enter] == [(group, "--")]


def test_a_controller_that_is_not_given_to_children_is_named_and_not_taken(undo: UndoLog) -> None:
    machine = Machine(files={MOUNT_TABLE: V2, "/sys/fs/cgroup/cgroup.subtree_control": "io\n"})
    with pytest.raises(SystemFailure, match="gives the controller cpu") as caught:
        apply_settings(machine.host(), {"cgroup.cpus": 1}, undo, PLACE)
    assert "subtree_control" in (caught.value.hint or "")


def test_a_group_that_is_not_ours_is_never_entered(undo: UndoLog) -> None:
    machine = Machine(
        files={
            MOUNT_TABLE: V2,
            "/sys/fs/cgroup/cgroup.subtree_control": "cpu\n",
            "/sys/fs/cgroup/steelyard-7-a-1/cpu.max": "max 100000",
        }
    )
    with pytest.raises(SystemFailure) as caught:
        apply_settings(machine.host(), {"cgroup.cpus": 1}, undo, PLACE)
    assert caught.value.kind == "name_taken"


def test_words_for_the_kernel_are_handed_to_who_boots_it_and_checked_after(undo: UndoLog) -> None:
    settings = {"command_line": "mitigations=off nosmt"}
    assert boot_arguments(settings) == "mitigations=off nosmt"
    assert boot_arguments({"command_line": "off"}) == boot_arguments({}) == ""
    machine = Machine(files={"/proc/cmdline": "console=ttyS0 mitigations=off nosmt\n"})
    applied = apply_settings(machine.host(), settings, undo, PLACE)
    assert applied[0].undos == ()
    machine.files["/proc/cmdline"] = "console=ttyS0 mitigations=off\n"
    with pytest.raises(SystemFailure, match="booted without `nosmt`"):
        apply_settings(machine.host(), settings, undo, PLACE)


def test_a_name_that_no_one_declared_is_refused(undo: UndoLog) -> None:
    with pytest.raises(SystemFailure, match="there is no setting `tune`"):
        apply_settings(Machine().host(), {"tune": "balanced"}, undo, PLACE)
