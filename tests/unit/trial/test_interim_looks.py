"""What the ledger keeps of each look: words always, sizes as often as the visits grow."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from tests.golden.judged import CASES, record_of, study_of_case

from steelyard.inference.spending import last_look
from steelyard.judge.stopping.elimination import NO_SYSTEMS, NOTHING
from steelyard.judge.verdict import judge_study
from steelyard.plan.make import make_plan
from steelyard.records.events import InterimLook
from steelyard.records.schema import TrialRecord
from steelyard.trial.session_state.interim_looks import (
    GROWTH,
    InterimLooks,
    interim_event,
)


def looked_through(name: str, visits: int) -> tuple[list[InterimLook], list[TrialRecord]]:
    study = study_of_case(name)
    plan, random = make_plan(study, seed=7), np.random.default_rng(3)
    looks, events, records = InterimLooks(), [], []
    for visit in plan.every_visit[:visits]:
        records += [record_of(study, t, CASES[name].law(t, random)) for t in visit.trials]
        seen = looks.ask(study, plan, records, visit.visit, given_up=NO_SYSTEMS, lost=NOTHING)
        events.append(interim_event(seen, visit.visit))
    return events, records


@pytest.mark.parametrize(
    ("name", "word", "ends"),
    [
        ("slower", "slower", ("low_log", "high_log")),
        ("equal", "equivalent", ("equivalence_low_log", "equivalence_high_log")),
    ],
)
def test_the_last_look_says_what_the_report_says(
    name: str, word: str, ends: tuple[str, str]
) -> None:
    events, records = looked_through(name, 40)
    study = study_of_case(name)
    found = judge_study(study, make_plan(study, seed=7), records, run="r")
    (said,) = events[-1].comparisons
    (verdict,) = [v for v in found.workloads[0].verdicts if v.response == "throughput"]
    assert events[-1].decided
    assert said.word == verdict.word == word
    assert (said.n_baseline, said.n_other) == (verdict.n_baseline, verdict.n_other)
    assert said.estimate_log == verdict.estimate_log
    assert (said.low_log, said.high_log) == tuple(getattr(verdict, end) for end in ends)


def test_sizes_are_given_as_often_as_the_visits_grow() -> None:
    events, _ = looked_through("stalls", 26)
    sized = [e.visits_done for e in events if e.comparisons[0].estimate_log is not None]
    assert not any(event.decided for event in events)
    assert sized[:5] == [8, 9, 10, 11, 12]
    assert all(later >= GROWTH * earlier for earlier, later in pairwise(sized))
    assert 22 not in sized
    assert [e.visits_done for e in events] == list(range(1, 27))


def test_a_session_asks_first_where_it_begins_and_never_twice_of_the_same_visits() -> None:
    looks = InterimLooks()
    assert looks.is_due(917)
    study = study_of_case("slower")
    plan = make_plan(study, seed=7)
    looks.ask(study, plan, [], 917, given_up=NO_SYSTEMS, lost=NOTHING)
    due = [visits for visits in range(917, 1000) if looks.is_due(visits)]
    assert due[0] == next(v for v in range(918, 1000) if last_look(v) == v)
