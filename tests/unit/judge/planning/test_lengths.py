"""Longer windows or more of them: what brings the same certainty sooner."""

from __future__ import annotations

import math

import numpy as np
import pytest
from tests.unit.judge.studies import a_record, a_study

from steelyard.judge.analyses.planning.findings import LengthFinding
from steelyard.judge.analyses.planning.lengths import after_each_reset, best, length_finding, within
from steelyard.plan.make import make_plan
from steelyard.records.load_results import Course
from steelyard.report.sentences.terminal.resolution import length_lines
from steelyard.study.model import ResponseSpec
from steelyard.study.workload_study import studies

THROUGHPUT = ResponseSpec(
    name="throughput", label="throughput", unit="1/s", direction="higher", primary=True
)


def noise_of(between: float, within_one_second: float, window_s: float) -> float:
    return math.sqrt(between**2 + within_one_second**2 / window_s)


def test_the_best_window_is_where_the_rule_of_square_roots_puts_it() -> None:
    found = best(1.0, 4.0, noise_of(0.01, 0.02, 1.0), 0.02)
    assert found.best_window_s == pytest.approx(math.sqrt(4.0) * 0.02 / 0.01)
    assert found.between_log == pytest.approx(0.01)


def test_no_window_near_the_best_one_takes_less_time() -> None:
    def price(window_s: float) -> float:
        return (4.0 + window_s) * noise_of(0.01, 0.02, window_s) ** 2

    found = best(1.0, 4.0, noise_of(0.01, 0.02, 1.0), 0.02)
    assert found.time_ratio == pytest.approx(price(found.best_window_s) / price(1.0))
    assert price(found.best_window_s) < min(price(3.5), price(4.5))


def test_noise_that_lies_between_visits_asks_for_short_windows() -> None:
    found = best(10.0, 0.1, noise_of(0.05, 0.001, 10.0), 0.001)
    assert found.best_window_s == 1.0
    assert length_lines(found)[0].startswith(
        "A shorter window would bring the same certainty sooner"
    )


def test_noise_that_lies_within_windows_asks_for_longer_ones_but_no_farther_than_was_seen() -> None:
    found = best(1.0, 5.0, noise_of(0.0, 0.02, 1.0), 0.02)
    assert found.best_window_s == 10.0
    assert length_lines(found)[0].startswith(
        "A longer window would bring the same certainty sooner"
    )


def test_what_saves_less_than_a_fifth_is_not_worth_a_sentence() -> None:
    found = best(4.0, 4.0, noise_of(0.01, 0.02, 4.0), 0.02)
    assert length_lines(found) == []
    assert length_lines(None) == []


def test_the_noise_of_a_second_is_found_from_the_course_of_a_window() -> None:
    random = np.random.default_rng(5)
    rates = 1000 * np.exp(random.normal(0, 0.02 / math.sqrt(0.1), 5000))
    found = [within(Course(0.1, tuple(rates[start : start + 50]))) for start in range(0, 5000, 50)]
    known = [value for value in found if value is not None]
    assert len(known) == 100
    assert math.sqrt(float(np.mean(known))) == pytest.approx(0.02, rel=0.15)


def test_a_short_course_and_one_that_stands_still_tell_nothing() -> None:
    assert within(Course(1.0, (5.0, 5.0, 6.0))) is None
    assert within(Course(0.1, (0.0,) * 50)) is None


def test_no_noise_between_visits_is_said_as_not_seen() -> None:
    found = LengthFinding(
        window_s=10.0,
        setup_s=1.0,
        noise_log=0.02,
        between_log=0.0,
        within_log=0.06,
        best_window_s=40.0,
        time_ratio=0.5,
    )
    (line,) = length_lines(found)
    assert "no noise between visits is seen" in line
    assert "noise 0" not in line


def a_boot(reset_s: float, trial_s: float, *, of_boots: float, of_trials: float) -> LengthFinding:
    """A second of window in trials that take ``trial_s``, with the noise of each."""
    setup_s = reset_s + trial_s - 1.0
    return after_each_reset(
        best(1.0, setup_s, noise_of(of_boots, of_trials, 1.0), of_trials), reset_s
    )


def test_slow_resets_and_noisy_trials_ask_for_several_after_each_reset() -> None:
    found = a_boot(200.0, 60.0, of_boots=0.01, of_trials=0.02)
    assert math.sqrt(200 / 60 * 0.02**2 / 0.01**2) == pytest.approx(3.65, abs=0.01)
    assert found.best_trials == 4
    assert found.trials_time_ratio == pytest.approx((440 * 2) / (260 * 5))
    assert length_lines(found)[-1] == (
        "Where a window cannot be longer, 4 trials after each reset would do it in 67.7 % of the "
        "time (a reset takes 3 min 20 s, a trial without it 1 min); a study resets before every "
        "trial."
    )


def test_noise_of_resets_asks_for_more_resets_not_for_more_trials() -> None:
    found = a_boot(180.0, 60.0, of_boots=0.05, of_trials=0.01)
    assert (found.best_trials, found.trials_time_ratio) == (1, 1.0)
    assert not any("after each reset" in line for line in length_lines(found))


def test_a_longer_window_is_never_worse_than_further_trials() -> None:
    found = a_boot(30.0, 20.0, of_boots=0.01, of_trials=0.03)
    assert found.trials_time_ratio is not None
    assert found.time_ratio < found.trials_time_ratio < 1


def test_without_noise_between_visits_no_more_trials_are_asked_for_than_ten() -> None:
    assert a_boot(30.0, 1.0, of_boots=0.0, of_trials=0.03).best_trials == 10


def found_in(
    phases_ns: dict[str, int], noise_log: float = 0.05, **settings: object
) -> LengthFinding | None:
    """Of twelve trials of 50 s with a noisy window of 10 s, and these phases."""
    study = a_study(users=(1,), responses={"throughput": THROUGHPUT}, window_s=10.0, warmup_s=1.0)
    workload = study.workloads["smtp"].model_copy(update={"settings": settings})
    study = study.model_copy(update={"workloads": {"smtp": workload}})
    plan = make_plan(study, 1)
    trials = [trial for visit in plan.visits[:12] for trial in visit.trials]
    records = [
        a_record(trial, None, phases_ns=phases_ns, started_unix_ns=0, finished_unix_ns=50 * 10**9)
        for trial in trials
    ]
    random = np.random.default_rng(2)
    courses = {
        str(trial.trial): Course(0.1, tuple(1000 * np.exp(random.normal(0, 0.3, 100))))
        for trial in trials
    }
    return length_finding(studies(study)[0], plan, records, courses, noise_log)


def test_what_belongs_to_a_reset_is_read_from_the_phases_of_trials() -> None:
    second = 10**9
    found = found_in(
        {"restore": 20 * second, "start_service": 5 * second, "warmup": second}
        | {"window": 10 * second, "undo": 3 * second}
    )
    assert found is not None
    assert (found.setup_s, found.reset_s) == (40.0, 28.0)
    assert found.best_trials is not None


def test_records_that_do_not_report_a_reset_say_nothing_of_it() -> None:
    found = found_in({"warmup": 10**9, "window": 10 * 10**9})
    assert found is not None
    assert (found.reset_s, found.best_trials, found.trials_time_ratio) == (None, None, None)
    assert not any("reset" in line for line in length_lines(found))


def test_noise_within_windows_that_visits_do_not_show_asks_for_no_longer_ones() -> None:
    """A rate that something holds: it comes and goes within each window, and each is the same."""
    phases = {"warmup": 10**9, "window": 10 * 10**9}
    assert found_in(phases, 0.01) is not None
    assert found_in(phases, 0.0001) is None


def test_of_trials_that_end_by_their_operations_no_window_is_said_to_be_better() -> None:
    phases = {"warmup": 10**9, "window": 10 * 10**9}
    assert found_in(phases) is not None
    assert found_in(phases, messages=500) is None
