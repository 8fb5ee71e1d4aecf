"""The machines before and after a session: what counts as a difference."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import cast

import pytest

from steelyard.errors import EngineError
from steelyard.hosts.environment import Environment
from steelyard.hosts.host import Host
from steelyard.records.archive import Run
from steelyard.records.events import EnvironmentCompared, EnvironmentRecorded
from steelyard.records.ledger import Ledger
from steelyard.trial.session_state import environment
from steelyard.trial.session_state.environment import EnvironmentSnapshots

MARK = "0123abcd"


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
    return [(each.kind, each.name, each.before, each.after) for each in event.differences]


def test_a_mount_that_stayed_is_reported(
    tmp_path: Path, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = compared(tmp_path, ledger, monkeypatch, {"mount": {}}, {"mount": {"/mnt": "/dev/x"}})
    assert found == [("mount", "/mnt", None, "/dev/x")]


def test_what_bears_the_mark_of_another_run_is_not_ours(
    tmp_path: Path, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    after = {
        "container": {
            "steelyard-ffff0000-box-1": "theirs",
            f"steelyard-{MARK}-box-1": "ours",
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
    looked = EnvironmentSnapshots(Run(tmp_path), ledger, MARK)
    looked.look([], lambda name: cast("Host", name))
    looked.compare(lambda name: cast("Host", name))
    kept = sorted(path.name for path in (tmp_path / "environment").iterdir())
    assert kept == ["1-before.json", "2-after.json", "2-before.json"]
