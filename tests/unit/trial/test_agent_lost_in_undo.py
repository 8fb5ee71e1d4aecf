"""An agent that ends while a trial is undone: a new one undoes it, and the trial is repeated."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.integration.conftest import STUDY

from steelyard.cli.session.new_run import new_run
from steelyard.errors import EngineError
from steelyard.hosts.undo.log import pending_undos
from steelyard.plan.make import make_plan
from steelyard.records.schema import Outcome
from steelyard.study.read import read_study
from steelyard.trial import finish
from steelyard.trial.attempt.attempt import Attempt
from steelyard.trial.session import run_session
from steelyard.trial.session_state.interrupt import Interrupt
from steelyard.trial.session_state.watcher import Silence


@pytest.mark.parametrize("step", ["end_services", "undo"])
def test_what_a_lost_agent_had_changed_is_undone_by_a_new_one_and_the_trial_is_repeated(
    step: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "study.yaml").write_text(STUDY, encoding="utf-8")
    study = read_study(tmp_path / "study.yaml")
    plan = make_plan(study, 5)
    few = plan.model_copy(update={"visits": plan.visits[:3]})
    run = new_run(tmp_path, study, few, tmp_path / "results")
    real, killed = getattr(finish, step), []

    def killing(attempt: Attempt) -> None:
        if attempt.trial.trial == 2 and not killed:
            killed.append(attempt.key)
            attempt.instances[0].host.kill()
            raise EngineError("the agent has ended", slug="agent-is-lost")
        real(attempt)

    monkeypatch.setattr(finish, step, killing)
    run_session(study, run, Silence(), Interrupt(lambda _: None))

    assert killed == ["0002-1"]
    outcomes = {f"{each.trial:04d}-{each.attempt}": each.outcome for each in run.records()}
    assert outcomes.pop("0002-1") is Outcome.AGENT_LOST
    assert set(outcomes.values()) == {Outcome.OK}
    assert "0002-2" in outcomes
    assert pending_undos(run.events()) == []
