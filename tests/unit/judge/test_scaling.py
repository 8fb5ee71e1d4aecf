"""What is said of throughput over the load: refusals, peaks, knees and falls."""

from __future__ import annotations

import csv
import math
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import t as t_law
from tests.calibration.curves import (
    LEVELS,
    amdahl,
    axis,
    judged,
    saturating,
    studies,
    table,
    usl,
)
from tests.unit.judge.studies import a_study, measured, noisy

from steelyard.judge.analyses.scaling import usl as law
from steelyard.judge.analyses.scaling.curve import curve_of
from steelyard.judge.analyses.scaling.findings import (
    FewLevels,
    FewVisitsPerLevel,
    LackOfFit,
    LevelNotMeasured,
    LittlesLawBroken,
    NoCurve,
    NoPeak,
    ScalingFinding,
)
from steelyard.judge.analyses.scaling.peaks import PeakReadings, peak_of
from steelyard.judge.analyses.scaling.readings import Course, axis_of
from steelyard.judge.analyses.scaling.shape import fall, umbrella
from steelyard.judge.analyses.scaling.table import Table
from steelyard.judge.visits.pairs import Pair
from steelyard.judge.visits.series import ALL_PATHS
from steelyard.plan.make import make_plan
from steelyard.study.workload_study import studies as workload_studies

PUBLISHED = Path(__file__).parents[2] / "cases" / "published" / "mail_scalability.csv"
EXACT = Table(LEVELS, np.log(usl(0.03, 40.0)(LEVELS)) + np.array([[5.0], [5.2], [4.9], [5.1]]))


def kinds(found: ScalingFinding) -> set[str]:
    return {refusal.kind for refusal in found.refusals}


def test_a_law_without_noise_is_found_exactly() -> None:
    best = law.fit(EXACT)
    assert best.peak_at == pytest.approx(40.0, rel=0.002)
    assert best.contention == pytest.approx(0.03, rel=0.01)
    assert best.log_gain == pytest.approx(5.05, abs=0.001)


@pytest.mark.parametrize("levels", [3, 10, 30])
def test_the_levels_of_many_visits_are_as_exact_as_those_of_few(levels: int) -> None:
    logs = np.random.default_rng(levels).normal(0.0, 0.05, (1000, levels))
    many = Table(np.arange(1.0, levels + 1), logs)
    means = logs.mean(axis=0)
    assert many.form.df == 999 * (levels - 1)
    assert many.form.means - many.form.means.mean() == pytest.approx(means - means.mean())
    variance = many.form.covariance.diagonal()
    assert variance == pytest.approx(np.full(levels, (1 - 1 / levels) / 1000))
    found = fall(many, 0.02)
    assert found is not None
    assert found.change_log == pytest.approx(means[-1] - means[:-1].max(), abs=1e-12)


def test_what_differs_between_visits_moves_no_interval_of_the_place() -> None:
    one = table(usl(0.03, 40.0), 2)
    apart = Table(one.levels, one.logs + np.array([[0.0], [1.0], [-2.0]]))
    first, second = judged(one).peak, judged(apart).peak
    assert first is not None
    assert second is not None
    assert second.at_low == pytest.approx(first.at_low)
    assert second.at_high == pytest.approx(first.at_high)


def test_what_differs_between_visits_widens_the_interval_of_the_height() -> None:
    one = table(usl(0.03, 40.0), 2)
    apart = Table(one.levels, one.logs + np.array([[0.0], [0.5], [-0.5]]))
    first, second = judged(one).peak, judged(apart).peak
    assert first is not None
    assert second is not None
    assert second.throughput_low < first.throughput_low


def test_a_peak_has_its_place_its_height_and_the_fall_beyond() -> None:
    found = judged(table(usl(0.03, 40.0), 3, visits=6))
    assert found.peak_stated
    assert found.peak is not None
    assert found.peak.at_low < 40.0 < (found.peak.at_high or 0)
    assert found.fall is not None
    assert found.fall.beyond_margin
    assert found.drawn[0][0] == 1.0
    assert found.drawn[-1][0] == pytest.approx(128.0)


def test_saturation_without_a_fall_is_no_peak_and_has_its_knee() -> None:
    found = judged(table(saturating(20.0), 4))
    assert not found.peak_stated
    assert found.knee is not None
    assert found.knee.at == pytest.approx(20.0, rel=0.1)
    assert found.knee.plateau == (32.0, 64.0, 128.0)
    assert found.fall is not None
    assert not found.fall.falls


def test_hard_saturation_is_refused_by_its_lack_of_fit_and_not_drawn() -> None:
    found = judged(table(saturating(10.0), 4))
    assert "lack_of_fit" in kinds(found)
    assert found.lack_of_fit_p is not None
    assert found.lack_of_fit_p < 0.001
    assert found.drawn == ()
    assert found.peak is None
    assert isinstance(found.refusals[0], LackOfFit)
    assert found.refusals[0].p < 0.001


def test_contention_alone_has_no_peak_up_to_the_last_level() -> None:
    found = judged(table(amdahl(0.03), 5))
    assert kinds(found) == {"no_peak"}
    assert found.refusals == (NoPeak(last_level=128.0),)
    assert found.drawn != ()


def test_a_peak_that_nothing_is_seen_to_fall_from_is_the_curves_word_alone() -> None:
    found = judged(Table(LEVELS[:-1], table(usl(0.03, 60.0), 8, visits=4).logs[:, :-1]))
    assert not found.peak_stated
    assert kinds(found) <= {"no_fall", "no_peak"}
    assert found.refusals


def test_fewer_than_six_levels_are_no_curve() -> None:
    found = judged(Table(LEVELS[:5], table(usl(0.03, 40.0), 6).logs[:, :5]))
    assert kinds(found) == {"few_levels"}
    assert found.refusals == (FewLevels(levels=5, needed=6),)


def test_two_visits_are_no_curve() -> None:
    found = judged(table(usl(0.03, 40.0), 6, visits=2))
    assert kinds(found) == {"few_visits_per_level"}
    assert found.refusals == (FewVisitsPerLevel(visits=2, needed=3),)


def test_a_start_faster_than_the_load_is_refused() -> None:
    logs = table(usl(0.03, 40.0), 7, visits=4).logs
    logs[:, 0] -= 0.5
    found = judged(Table(LEVELS, logs))
    assert "super_linear" in kinds(found)
    assert found.peak is None


def test_users_that_break_littles_law_are_refused_by_name() -> None:
    course = Course("a", {}, table(usl(0.03, 40.0), 9), (), (64.0,))
    found = curve_of(course, axis(), 0.02)
    assert kinds(found) == {"littles_law_broken"}
    assert found.refusals == (LittlesLawBroken(levels=(64.0,)),)


def test_a_system_that_was_never_measured_says_so() -> None:
    found = curve_of(Course("a", {}, None, (LevelNotMeasured(level=4.0),), ()), axis(), 0.02)
    assert kinds(found) == {"few_levels", "few_visits_per_level"}
    assert found.levels == ()
    assert found.visits == 0


def test_what_rises_and_then_falls_is_kept_and_what_does_not_is_made_so() -> None:
    weights = np.ones(5)
    shaped = np.array([1.0, 3.0, 5.0, 4.0, 2.0])
    assert umbrella(shaped, weights) == pytest.approx(shaped)
    rough = umbrella(np.array([1.0, 5.0, 3.0, 6.0, 2.0]), weights)
    turn = int(np.argmax(rough))
    assert (np.diff(rough[: turn + 1]) >= 0).all()
    assert (np.diff(rough[turn:]) <= 0).all()


def test_the_interval_counts_its_parameters_unlike_the_one_of_r_usl() -> None:
    """R's ``usl`` takes ``qt(0.95, n - 1)`` for a two-sided 95 %: 90 %, on degrees it has not."""
    found = table(usl(0.03, 40.0), 11)
    best = law.fit(found)
    ours = law.peak_interval(found, best)
    assert best.df == found.logs.size - found.visits - 2
    as_in_r = 2 * t_law.cdf(t_law.ppf(0.95, best.df), best.df) - 1
    narrow = law.peak_interval(found, best, level=float(as_in_r))
    assert narrow.low > ours.low
    assert narrow.high < ours.high


def test_the_same_curves_give_the_same_bits() -> None:
    first, second = (list(studies(usl(0.03, 40.0), 2, first=31)) for _ in range(2))
    assert first == second


def test_a_claim_gets_the_interval_of_a_stated_peak() -> None:
    found = judged(table(usl(0.03, 40.0), 3, visits=6))
    within = peak_of([found], "a")
    assert within.reasons == ()
    assert within.low is not None
    assert within.high is not None
    assert within.low < 40 < within.high


def test_a_claim_about_an_unseen_peak_gets_where_it_must_lie_beyond() -> None:
    within = peak_of([judged(table(amdahl(0.03), 5))], "a")
    assert within.high == math.inf
    assert within.reasons == (NoPeak(last_level=128.0),)


def test_a_claim_without_a_curve_gets_the_reason() -> None:
    within = peak_of([judged(table(saturating(10.0), 4))], "a")
    assert (within.low, within.high) == (None, None)
    assert within.reasons[0].kind == "lack_of_fit"
    assert peak_of([], "a").reasons == (NoCurve(system="a"),)


def published() -> dict[str, Table]:
    rows: dict[str, dict[float, float]] = defaultdict(dict)
    with PUBLISHED.open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if row["metric"] == "app_throughput":
                rows[row["platform"]][float(row["users"])] = float(row["value"])
    return {
        platform: Table(np.array(sorted(by)), np.log([[by[users] for users in sorted(by)]]))
        for platform, by in rows.items()
    }


def test_the_published_mail_study_of_one_run_a_level_is_refused_a_peak() -> None:
    """It named a peak for each of its platforms; one run a level cannot separate it from noise."""
    platforms = published()
    assert len(platforms) >= 3
    for found in (judged(each) for each in platforms.values()):
        assert kinds(found) == {"few_visits_per_level"}
        assert found.refusals == (FewVisitsPerLevel(visits=1, needed=3),)
        assert found.peak is None
        assert found.fall is None
        assert len(found.levels) == 19
        assert found.noise_log is None


def test_the_most_of_earlier_visits_is_read_as_that_of_all_is() -> None:
    study = a_study(users=(1, 2, 4, 8))
    plan, (own,) = make_plan(study, 3), workload_studies(study)
    records = measured(plan, noisy(0.8), visits=12)
    axis_ = axis_of(own, plan)
    assert axis_ is not None
    now = PeakReadings(axis_, plan, records, ALL_PATHS)
    before = PeakReadings(axis_, plan, [r for r in records if r.visit <= 8], ALL_PATHS)
    pair, response = Pair("fast", "durable"), axis_.response
    then = now.until(8).series(pair, response, None)
    alone = before.series(pair, response, None)
    assert then.visits == alone.visits
    assert then.values.tolist() == alone.values.tolist()
