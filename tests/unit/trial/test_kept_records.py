"""A session keeps little of a record, and its looks say the same as of all of it."""

from __future__ import annotations

import gc
import math
import tracemalloc
from typing import Any

import pytest
from tests.golden.judged import CASES, record_of, study_of_case

from steelyard.judge.verdict import look
from steelyard.plan.make import make_plan
from steelyard.records.schema import Calibration, Measured, Outcome, TrialRecord
from steelyard.records.warnings import Bottleneck, Resource, TrialWarning, WarningKind
from steelyard.trial.session_state import kept_records
from steelyard.trial.session_state.kept_records import KeptRecords

STOLEN = {"machine": "system", "steal_ratio": 0.02}
DISK = Bottleneck(resource=Resource.DISK_BUSY_TIME, share=0.9)
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
                "warnings": (TrialWarning(kind=WarningKind.STEAL, figures=STOLEN),)
                * (trial.trial % 3 == 0),
                "bottleneck": DISK if trial.trial % 7 == 0 else None,
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
    others = {"responses", "warnings", "bottleneck"}
    read = set(TrialRecord.model_fields) - kept_records._NOT_READ.keys() - others
    assert one.model_dump(include=read) == whole.model_dump(include=read)
    assert one.responses == whole.responses
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


def test_of_warnings_and_bottlenecks_only_figures_that_looks_read_are_kept() -> None:
    kept = KeptRecords().of(records_of("equal"))
    stolen = [each for record in kept for each in record.warnings]
    assert stolen
    assert all(each.figures == {"steal_ratio": 0.02} for each in stolen)
    held_back = [record.bottleneck for record in kept if record.bottleneck is not None]
    assert len({id(each) for each in held_back}) == 1


def test_a_share_keeps_what_it_is_a_share_of_and_a_meter_how_far_it_may_be_off() -> None:
    (first, *_) = records_of("equal")
    responses = {
        "errors": Measured(value=0.01, unit="ratio", of=200),
        "power.mean": Measured(value=40.0, unit="W", within=0.5),
        "throughput": Measured(value=7.0, unit="messages/s"),
    }
    kept = KeptRecords().small(first.model_copy(update={"responses": responses})).responses
    assert dict(kept) == responses
    assert kept.get("response.p50") is None


def test_a_record_takes_little_memory() -> None:
    """About 2 KB; all of a record took 6."""
    records = records_of("equal")
    keeps = KeptRecords()
    keeps.of(records)
    gc.collect()
    tracemalloc.start()
    kept = keeps.of(records)
    bytes_each = tracemalloc.get_traced_memory()[0] / len(kept)
    tracemalloc.stop()
    assert bytes_each < 3_000
