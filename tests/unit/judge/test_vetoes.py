"""What forbids a verdict that the tests would give."""

from __future__ import annotations

import math

import numpy as np
from tests.unit.judge.studies import a_record, a_study, measured, noisy

from steelyard.judge.findings import VerdictFinding, VerdictWord
from steelyard.judge.verdict import judge_study
from steelyard.plan.make import make_plan
from steelyard.plan.model import PlannedTrial
from steelyard.records.schema import AttemptFailure, Outcome, TrialRecord

FAILED = AttemptFailure(phase="check", message="stolen")


def with_invalid(every: int, *, of: tuple[str, ...] = ("fast", "durable")) -> VerdictFinding:
    """Every so-manieth trial of some systems was invalid at first and good when repeated."""
    study = a_study(users=(1,), per_cell=24)
    plan = make_plan(study, 3)
    records: list[TrialRecord] = []
    for record in measured(plan, noisy(0.8)):
        if record.cell.system in of and record.trial % every == 0:
            changes = {"outcome": Outcome.INVALID, "failure": FAILED}
            records.append(record.model_copy(update=changes))
            records.append(record.model_copy(update={"attempt": 2}))
        else:
            records.append(record)
    return judge_study(study, plan, records, run="r").verdicts[0]


def test_more_than_a_tenth_of_invalid_trials_refuses_the_study() -> None:
    verdict = with_invalid(4)
    assert verdict.word is VerdictWord.UNDECIDED
    assert verdict.withheld
    assert verdict.notes[0].startswith("refused: 12 of 60 measured trials were invalid")


def test_a_tenth_of_invalid_trials_is_left_out_as_always() -> None:
    assert with_invalid(12).word is VerdictWord.SLOWER


def test_invalid_trials_of_one_system_alone_are_kept_and_told() -> None:
    verdict = with_invalid(2, of=("durable",))
    assert any("so they were not left out" in note for note in verdict.notes)


def test_an_effect_that_turns_round_withholds_the_verdict() -> None:
    study = a_study(users=(1,), per_cell=24)
    plan = make_plan(study, 3)
    random = np.random.default_rng(1)

    def turning(trial: PlannedTrial) -> float:
        late = trial.visit > len(plan.visits) // 2
        ratio = (0.7 if not late else 1.1) if trial.cell.system == "durable" else 1.0
        return float(1000 * ratio * np.exp(random.normal(0, 0.005)))

    verdict = judge_study(study, plan, measured(plan, turning), run="r").verdicts[0]
    assert verdict.word is VerdictWord.UNDECIDED
    assert "changes sign" in verdict.notes[0]


def test_a_steady_effect_is_not_called_unstable() -> None:
    study = a_study(users=(1,), per_cell=24)
    plan = make_plan(study, 3)
    found = judge_study(study, plan, measured(plan, noisy(math.exp(-0.05), 0.03)), run="r")
    assert not found.verdicts[0].withheld


def test_crashed_attempts_are_a_response_of_their_own() -> None:
    study = a_study(users=(1,), per_cell=24)
    plan = make_plan(study, 3)
    value = noisy(0.8)
    records: list[TrialRecord] = []
    for visit in plan.visits:
        for trial in visit.trials:
            crashed = trial.cell.system == "durable" and trial.trial % 3 == 0
            if crashed:
                changes = {"outcome": Outcome.SERVICE_DIED, "failure": FAILED, "responses": {}}
                records.append(a_record(trial, 1.0, **changes))
            records.append(a_record(trial, value(trial), attempt=2 if crashed else 1))
    found = judge_study(study, plan, records, run="r")
    contrast = found.failure_contrasts[0]
    assert contrast.attempts_chance is not None
    assert contrast.attempts_chance < 0.05
    assert found.failures[1].attempts_failed > 0 == found.failures[0].attempts_failed
