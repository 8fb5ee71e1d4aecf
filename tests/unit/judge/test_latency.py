"""Response times of a cell: nothing counted twice, no percentile that samples do not bear."""

from __future__ import annotations

from typing import Any

import pytest
from tests.unit.judge.studies import a_record, a_study
from tests.unit.judge.test_request_times import MS, distribution

from steelyard.judge.analyses.latency.findings import LatencyFinding
from steelyard.judge.analyses.latency.times import latency_findings
from steelyard.judge.visits.workload_run import workload_runs
from steelyard.plan.make import make_plan
from steelyard.records.attempt_folder import attempt_key
from steelyard.records.load_results import LoadTimes, load_times_of
from steelyard.records.schema import Outcome

STUDY = a_study(users=(1,))
PLAN = make_plan(STUDY, seed=1)
OF_FAST = [t for v in PLAN.visits for t in v.trials if t.cell.system == "fast"]


def document(times_ns: list[int], failed: int = 0, **changes: Any) -> dict[str, Any]:
    """What the generator says of a load, as far as times go."""
    made = distribution(times_ns)
    response = {
        "count": made.count,
        "mean": made.mean_ns,
        "max": made.max_ns,
        "hdr_v2_b64": made.hdr_v2_b64,
    }
    counts = {"errors": failed, "unsent": 0}
    return {"latency_ns": {"response": response}, "counts": counts} | changes


def times(*documents: dict[str, Any]) -> LoadTimes:
    found = load_times_of(list(documents))
    assert found is not None
    return found


def found_of(*trials: LoadTimes, outcome: Outcome = Outcome.OK) -> tuple[LatencyFinding, ...]:
    """The findings of one cell with these trials."""
    planned = OF_FAST[: len(trials)]
    records = [a_record(trial, 1.0, outcome=outcome) for trial in planned]
    keys = [attempt_key(record.trial, record.attempt) for record in records]
    runs = workload_runs(STUDY, PLAN, records)
    (found,) = latency_findings(runs, zip(keys, trials, strict=True))
    return found


def percentiles(found: LatencyFinding) -> dict[float, float | None]:
    return {each.share: each.value_ns for each in found.percentiles}


def test_the_tail_begins_with_all_answers_and_ends_with_the_slowest() -> None:
    (found,) = found_of(times(document([MS] * 90)), times(document([7 * MS] * 9 + [900 * MS])))
    assert (found.trials, found.answered, found.failed) == (2, 100, 0)
    assert found.tail[0][1] == 100
    assert found.tail[-1] == (900 * MS, 1)
    counts = [count for _, count in found.tail]
    assert counts == sorted(counts, reverse=True)
    assert [ns for ns, _ in found.tail] == sorted(ns for ns, _ in found.tail)


@pytest.mark.parametrize("at_ns", [MS // 2, 2 * MS, 8 * MS, 500 * MS])
def test_between_two_times_the_tail_is_what_took_longer(at_ns: int) -> None:
    drawn = [MS] * 90 + [7 * MS] * 9 + [900 * MS]
    (found,) = found_of(times(document(drawn)))
    left = next(count for ns, count in found.tail if ns >= at_ns)
    assert left == sum(each >= at_ns for each in drawn)


def test_a_percentile_is_the_median_over_trials_and_not_over_operations() -> None:
    many, few = [MS] * 900, [3 * MS] * 20
    (found,) = found_of(times(document(many)), times(document(few)), times(document(few)))
    assert percentiles(found)[0.5] == pytest.approx(3 * MS, rel=1e-3)


def test_a_percentile_needs_ten_operations_above_it_in_every_trial() -> None:
    (found,) = found_of(times(document([MS] * 1000)), times(document([MS] * 999)))
    of_99 = next(each for each in found.percentiles if each.share == 0.99)
    assert (of_99.value_ns, of_99.trials, of_99.needed) == (None, 1, 1000)
    assert percentiles(found)[0.95] is not None


def test_failed_operations_are_the_slowest_of_a_percentile() -> None:
    good = times(document([MS] * 500 + [9 * MS] * 500, failed=0))
    failing = times(document([MS] * 500 + [9 * MS] * 300, failed=200))
    assert percentiles(found_of(good)[0])[0.9] == pytest.approx(9 * MS, rel=1e-3)
    assert percentiles(found_of(failing)[0])[0.9] is None
    assert found_of(failing)[0].failed == 200


def test_an_interval_needs_six_trials() -> None:
    one = times(document([MS] * 20))
    assert found_of(*[one] * 5)[0].percentiles[0].low_ns is None
    assert found_of(*[one] * 6)[0].percentiles[0].low_ns == pytest.approx(MS, rel=1e-3)


def test_an_attempt_that_does_not_count_has_no_times() -> None:
    assert found_of(times(document([MS] * 20)), outcome=Outcome.REFUSED_BY_GATE) == ()


def test_phases_are_exact_means_over_all_operations() -> None:
    def phases(count: int, mean: float) -> dict[str, Any]:
        made = document([MS] * 20)
        made["latency_ns"] |= {
            "phase.connect": {"count": count, "mean": mean},
            "phase.tls": {"count": 0, "mean": None},
        }
        return made

    (found,) = found_of(times(phases(30, 2.0)), times(phases(10, 6.0)))
    (connect,) = found.phases
    assert (connect.name, connect.operations, connect.mean_ns) == ("connect", 40, 3.0)


def test_several_instances_are_one_load() -> None:
    (found,) = found_of(times(document([MS] * 10), document([2 * MS] * 20, failed=3)))
    assert (found.trials, found.answered, found.failed) == (1, 30, 3)


def test_a_load_without_an_answer_has_no_times() -> None:
    empty = document([MS])
    empty["latency_ns"]["response"] = {"count": 0, "max": None, "hdr_v2_b64": ""}
    assert load_times_of([empty]) is None


def test_intervals_of_all_trials_are_added_and_the_last_row_is_left_out() -> None:
    rows = [
        {"start_ns": 0, "times": [[1000, 2]]},
        {"start_ns": 500 * MS, "times": [[1000, 1], [1122, 4]]},
        {"start_ns": 1000 * MS, "times": [[1000, 9]]},
    ]
    one = times(document([MS] * 20, series=rows))
    (found,) = found_of(one, one)
    seen = [(each.start_s, each.bars) for each in found.over_time]
    assert seen == [(0.0, ((1000, 4),)), (0.5, ((1000, 2), (1122, 8)))]


def test_records_without_bars_by_time_have_no_course() -> None:
    rows = [{"start_ns": 0, "ok": 3}, {"start_ns": 500 * MS, "ok": 2}]
    assert found_of(times(document([MS] * 20, series=rows)))[0].over_time == ()
