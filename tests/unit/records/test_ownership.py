"""A run is acted on only if nobody else can have written it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from steelyard.errors import RecordError
from steelyard.records.ledger import Ledger, refuse_foreign_run


@pytest.fixture
def run(tmp_path: Path) -> Path:
    (tmp_path / "trials").mkdir()
    (tmp_path / "ledger.jsonl").write_bytes(b"")
    tmp_path.chmod(0o755)
    return tmp_path


def test_a_run_of_ones_own_is_acted_on(run: Path) -> None:
    refuse_foreign_run(run)


@pytest.mark.parametrize("name", ["ledger.jsonl", "trials", "."])
def test_what_belongs_to_another_user_is_refused(
    run: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: (run / name).lstat().st_uid + 1)
    with pytest.raises(RecordError) as caught:
        refuse_foreign_run(run)
    assert caught.value.slug == "run-of-another-user"


@pytest.mark.parametrize("name", ["ledger.jsonl", "trials", "."])
def test_what_every_user_can_write_is_refused(run: Path, name: str) -> None:
    (run / name).chmod(0o777)
    with pytest.raises(RecordError, match="every user"):
        refuse_foreign_run(run)


def test_a_ledger_that_is_a_link_is_not_followed(run: Path) -> None:
    (run / "ledger.jsonl").rename(run / "other.jsonl")
    (run / "ledger.jsonl").symlink_to(run / "other.jsonl")
    with pytest.raises(RecordError, match="link"):
        refuse_foreign_run(run)
    with pytest.raises(OSError, match="symbolic links"):
        Ledger(run / "ledger.jsonl")
