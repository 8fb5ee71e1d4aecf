"""The engine against a second one in straight loops, and the rules that make it exact."""

from __future__ import annotations

import math

import numpy as np
import pytest

from steelyard.inference.exact import OneSided, Pool, SequentialTests, sums
from steelyard.inference.randomisation import big_stick


def loops_spent(n: int, horizon: int, alpha: float) -> float:
    if n <= horizon:
        return alpha * (0.36 + 0.54 * math.log(n / 8) / math.log(horizon / 8))
    return 0.9 * alpha + 0.1 * alpha * math.log(n / horizon) / math.log(2)


def loops_mid_mean(values: list[float]) -> float:
    ranked = sorted(values)
    quarter = len(ranked) // 4
    middle = ranked[quarter : len(ranked) - quarter]
    return sum(middle) / len(middle)


def loops_spread(values: list[float]) -> float:
    sizes = sorted(abs(value) for value in values)
    n = len(sizes)
    median = (sizes[(n - 1) // 2] + sizes[n // 2]) / 2
    return 1.4826 * median or max(sizes) / 2


def loops_centred(values: list[float]) -> list[float]:
    middle = loops_mid_mean(values)
    return [value - middle for value in values]


def loops_without_drift(values: list[float]) -> list[float]:
    """Three fits of a line and slow cosines to values clipped at two standard deviations."""
    n = len(values)
    if n < 12:
        return values
    waves = range(1, 1 + max(0, n // 24 - 1))
    rows = [[1, t, *(math.cos(math.pi * w * (t + 0.5) / n) for w in waves)] for t in range(n)]
    slow = [0.0] * n
    for _ in range(3):
        rest = loops_centred([value - part for value, part in zip(values, slow, strict=True)])
        reach = 2 * loops_spread(rest)
        clipped = [max(-reach, min(reach, value)) for value in rest]
        fitted = np.array(rows) @ np.linalg.lstsq(np.array(rows), clipped, rcond=None)[0]
        slow = [part + float(more) for part, more in zip(slow, fitted, strict=True)]
    return loops_centred([value - part for value, part in zip(values, slow, strict=True)])


def loops_weights(values: list[float]) -> list[int]:
    n = len(values)
    centred = loops_without_drift(loops_centred(values))
    phi = 0.0
    if n >= 16:
        mean = sum(centred) / n
        above = sum((centred[i] - mean) * (centred[i - 1] - mean) for i in range(1, n))
        phi = above / sum((value - mean) ** 2 for value in centred) + 1.5 / n
        phi = 0.0 if phi < 0.25 else min(phi, 0.95)
    fresh = loops_centred([centred[0]] + [centred[i] - phi * centred[i - 1] for i in range(1, n)])
    spread = loops_spread(fresh)
    if spread == 0:
        return [0] * n
    scores = [max(-1.0, min(1.0, value / (2 * spread))) for value in fresh] + [0.0]
    return [round(2**14 * (scores[i] - phi * scores[i + 1])) for i in range(n)]


def loops_crossing(
    values: list[float], paths: list[list[int]], side: int, alpha: float, horizon: int
) -> int | None:
    """The observed path is the first of ``paths``."""
    alive = set(range(len(paths)))
    used = 0
    for n in range(8, len(values) + 1):
        weights = loops_weights(values[:n])
        heights = {
            path: side * sum(w * z for w, z in zip(weights, paths[path], strict=False))
            for path in alive
        }
        allowed = math.floor(loops_spent(n, horizon, alpha) * len(paths) + 1e-9) - used
        if allowed <= 0:
            continue
        boundary = sorted(heights.values(), reverse=True)[allowed]
        leaving = {path for path, height in heights.items() if height > boundary}
        used += len(leaving)
        alive -= leaving
        if 0 not in alive:
            return n
    return None


def first_crossings(
    residuals: np.ndarray, pool: Pool, tests: list[OneSided], horizon: int
) -> list[int | None]:
    running = SequentialTests(tests, pool.paths)
    running.advance(residuals, pool, horizon)
    return running.crossed


@pytest.mark.parametrize("effect", [0.0, 0.03, -0.08])
@pytest.mark.parametrize("visits", [9, 20, 52])
def test_a_second_engine_in_straight_loops_crosses_at_the_same_looks(
    visits: int, effect: float
) -> None:
    random = np.random.default_rng(visits)
    for _ in range(4):
        signs = big_stick(1, visits, random)[:, 0]
        simulated = big_stick(300, visits, random)
        values = np.cumsum(random.normal(0, 0.02, visits)) + effect * (signs > 0)
        tests = [OneSided(0, 1, 0.2), OneSided(0, -1, 0.2), OneSided(0, 1, 0.05)]
        paths = np.column_stack([signs, simulated]).T.tolist()
        expected = [
            loops_crossing(values.tolist(), paths, t.side, t.alpha, horizon=14) for t in tests
        ]
        pool = Pool(signs, simulated)
        assert first_crossings(values[None, :], pool, tests, horizon=14) == expected


def study_of(visits: int, effect: float) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(7)
    signs = big_stick(1, visits, random)[:, 0]
    values = random.normal(0, 0.02, visits) + effect * (signs > 0)
    return values[None, :], Pool(signs, big_stick(2_000, visits, random))


def test_the_same_study_gives_the_same_looks_to_the_bit() -> None:
    residuals, pool = study_of(40, 0.02)
    tests = [OneSided(0, 1, 0.025), OneSided(0, -1, 0.025)]
    once = first_crossings(residuals, pool, tests, 40)
    assert once == first_crossings(residuals.copy(), Pool(*map(np.copy, pool)), tests, 40)


def test_a_longer_series_does_not_change_what_was_said_before() -> None:
    residuals, pool = study_of(40, 0.04)
    tests = [OneSided(0, 1, 0.025)]
    (at,) = first_crossings(residuals, pool, tests, 40)
    assert at is not None
    assert first_crossings(residuals[:, :at], pool.first(at), tests, 40) == [at]
    assert first_crossings(residuals[:, : at - 1], pool.first(at - 1), tests, 40) == [None]


def test_the_order_of_rows_and_their_company_do_not_matter() -> None:
    residuals, pool = study_of(30, 0.03)
    alone = first_crossings(residuals, pool, [OneSided(0, 1, 0.05)], 30)
    crowd = np.vstack([-residuals, residuals, residuals - 1])
    together = first_crossings(crowd, pool, [OneSided(1, 1, 0.05), OneSided(0, 1, 0.05)], 30)
    assert together[:1] == alone


def test_swapping_good_and_bad_swaps_the_sides() -> None:
    residuals, pool = study_of(30, 0.03)
    up = first_crossings(residuals, pool, [OneSided(0, 1, 0.05)], 30)
    assert first_crossings(-residuals, pool, [OneSided(0, -1, 0.05)], 30) == up


def test_before_the_eighth_visit_nothing_is_ever_said() -> None:
    residuals, pool = study_of(7, 5.0)
    assert first_crossings(residuals, pool, [OneSided(0, 1, 0.9)], 96) == [None]


def test_values_without_any_spread_never_cross() -> None:
    _, pool = study_of(30, 0.0)
    tests = [OneSided(0, 1, 0.05), OneSided(0, -1, 0.05)]
    assert first_crossings(np.zeros((1, 30)), pool, tests, 30) == [None, None]


def test_an_order_shared_by_too_many_paths_does_not_cross_by_its_ties() -> None:
    signs = np.array([1, -1] * 4, dtype=np.int8)
    same = np.repeat(signs[:, None], 99, axis=1)
    values = np.where(signs > 0, 1.0, 0.0)[None, :]
    assert first_crossings(values, Pool(signs, same), [OneSided(0, 1, 0.5)], 12) == [None]


@pytest.mark.parametrize("largest", [2**12, 2**16 - 1])
def test_sums_of_weights_are_exact_however_long_the_study(largest: int) -> None:
    random = np.random.default_rng(largest)
    weighed = random.integers(-largest, largest, (3, 2_000), endpoint=True)
    signs = np.where(weighed[0] > 0, np.int8(1), np.int8(-1))
    pool = Pool(signs, big_stick(150, 2_000, random))
    found = sums(weighed.astype(np.float64), pool)
    assert (found.astype(np.int64) == weighed @ pool.side_by_side(151).astype(np.int64)).all()
    assert found[0, 0] == np.abs(weighed[0]).sum()


@pytest.mark.parametrize("effect", [0.0, 0.01])
def test_looks_made_together_are_those_made_one_by_one(effect: float) -> None:
    residuals, pool = study_of(90, effect)
    rows = residuals - np.multiply.outer([0.0, -0.01, 0.02], pool.observed > 0)
    tests = [OneSided(row, side, 0.2) for row in range(3) for side in (1, -1)]
    one_by_one = SequentialTests(tests, pool.paths)
    for visits in range(1, 91):
        one_by_one.advance(rows[:, :visits], pool.first(visits), 90)
    assert one_by_one.crossed == first_crossings(rows, pool, tests, 90)
    assert len(set(one_by_one.crossed)) > 2
