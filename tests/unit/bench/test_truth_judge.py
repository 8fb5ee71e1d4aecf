"""The judging of the truth tests, with inputs whose answer is known."""

from __future__ import annotations

import numpy as np
import pytest
from bench.truth import criteria, judge
from bench.truth.judge import Report

S = 1_000_000_000
MS = 1_000_000


def responses_of_a_stop(stop_ns: int, window_ns: int, count: int) -> np.ndarray:
    """What arrivals at even distances meet when the server stands still in the middle."""
    due = np.arange(count) * (window_ns / count)
    begin = window_ns * 0.4
    held = (due >= begin) & (due < begin + stop_ns)
    return np.where(held, begin + stop_ns - due, 0.0)


def report_of(samples: np.ndarray, **more: float) -> Report:
    p50, p90, p99 = (float(np.quantile(samples, q)) for q in (0.5, 0.9, 0.99))
    return Report(
        count=len(samples), mean_ns=float(samples.mean()), p50_ns=p50, p90_ns=p90, p99_ns=p99,
        max_ns=float(samples.max()), **more,
    )  # fmt: skip


def even_stamps(count: int, gap_ns: int) -> list[int]:
    return [S + i * gap_ns for i in range(count)]


@pytest.mark.parametrize(("q", "expected"), [(0.5, 0), (0.9, 0), (0.95, S / 2), (1.0, S)])
def test_a_tenth_of_arrivals_waits_evenly_up_to_the_whole_stop(q: float, expected: float) -> None:
    assert judge.stop_quantile_ns(q, S, 10 * S) == pytest.approx(expected, abs=1)


def test_the_analytic_percentiles_are_those_of_a_simulated_stop() -> None:
    held = responses_of_a_stop(S, 10 * S, 100_000)
    for q in (0.9, 0.95, 0.99, 0.999):
        assert judge.stop_quantile_ns(q, S, 10 * S) == pytest.approx(np.quantile(held, q), abs=MS)


def test_a_report_of_all_arrivals_passes_the_stop_of_the_server() -> None:
    report = report_of(responses_of_a_stop(S, 10 * S, 5000))
    assert judge.server_stop(report, S, 10 * S).passed


def test_a_report_that_leaves_the_waiting_arrivals_out_fails() -> None:
    report = Report(p90_ns=0.1 * MS, p99_ns=0.3 * MS, max_ns=S)
    judged = judge.server_stop(report, S, 10 * S)
    assert judged.miss == pytest.approx(0.9 / criteria.STOP_TOLERANCE, rel=0.01)


def test_a_report_without_any_of_the_figures_cannot_be_judged() -> None:
    assert judge.server_stop(Report(), S, 10 * S).miss is None


def test_a_stop_of_the_generator_passes_when_latency_shows_it() -> None:
    report = report_of(responses_of_a_stop(200 * MS, 10 * S, 10_000))
    assert judge.generator_stop(report, 200 * MS, 10 * S, rate=True).passed


def test_a_stop_of_the_generator_passes_when_lateness_shows_it() -> None:
    report = Report(p99_ns=MS, max_ns=MS, lateness_p99_ns=100 * MS, lateness_max_ns=199 * MS)
    assert judge.generator_stop(report, 200 * MS, 10 * S, rate=True).passed


def test_one_slow_request_is_not_the_weight_of_a_stop_at_a_rate() -> None:
    report = Report(p99_ns=MS, max_ns=200 * MS)
    assert not judge.generator_stop(report, 200 * MS, 10 * S, rate=True).passed
    assert judge.generator_stop(report, 200 * MS, 10 * S, rate=False).passed


def test_a_stop_that_vanishes_fails_in_a_closed_loop_too() -> None:
    assert not judge.generator_stop(Report(max_ns=MS), 200 * MS, 10 * S, rate=False).passed


def test_what_is_above_the_delay_is_judged_and_not_the_delay() -> None:
    delays = [5 * MS] * 1000
    close = Report(p50_ns=5 * MS + 20_000, p99_ns=5 * MS + 60_000)
    far = Report(p50_ns=5 * MS + 20_000, p99_ns=5 * MS + 160_000)
    assert judge.delay(close, delays).passed
    assert judge.delay(far, delays).miss == pytest.approx(1.6)


def test_an_answer_before_the_server_gave_it_fails() -> None:
    assert not judge.delay(Report(p50_ns=4.9 * MS, p99_ns=5 * MS), [5 * MS] * 100).passed


def test_a_run_with_too_few_answers_fails_and_a_tool_without_percentiles_cannot() -> None:
    assert judge.delay(Report(count=300, p50_ns=5 * MS), [5 * MS] * 100).miss == 99
    assert judge.delay(Report(count=2000), [5 * MS] * 100).miss is None


def test_steps_coarser_than_the_limit_cannot_be_judged() -> None:
    coarse = Report(p50_ns=5 * MS, p99_ns=5 * MS, step_ns=100_000, per_s=200, mean_ns=5 * MS)
    assert judge.delay(coarse, [5 * MS] * 100).miss is None
    assert judge.little(Report(per_s=200, mean_ns=5 * MS, step_ns=MS), 1).miss is None


def test_users_are_throughput_times_latency() -> None:
    assert judge.little(Report(per_s=2000, mean_ns=5 * MS), 10).miss == pytest.approx(0)
    assert not judge.little(Report(per_s=2000, mean_ns=4.9 * MS), 10).passed


def test_even_arrivals_are_constant_and_not_poisson() -> None:
    stamps = even_stamps(10_000, MS)
    assert judge.constant_gaps(stamps, 1000).passed
    assert not judge.poisson_gaps(stamps, 1000).passed


def test_exponential_gaps_are_poisson_and_not_constant() -> None:
    random = np.random.default_rng(5)
    stamps = np.cumsum(random.exponential(MS, 10_000)).astype(np.int64)
    assert judge.poisson_gaps(stamps, 1000).passed
    assert not judge.constant_gaps(stamps, 1000).passed


def test_exponential_gaps_of_another_rate_are_not_poisson_of_this_one() -> None:
    random = np.random.default_rng(5)
    stamps = np.cumsum(random.exponential(MS, 10_000)).astype(np.int64)
    assert not judge.poisson_gaps(stamps, 1100).passed


def test_exponential_gaps_in_whole_milliseconds_are_not_poisson() -> None:
    random = np.random.default_rng(5)
    stamps = np.cumsum(random.exponential(MS, 10_000)).astype(np.int64) // MS * MS
    assert not judge.poisson_gaps(stamps, 1000).passed


def test_arrivals_in_pairs_are_not_constant_although_their_rate_is_right() -> None:
    stamps = [S + i // 2 * 2 * MS + i % 2 * 1000 for i in range(10_000)]
    assert not judge.constant_gaps(stamps, 1000).passed


def test_even_arrivals_at_another_rate_fail() -> None:
    judged = judge.constant_gaps(even_stamps(10_000, MS), 1050)
    assert judged.miss == pytest.approx(50 / 1050 / criteria.RATE_TOLERANCE, rel=0.01)


def test_one_interruption_breaks_the_limit_but_not_the_slices() -> None:
    stamps = np.array(even_stamps(10_000, MS))
    stamps[5000:] += 50 * MS
    judged = judge.constant_gaps(stamps, 1000)
    assert not judged.passed
    assert judged.figures["cv_of_slices"] == 0


def test_figures_of_the_same_samples_equal_the_log() -> None:
    samples = np.random.default_rng(6).lognormal(11, 1, 20_000).round()
    assert judge.against_log(report_of(samples, step_share=0.001), samples).passed


@pytest.mark.parametrize(
    ("figure", "factor"), [("count", 0.99), ("max_ns", 0.9), ("mean_ns", 1.01), ("p99_ns", 0.9)]
)
def test_one_wrong_figure_is_found_in_the_log(figure: str, factor: float) -> None:
    samples = np.random.default_rng(6).lognormal(11, 1, 20_000).round()
    right = report_of(samples, step_share=0.001)
    wrong = Report(**{**vars(right), figure: getattr(right, figure) * factor})
    judged = judge.against_log(wrong, samples)
    assert not judged.passed
    assert len(judged.figures["wrong"]) == 1


def test_the_slope_of_a_line_is_found_exactly() -> None:
    found = judge.slope(range(600), [3 + 0.5 * x for x in range(600)])
    assert found is not None
    assert found.value == pytest.approx(0.5)


def test_the_interval_of_a_slope_holds_it_in_about_ninety_five_percent_of_runs() -> None:
    random = np.random.default_rng(7)
    x = range(300)
    held = 0
    for _ in range(300):
        found = judge.slope(x, [0.01 * i + e for i, e in zip(x, random.normal(0, 1, 300))])  # noqa: B905
        assert found is not None
        held += found.low <= 0.01 <= found.high
    assert held >= 270


def test_a_flat_soak_passes_and_a_leak_fails() -> None:
    random = np.random.default_rng(8)
    pace = list(random.normal(20_000, 100, 1800))
    flat = [5e6] * 1800
    leak = [5e6 + 1000 * second for second in range(1800)]
    assert judge.soak(flat, pace).passed
    assert not judge.soak(leak, pace).passed


def test_throughput_that_fades_fails_a_soak() -> None:
    pace = [20_000 * (1 - second / 1800 * 0.1) for second in range(1800)]
    judged = judge.soak([5e6] * 1800, pace)
    assert judged.miss is not None
    assert judged.miss > 1


def test_a_soak_too_short_to_know_is_not_judged() -> None:
    pace = list(np.random.default_rng(9).normal(20_000, 3000, 60))
    assert judge.soak([5e6] * 60, pace).miss is None
