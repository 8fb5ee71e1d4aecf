"""What is said of throughput within the windows."""

from __future__ import annotations

import numpy as np
import pytest
from tests.calibration.warmups import MARGIN_LOG, SHAPES, series
from tests.unit.judge.quick import judge_study
from tests.unit.judge.test_judge_study import a_study, measured, noisy

from steelyard.judge.analyses.steadiness.findings import (
    LevelChanges,
    NoOperations,
    NothingCompleted,
    Steadiness,
    TooFewIntervals,
)
from steelyard.judge.analyses.steadiness.steady import mser, segments, steady
from steelyard.judge.analyses.steadiness.windows import mean_course
from steelyard.judge.findings import RunFindings
from steelyard.judge.kinds.caveats import NeverSteady, SteadinessUnknown, SteadyLater
from steelyard.plan.make import make_plan
from steelyard.records.attempt_folder import attempt_key
from steelyard.records.load_results import Course, Load, course_of
from steelyard.report import notes
from steelyard.report.formats.csv import csv_text
from steelyard.report.formats.markdown import markdown_text
from steelyard.study.ending import Extent
from steelyard.study.labels import Labels


def test_mser_cuts_where_a_step_ends() -> None:
    values = np.concatenate((np.full(10, 0.8), 1 + 0.01 * np.sin(np.arange(90))))
    assert mser(values) == 10


def test_mser_never_cuts_more_than_half() -> None:
    assert mser(np.arange(100.0)) <= 50


def test_levels_are_found_where_they_change() -> None:
    random = np.random.default_rng(1)
    values = np.concatenate((np.full(40, 1.0), np.full(60, 1.1))) + random.normal(0, 0.01, 100)
    assert segments(values) == [(0, 40), (40, 100)]


def test_a_level_that_changes_near_the_end_is_never_steady() -> None:
    found = steady(series(SHAPES["a step of 5 % after 480 s"], 1, 24), MARGIN_LOG)
    assert found.state is Steadiness.NEVER
    assert found.reason == LevelChanges()


def test_a_slow_dip_that_mser_keeps_is_not_called_steady() -> None:
    found = steady(series(SHAPES["30 % dip, 600 s"], 1, 24), MARGIN_LOG)
    assert found.state is Steadiness.NEVER


def test_too_few_intervals_tell_nothing() -> None:
    found = steady(np.ones(12), MARGIN_LOG)
    assert found.state is Steadiness.UNKNOWN
    assert found.reason == TooFewIntervals(intervals=12, needed=20)


def test_a_window_without_answers_tells_nothing() -> None:
    assert steady(np.zeros(100), MARGIN_LOG).reason == NothingCompleted()


def test_a_course_is_read_from_the_rows_of_a_load_without_the_last() -> None:
    rows = [{"start_ns": n * 500_000_000, "ok": 10 * n} for n in range(4)]
    course = course_of([{"series": rows}])
    assert course == Course(0.5, (0.0, 20.0, 40.0))


def test_the_loads_of_several_instances_add_up() -> None:
    rows = [{"start_ns": n * 1_000_000_000, "ok": 7} for n in range(4)]
    course = course_of([{"series": rows}, {"series": rows}])
    assert course == Course(1.0, (14.0, 14.0, 14.0))


@pytest.mark.parametrize("documents", [[], [{}], [{"series": [{"start_ns": 0, "ok": 1}]}]])
def test_a_load_without_rows_has_no_course(documents: list[dict[str, object]]) -> None:
    assert course_of(documents) is None


def test_trials_weigh_alike_whatever_their_throughput() -> None:
    fast, slow = Course(1.0, (100.0, 300.0)), Course(1.0, (1.0, 1.0))
    mean, _ = mean_course([fast, slow])
    assert mean == pytest.approx([0.75, 1.25])


def judged(shape: str) -> RunFindings:
    study = a_study(users=(4,), per_cell=8)
    plan = make_plan(study, 3)
    records = measured(plan, noisy(0.8))
    loads = [
        (
            attempt_key(r.trial, r.attempt),
            Load(Course(1.0, tuple(series(SHAPES[shape], r.trial, 8))), None),
        )
        for r in records
    ]
    return judge_study(study, plan, records, run="r", loads=loads)


def test_a_window_that_never_is_steady_is_a_caveat() -> None:
    found = judged("a ramp of 4 % over all")
    (own,) = found.workloads
    assert {each.state for each in own.steadiness} == {Steadiness.NEVER}
    (never,) = [each for each in own.caveats if isinstance(each, NeverSteady)]
    assert [cell.system for cell in never.cells] == ["fast", "durable"]
    assert never.extent == Extent(warmup_s=2.0, window_s=10.0)
    assert "fast at 4 users and 1 more cell" in notes.text(never, Labels())


def test_a_window_that_is_steady_later_says_which_warmup_all_systems_need() -> None:
    found = judged("a step of 10 % after 60 s")
    (later,) = [each for each in found.workloads[0].caveats if isinstance(each, SteadyLater)]
    assert 62 <= later.warmup_s <= 77  # the step at 60 s, after 2 s, in batches of 5


def test_a_steady_window_bounds_nothing() -> None:
    found = judged("flat")
    (own,) = found.workloads
    assert {each.state for each in own.steadiness} == {Steadiness.STEADY}
    bounds = (NeverSteady, SteadyLater, SteadinessUnknown)
    assert not any(isinstance(each, bounds) for each in own.caveats)


def test_the_report_has_a_row_for_each_cell() -> None:
    found = judged("a step of 10 % after 60 s")
    assert "## Steady within the window" in markdown_text(found)
    assert csv_text(found).count("\nsteadiness,") == 2


def test_a_window_in_which_all_was_done_at_the_beginning_is_not_steady() -> None:
    rates = np.zeros(100)
    rates[:4] = 50.0
    found = steady(rates, MARGIN_LOG)
    assert found.state is Steadiness.NEVER
    assert isinstance(found.reason, LevelChanges)


def test_streams_are_not_said_to_have_completed_nothing() -> None:
    study = a_study(users=(4,), per_cell=8)
    stream = study.workloads["smtp"].model_copy(update={"operation": "bytes"})
    study = study.model_copy(update={"workloads": {"smtp": stream}})
    plan = make_plan(study, 3)
    records = measured(plan, noisy(0.8))
    silent = Load(Course(1.0, (0.0,) * 100), None)
    loads = [(attempt_key(r.trial, r.attempt), silent) for r in records]
    (own,) = judge_study(study, plan, records, run="r", loads=loads).workloads
    assert [each.reason for each in own.steadiness] == [NoOperations()] * 2
    (unknown,) = [each for each in own.caveats if isinstance(each, SteadinessUnknown)]
    assert unknown.reason == NoOperations()
