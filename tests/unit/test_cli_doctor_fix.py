"""`steelyard doctor --fix` on a machine that is not there: changed, undone, refused as a whole."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.hosts.stand_in import MOUNT_TABLE, Machine, said

from steelyard.cli.doctor.fixing import fix_machines, undo_fixes, wanted_by
from steelyard.cli.doctor.rules import RULES, Check, rule_checks
from steelyard.errors import HostError, RecordError
from steelyard.hosts.host import Host
from steelyard.hosts.undo.log import pending_undos
from steelyard.records.ledger import Ledger, read_ledger
from steelyard.study.declared.machine import declared_setting
from steelyard.study.declared.value import read_value

CPU = "/sys/devices/system/cpu"
GOVERNOR = f"{CPU}/cpu0/cpufreq/scaling_governor"
THP = "/sys/kernel/mm/transparent_hugepage/enabled"
QUEUE = "/proc/sys/net/core/somaxconn"
BEFORE = {GOVERNOR: "powersave", QUEUE: "128"}
NOTED = {"cpu.governor": "powersave", "sysctl.net.core.somaxconn": "128", "swap.used_kib": "2048"}


def machine() -> Machine:
    made = Machine(files={MOUNT_TABLE: "", **BEFORE})
    made.tools["find /sys/devices"] = lambda _: said(stdout=f"{CPU}/cpu0\n")
    return made


def fix(here: Machine, folder: Path) -> list[str]:
    def opened(_: str) -> Host:
        return here.host()

    changed = fix_machines(wanted_by(rule_checks(dict(NOTED))), opened, folder)
    return [applied.setting for applied in changed]


def values(here: Machine) -> dict[str, str]:
    return {path: here.files[path] for path in BEFORE}


def test_every_level_that_a_rule_names_is_one_of_its_setting_and_pleases_the_rule() -> None:
    settable = [rule for rule in RULES if rule.level is not None]
    assert len(settable) == 9
    for rule in settable:
        assert rule.level is not None
        declared = declared_setting(rule.setting or rule.fact)
        assert declared is not None
        assert read_value(rule.level, declared) is not None
        assert rule.kept(rule.level)


def test_only_what_is_noted_and_has_a_setting_is_asked_for() -> None:
    wanted = wanted_by([*rule_checks(dict(NOTED)), Check("machine", "bad", "gone", machine="far")])
    assert wanted == {"local": {"governor": "performance", "sysctl.net.core.somaxconn": "4096"}}


def test_what_is_fixed_is_undone_by_the_ledger(tmp_path: Path) -> None:
    here = machine()
    assert sorted(fix(here, tmp_path)) == ["governor", "sysctl.net.core.somaxconn"]
    assert values(here) == {GOVERNOR: "performance", QUEUE: "4096"}
    assert len(pending_undos(read_ledger(tmp_path / "ledger.jsonl"))) == 2
    restored = undo_fixes(tmp_path, lambda _: here.host())
    assert (len(restored.undone), restored.left) == (2, [])
    assert values(here) == BEFORE
    assert undo_fixes(tmp_path, lambda _: here.host()).undone == []


def test_two_fixes_in_a_row_are_undone_to_what_was_before_the_first(tmp_path: Path) -> None:
    here = machine()
    fix(here, tmp_path)
    here.files[QUEUE] = BEFORE[QUEUE]
    fix(here, tmp_path)
    assert undo_fixes(tmp_path, lambda _: here.host()).left == []
    assert values(here) == BEFORE


@pytest.mark.parametrize("again", [False, True])
def test_a_value_that_somebody_else_has_written_since_stays(tmp_path: Path, again: bool) -> None:
    here = machine()
    fix(here, tmp_path)
    here.files[QUEUE] = "256"
    if again:
        fix(here, tmp_path)
    (left,) = undo_fixes(tmp_path, lambda _: here.host()).left
    assert values(here) == {**BEFORE, QUEUE: "256"}
    assert "'256'" in left.why
    assert "'128'" in str(left.hint)
    here.files[QUEUE] = BEFORE[QUEUE]
    assert undo_fixes(tmp_path, lambda _: here.host()).left == []


def test_without_rights_nothing_is_changed_and_all_are_named_at_once(tmp_path: Path) -> None:
    here = machine()
    here.tools["test -w"] = lambda _: said(1)
    with pytest.raises(HostError) as refused:
        fix(here, tmp_path)
    assert values(here) == BEFORE
    assert "`governor`, `sysctl.net.core.somaxconn`" in refused.value.message
    assert refused.value.hint is not None
    assert not (tmp_path / "ledger.jsonl").exists()


def test_a_value_that_does_not_take_leaves_all_as_it_was(tmp_path: Path) -> None:
    here = machine()
    here.refuses.add(QUEUE)
    with pytest.raises(Exception, match="somaxconn"):
        fix(here, tmp_path)
    assert values(here) == BEFORE


def test_nothing_is_undone_after_a_boot(tmp_path: Path) -> None:
    here = machine()
    fix(here, tmp_path)
    here.boot_id = "boot-2"
    assert undo_fixes(tmp_path, lambda _: here.host()).left == []
    assert values(here) == {GOVERNOR: "performance", QUEUE: "4096"}


def test_two_doctors_do_not_fix_at_once(tmp_path: Path) -> None:
    with Ledger(tmp_path / "ledger.jsonl"), pytest.raises(RecordError):
        fix(machine(), tmp_path)


def test_where_nothing_was_fixed_nothing_is_undone(tmp_path: Path) -> None:
    assert undo_fixes(tmp_path / "none", lambda _: machine().host()).undone == []
