"""An agent that ends while something is changed or undone: a new one undoes it."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.integration.conftest import STUDY

from steelyard.cli.session.new_run import new_run
from steelyard.errors import EngineError
from steelyard.hosts.undo.actions.inverse import Inverse
from steelyard.hosts.undo.log import PendingUndo, pending_undos
from steelyard.plan.make import make_plan
from steelyard.records.archive import Run
from steelyard.records.schema import Outcome
from steelyard.study.model import Study
from steelyard.study.read import read_study
from steelyard.systems.settings.changes import Changes
from steelyard.trial import finish
from steelyard.trial.attempt.attempt import Attempt
from steelyard.trial.session import run_session
from steelyard.trial.session_state.interrupt import Interrupt
from steelyard.trial.session_state.watcher import Silence


def three_visits(place: Path, text: str) -> tuple[Run, Study]:
    (place / "study.yaml").write_text(text, encoding="utf-8")
    study = read_study(place / "study.yaml")
    plan = make_plan(study, 5)
    few = plan.model_copy(update={"visits": plan.visits[:3]})
    return new_run(place, study, few, place / "results"), study


@pytest.mark.parametrize("step", ["end_services", "undo"])
def test_what_a_lost_agent_had_changed_is_undone_by_a_new_one_and_the_trial_is_repeated(
    step: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, study = three_visits(tmp_path, STUDY)
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


def test_what_an_agent_had_changed_that_ends_in_the_middle_of_a_step_is_undone_by_a_new_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "there").mkdir()
    disk = f"disks: {{data: {{folder: {tmp_path / 'there'}, size: 1 MiB}}}}"
    run, study = three_visits(
        tmp_path, STUDY.replace("platform: native", f"platform: native, {disk}")
    )
    plan, planned = Changes.plan, []

    def killing(changes: Changes, inverse: Inverse) -> PendingUndo:
        pending = plan(changes, inverse)
        planned.append(pending)
        if len(planned) == 2:
            changes.host.kill()
        return pending

    monkeypatch.setattr(Changes, "plan", killing)
    run_session(study, run, Silence(), Interrupt(lambda _: None))

    outcomes = {f"{each.trial:04d}-{each.attempt}": each.outcome for each in run.records()}
    assert outcomes.pop("0002-1") is Outcome.AGENT_LOST
    assert set(outcomes.values()) == {Outcome.OK}
    assert "0002-2" in outcomes
    assert pending_undos(run.events()) == []
    assert list((tmp_path / "there").iterdir()) == []


def test_systems_that_stay_up_are_taken_down_by_a_new_agent_where_theirs_is_lost_at_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, study = three_visits(tmp_path, STUDY.replace("reset: service", "reset: none"))
    assert study.trials.reset == "none"
    real, killed = finish.undo, []

    def killing(attempt: Attempt) -> None:
        if not killed:
            killed.append(attempt.key)
            attempt.instances[0].host.kill()
            raise EngineError("the agent has ended", slug="agent-is-lost")
        real(attempt)

    monkeypatch.setattr(finish, "undo", killing)
    run_session(study, run, Silence(), Interrupt(lambda _: None))

    assert len(killed) == 1
    assert {each.outcome for each in run.records()} == {Outcome.OK}
    assert pending_undos(run.events()) == []
