"""A session whose records cannot be written ends with a message, before anything has started."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest
from tests.integration.conftest import STUDY

from steelyard.cli.session.new_run import new_run
from steelyard.errors import HostError
from steelyard.plan.make import make_plan
from steelyard.study.read import read_study
from steelyard.trial.session import run_session
from steelyard.trial.session_state.interrupt import Interrupt
from steelyard.trial.session_state.watcher import Silence


@pytest.mark.parametrize("call", ["open", "ftruncate", "lseek"])
def test_a_ledger_that_cannot_be_opened_is_an_error_of_the_disk(
    call: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "study.yaml").write_text(STUDY, encoding="utf-8")
    study = read_study(tmp_path / "study.yaml")
    run = new_run(tmp_path, study, make_plan(study, 5), tmp_path / "results")

    def fails(*_: object, **__: object) -> int:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(f"steelyard.records.ledger.os.{call}", fails)
    with pytest.raises(HostError) as refused:
        run_session(study, run, Silence(), Interrupt(lambda _: None))
    monkeypatch.undo()
    assert refused.value.slug == "records-cannot-be-written"
    assert run.events() == []
