"""Before and after: what differs is reported, and what moves by itself is distinguished."""

from __future__ import annotations

import pytest
from tests.unit.hosts.stand_in import Machine, said

from steelyard.engine.agent import AgentRefusal
from steelyard.hosts.environment import Difference, differences, snapshot
from steelyard.hosts.environment.differences import MOVING
from steelyard.hosts.environment.snapshot import parse_sections


def test_what_came_went_or_changed_is_reported_by_kind_and_name() -> None:
    before = {"mount": {"/a": "x", "/b": "x"}, "array": {}}
    after = {"mount": {"/a": "y", "/c": "x"}, "array": {"md0": "active"}}
    assert [str(difference) for difference in differences(before, after)] == [
        "array md0: was not there, is 'active'",
        "mount /a: was 'x', is 'y'",
        "mount /b: was 'x', is gone",
        "mount /c: was not there, is 'x'",
    ]


def test_what_moves_by_itself_bears_its_reason() -> None:
    path = "/sys/block/loop3/queue/read_ahead_kb"
    [difference] = differences({"value": {path: "128"}}, {"value": {path: "2560"}})
    assert difference.reason is not None
    scheduler = "/sys/block/loop3/queue/scheduler"
    [difference] = differences({"value": {scheduler: "none"}}, {"value": {scheduler: "bfq"}})
    assert difference.reason is None


def test_a_kind_that_only_one_could_tell_is_a_difference_and_not_silence() -> None:
    assert differences({"container": {}}, {}) == [Difference("container", "(all)", "told", None)]


def test_equal_machines_do_not_differ() -> None:
    environment = {"mount": {"/": "x"}, "value": {"/proc/sys/vm/swappiness": "60"}}
    assert differences(environment, environment) == []


@pytest.mark.parametrize("moving", MOVING, ids=lambda moving: moving.pattern)
def test_every_exception_says_why(moving: object) -> None:
    assert len(getattr(moving, "reason", "").split()) >= 4


def test_sections_keep_what_a_name_is_like() -> None:
    listed = "### loop device\nloop0\t/a b.img\n### array\n### folder\n/tmp/steelyard-1\tthere\n"
    assert parse_sections(listed) == {
        "loop device": {"loop0": "/a b.img"},
        "array": {},
        "folder": {"/tmp/steelyard-1": "there"},
    }


def test_a_listing_that_was_cut_off_is_no_snapshot() -> None:
    machine = Machine()
    machine.tools["sh"] = lambda _: said(0, stdout="### array\n").model_copy(
        update={"stdout_truncated": True}
    )
    with pytest.raises(AgentRefusal, match="cannot list"):
        snapshot(machine.host())


@pytest.mark.parametrize("daemon", [True, False])
def test_tuned_is_asked_for_its_profile_where_its_daemon_runs(daemon: bool) -> None:
    machine = Machine()
    listed = "### daemon\n" + "tuned\tthere\n" * daemon
    machine.tools["sh"] = lambda _: said(0, stdout=listed)
    machine.tools["tuned-adm"] = lambda _: said(0, stdout="Current active profile: powersave\n")
    found = snapshot(machine.host())
    assert found.get("profile") == ({"tuned": "powersave"} if daemon else None)
    assert "daemon" not in found
