"""The two parts of a judgement that has a floor, on known numbers."""

from __future__ import annotations

from bench.truth import criteria, floor, page
from bench.truth.judge import FAILED_BY_KIND, Judgement

US = 1_000.0


def delays(*pairs_us: tuple[float, float]) -> list[Judgement]:
    """Runs whose p50 and p99 are so many microseconds above the delay."""
    return [
        Judgement(
            max(p50 * US / criteria.DELAY_P50_NS, p99 * US / criteria.DELAY_P99_NS),
            {"above_p50_ns": p50 * US, "above_p99_ns": p99 * US},
        )
        for p50, p99 in pairs_us
    ]


def gaps(*variations: float, off: float = 0.0) -> list[Judgement]:
    """Runs whose gaps vary so; `off` is the miss of their mean."""
    return [
        Judgement(max(cv / criteria.GAP_CV, off), {"cv": cv, "rate_miss": off, "per_s": 1e3})
        for cv in variations
    ]


def test_who_meets_the_absolute_limit_has_passed_wherever_the_floor_is() -> None:
    near, far = delays(*[(20, 60)] * 5), delays(*[(60, 150)] * 5)
    assert floor.verdict("delay", near, near).state == "passed"
    assert floor.verdict("delay", near, far).state == "passed"


def test_who_misses_a_limit_that_the_minimal_client_meets_has_failed() -> None:
    found = floor.verdict("delay", delays(*[(66, 177)] * 5), delays(*[(10, 40)] * 5))
    assert found.state == "failed"


def test_who_is_near_a_floor_that_misses_the_limit_has_passed_above_it_and_not_plainly() -> None:
    found = floor.verdict("delay", delays(*[(66, 177)] * 5), delays(*[(60, 150)] * 5))
    assert found.state == "passed above the floor"
    assert found.figures["over_floor"]["above_p50_ns"] == [6 * US, 6 * US, 6 * US]
    assert found.figures["floor"]["above_p99_ns"] == 150 * US
    assert "misses the absolute limit here too" in found.note


def test_who_is_far_from_a_floor_that_misses_the_limit_has_failed() -> None:
    found = floor.verdict("delay", delays(*[(95, 177)] * 5), delays(*[(60, 150)] * 5))
    assert found.state == "failed"
    assert "beyond the minimal client" in found.note


def test_each_figure_must_be_near_the_floor() -> None:
    found = floor.verdict("delay", delays(*[(61, 260)] * 5), delays(*[(60, 150)] * 5))
    assert found.state == "failed"


def test_the_pairs_are_compared_and_not_the_medians_of_different_minutes() -> None:
    tools = delays((70, 180), (90, 280), (110, 380), (130, 480), (150, 580))
    floors = delays((65, 160), (85, 260), (105, 360), (125, 460), (145, 560))
    found = floor.verdict("delay", tools, floors)
    assert found.figures["over_floor"]["above_p50_ns"] == [5 * US, 5 * US, 5 * US]
    assert found.state == "passed above the floor"


def test_pairs_that_do_not_agree_leave_it_open() -> None:
    floors = delays(*[(60, 150)] * 5)
    tools = delays((70, 180), (75, 180), (95, 180), (99, 180), (99, 180))
    found = floor.verdict("delay", tools, floors)
    assert found.state == "too noisy"
    assert "do not agree" in found.note


def test_one_quiet_pair_does_not_pass_the_absolute_limit() -> None:
    tools = delays((20, 60), (50, 60), (50, 60), (50, 60), (50, 60))
    assert floor.verdict("delay", tools, delays(*[(10, 40)] * 5)).state == "too noisy"


def test_gaps_may_vary_a_quarter_more_than_those_of_the_minimal_client() -> None:
    floors = gaps(*[0.08] * 5)
    assert floor.verdict("constant-1k", gaps(*[0.096] * 5), floors).state == floor.ABOVE_FLOOR
    assert floor.verdict("constant-1k", gaps(*[0.104] * 5), floors).state == "failed"


def test_a_wrong_rate_is_excused_by_no_floor() -> None:
    found = floor.verdict("constant-1k", gaps(*[0.08] * 5, off=1.5), gaps(*[0.08] * 5))
    assert found.state == "failed"
    assert "the rate itself" in found.note


def test_a_rate_that_no_one_keeps_is_the_machines() -> None:
    nobody = gaps(*[0.08] * 5, off=1.5)
    assert floor.verdict("constant-1k", nobody, nobody).state == "too noisy"


def test_where_the_minimal_client_sends_in_bursts_bursts_are_not_passed() -> None:
    found = floor.verdict("constant-1k", gaps(*[8.4] * 5), gaps(*[8.1] * 5))
    assert found.state == "too noisy"
    assert "nothing can be determined" in found.note
    far = floor.verdict("delay", delays(*[(905, 2000)] * 5), delays(*[(900, 2000)] * 5))
    assert far.state == "too noisy"


def test_an_answer_before_the_server_gave_it_fails_however_far_the_floor_is() -> None:
    runs = [*delays(*[(66, 177)] * 4), Judgement(FAILED_BY_KIND, {}, "faster than the server")]
    found = floor.verdict("delay", runs, delays(*[(60, 150)] * 5))
    assert (found.state, found.note) == ("failed", "faster than the server")


def test_who_prints_too_coarsely_cannot_be_held_against_the_floor_either() -> None:
    coarse = Judgement(None, {"step_ns": 1e5}, "prints steps of 100 µs")
    found = floor.verdict("delay", [coarse], delays((60, 150)))
    assert (found.state, found.note) == ("cannot", "prints steps of 100 µs")


def test_without_figures_of_the_minimal_client_nothing_is_excused() -> None:
    broken = [Judgement(FAILED_BY_KIND, {"arrivals": 3}, "too few arrivals")] * 5
    assert floor.verdict("constant-1k", gaps(*[0.08] * 5), broken).state == "too noisy"


def test_the_minimal_client_passes_or_is_the_floor() -> None:
    assert floor.own("delay", delays(*[(20, 60)] * 5)).state == "passed"
    assert floor.own("delay", delays(*[(60, 150)] * 5)).state == "the floor"


def test_both_parts_of_the_judgement_are_printed() -> None:
    delay = floor.verdict("delay", delays(*[(66, 177)] * 5), delays(*[(60, 150)] * 5))
    told = page.delay_text(delay.figures)
    assert "above the delay: p50 66 µs, p99 177 µs" in told
    assert "minimal client: p50 60 µs, p99 150 µs" in told
    assert "above it in 5 pairs: p50 6 µs (6 µs to 6 µs)" in told
    even = floor.verdict("constant-1k", gaps(*[0.096] * 5), gaps(*[0.08] * 5))
    even.figures["cv_of_slices"] = even.figures["floor"]["cv_of_slices"] = 0.01
    told = page.gaps_text(even.figures)
    assert told.startswith("varies by 9.6%")
    assert "minimal client: 8.0%" in told
    assert "1.20 (1.20 to 1.20) times as much in 5 pairs" in told
