"""The machines before and after a session: what counts as a difference."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import cast

import pytest

from steelyard.errors import EngineError
from steelyard.hosts.environment import Environment
from steelyard.hosts.host import Host
from steelyard.hosts.undo.actions.files import WriteValue
from steelyard.hosts.undo.log import UndoLog
from steelyard.hosts.undo.ours import RunFolders
from steelyard.records.archive import Run
from steelyard.records.events import EnvironmentCompared, EnvironmentRecorded
from steelyard.records.ledger import Ledger
from steelyard.trial.session_state import environment
from steelyard.trial.session_state.environment import EnvironmentSnapshots

MARK = "0123abcd"
"""Of the run as far as snapshots ask for it; what is made bears that of the run's folder."""


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with Ledger(tmp_path / "ledger.jsonl") as opened:
        yield opened


def compared(
    tmp_path: Path,
    ledger: Ledger,
    monkeypatch: pytest.MonkeyPatch,
    before: Environment,
    after: Environment,
) -> list[tuple[str, str, str | None, str | None]]:
    seen = iter([before, after])
    monkeypatch.setattr(environment, "snapshot", lambda _host, _mark: next(seen))
    looked = EnvironmentSnapshots(Run(tmp_path), ledger, MARK)
    looked.look(["local"], lambda name: cast("Host", name))
    looked.compare(lambda name: cast("Host", name))
    event = ledger.events()[-1]
    assert isinstance(event, EnvironmentCompared)
    assert event.count == len(event.differences)
    return [(each.kind, each.name, each.before, each.after) for each in event.differences]


def others(ledger: Ledger) -> list[str]:
    event = ledger.events()[-1]
    assert isinstance(event, EnvironmentCompared)
    return [each.name for each in event.others]


def test_a_mount_of_the_run_that_stayed_is_reported_and_one_of_others_is_kept_apart(
    tmp_path: Path, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours = str(tmp_path / "scratch" / "0001-1" / "data")
    after = {"mount": {"/mnt": "/dev/x", ours: "/dev/loop3"}}
    found = compared(tmp_path, ledger, monkeypatch, {"mount": {}}, after)
    assert found == [("mount", ours, None, "/dev/loop3")]
    assert others(ledger) == ["/mnt"]


def test_a_value_that_the_run_set_is_its_own_with_those_beside_it_and_others_are_not(
    tmp_path: Path, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    vm, net = "/proc/sys/vm", "/proc/sys/net/core/somaxconn"
    before = {"value": {f"{vm}/dirty_ratio": "20", f"{vm}/dirty_bytes": "0", net: "128"}}
    after = {"value": {f"{vm}/dirty_ratio": "0", f"{vm}/dirty_bytes": "9", net: "512"}}
    UndoLog(ledger).plan("local", WriteValue(f"{vm}/dirty_ratio", "20", "boot"))
    found = compared(tmp_path, ledger, monkeypatch, before, after)
    assert [name for _, name, _, _ in found] == [f"{vm}/dirty_bytes", f"{vm}/dirty_ratio"]
    assert others(ledger) == [net]


def test_of_what_tools_of_a_platform_make_the_run_is_suspected(
    tmp_path: Path, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = "/var/lib/containers/storage/overlay/1/merged"
    after = {"mount": {store: "overlay"}, "interface": {"cni-podman0": "ff"}}
    found = compared(tmp_path, ledger, monkeypatch, {"mount": {}, "interface": {}}, after)
    assert [name for _, name, _, _ in found] == ["cni-podman0", store]


def test_what_bears_the_mark_of_another_run_is_not_ours(
    tmp_path: Path, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    after = {
        "container": {
            "steelyard-ffff0000-box-1": "theirs",
            f"steelyard-{RunFolders(tmp_path).mark}-box-1": "ours",
            "database": "a user's",
        }
    }
    found = compared(tmp_path, ledger, monkeypatch, {"container": {}}, after)
    assert len(found) == 2
    assert not any("ffff0000" in name for _, name, _, _ in found)


def test_a_machine_that_cannot_be_asked_is_reported_as_such(tmp_path: Path, ledger: Ledger) -> None:
    def gone(_name: str) -> Host:
        raise EngineError("the agent has ended", slug="agent-is-lost")

    looked = EnvironmentSnapshots(Run(tmp_path), ledger, MARK)
    looked.look(["ssh://far"], gone)
    event = ledger.events()[-1]
    assert isinstance(event, EnvironmentRecorded)
    assert event.not_listed == {"ssh://far": "the agent has ended"}


@pytest.mark.parametrize("left", [b"", b"{}\n"])
def test_a_session_that_was_killed_before_its_event_keeps_no_other_from_starting(
    tmp_path: Path, ledger: Ledger, left: bytes
) -> None:
    (tmp_path / "environment").mkdir()
    (tmp_path / "environment" / "1-before.json").write_bytes(left)
    (tmp_path / "environment" / ".new-1-after.json").write_bytes(left)
    looked = EnvironmentSnapshots(Run(tmp_path), ledger, MARK)
    looked.look([], lambda name: cast("Host", name))
    looked.compare(lambda name: cast("Host", name))
    kept = sorted(path.name for path in (tmp_path / "environment").iterdir())
    assert kept == ["1-before.json", "2-after.json", "2-before.json"]
