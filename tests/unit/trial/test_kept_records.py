"""A session keeps little of a record, and its looks say the same as of all of it."""

from __future__ import annotations

import math
from typing import Any

import pytest
from tests.golden.judged import CASES, record_of, study_of_case

from steelyard.judge.verdict import look
from steelyard.plan.make import make_plan
from steelyard.records.schema import Calibration, Measured, Outcome, TrialRecord
from steelyard.records.warnings import TrialWarning, WarningKind
from steelyard.trial.session_state import kept_records
from steelyard.trial.session_state.kept_records import KeptRecords

FACTS = {"system": {f"fact.{number}": "value" for number in range(200)}}


class Unread:
    """Stands for what no look may ask for."""

    def __getattribute__(self, name: str) -> Any:
        raise AssertionError(f"a look has asked for {name} of what a session does not keep")

    def __iter__(self) -> Any:
        raise AssertionError("a look has gone through what a session does not keep")

    def __bool__(self) -> bool:
        raise AssertionError("a look has asked for what a session does not keep")


def records_of(name: str) -> list[TrialRecord]:
    """Every third with a warning, every fifth near the capacity of the generator."""
    study = study_of_case(name)
    plan = make_plan(study, 3)
    trials = [trial for visit in plan.every_visit for trial in visit.trials]
    return [
        record_of(study, trial, math.exp(0.01 * (trial.trial * 7919 % 13))).model_copy(
            update={
                "facts": FACTS,
                "phases_ns": {"window": 1_000_000_000},
                "warnings": (TrialWarning(kind=WarningKind.STEAL, figures={"steal_ratio": 0.02}),)
                * (trial.trial % 3 == 0),
                "calibration": Calibration(capacity_per_s=2.0, ratio=0.5 + trial.trial % 5 / 5),
            }
        )
        for trial in trials
    ]


@pytest.mark.parametrize("name", CASES)
def test_looks_at_what_is_kept_say_what_looks_at_all_of_it_say(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    study, records = study_of_case(name), records_of(name)
    plan = make_plan(study, 3)
    unread = dict.fromkeys(kept_records._NOT_READ, Unread())
    monkeypatch.setattr(kept_records, "_NOT_READ", unread)
    kept = KeptRecords().of(records)
    for count in (len(records) // 2, len(records)):
        whole = look(study, plan, records[:count], sized=True)
        assert look(study, plan, kept[:count], sized=True) == whole


def test_what_is_kept_is_equal_in_all_that_is_read_and_shares_what_is_alike() -> None:
    one, other = KeptRecords().of(records_of("equal"))[:2]
    whole = records_of("equal")[0]
    read = set(TrialRecord.model_fields) - kept_records._NOT_READ.keys()
    assert one.model_dump(include=read) == whole.model_dump(include=read)
    assert one.facts == {}
    assert one.outcome is Outcome.OK
    assert one.facts is other.facts


def test_a_reason_that_many_trials_have_is_kept_once() -> None:
    missing = Measured.model_validate(
        {"value": None, "unit": "ns", "missing": {"kind": "not_measured"}}
    )
    records = [
        record.model_copy(update={"responses": {"response.p99": missing.model_copy(deep=True)}})
        for record in records_of("equal")[:2]
    ]
    one, other = KeptRecords().of(records)
    assert one.responses["response.p99"] == missing
    assert one.responses["response.p99"].missing is other.responses["response.p99"].missing
