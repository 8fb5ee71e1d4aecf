"""Noise of one system alone is seen in its visits, and noise of both is not."""

from __future__ import annotations

import numpy as np
import pytest

from steelyard.inference.assumptions.own_memory import OwnMemory, own_memory
from steelyard.inference.exact import Pool
from steelyard.inference.noise.robust import Floats
from steelyard.inference.randomisation import big_stick
from steelyard.judge import judge_trials
from steelyard.judge.kinds.verdict_notes import VisitsDepend
from steelyard.report.notes.verdict import note_text

VISITS = 96
SLOW = 0.05 * np.sin(np.arange(VISITS) / 8)


def pool_of(paths: int, visits: int, random: np.random.Generator) -> Pool:
    signs = big_stick(paths, visits, random)
    return Pool(signs[:, 0], signs[:, 1:])


def seen(seed: int, slow: Floats, own: Floats) -> OwnMemory:
    random = np.random.default_rng(seed)
    pool = pool_of(501, VISITS, random)
    values = random.normal(0, 0.02, VISITS) + slow + own * (pool.observed > 0)
    found = own_memory(values, pool, 0.0)
    assert found is not None
    return found


def test_what_one_system_alone_feels_is_seen_in_its_visits() -> None:
    found = seen(1, np.zeros(VISITS), SLOW)
    assert found.shows
    assert found.other > 0.3 > abs(found.baseline)
    assert abs(found.between) < 0.3


@pytest.mark.parametrize("slow", [np.zeros(VISITS), SLOW, 0.02 * np.arange(VISITS)])
def test_what_both_feel_is_rarely_taken_for_it(slow: Floats) -> None:
    assert sum(seen(seed, slow, np.zeros(VISITS)).shows for seed in range(20)) <= 4


def test_a_few_visits_or_an_arm_of_one_figure_say_nothing() -> None:
    pool = pool_of(11, 24, np.random.default_rng(1))
    assert own_memory(np.zeros(24), pool, 0.0) is None
    assert own_memory(np.arange(8.0), pool.first(8), 0.0) is None


def test_a_decided_verdict_says_whose_visits_depend_on_each_other() -> None:
    random = np.random.default_rng(4)
    other = big_stick(1, VISITS, random)[:, 0] > 0
    values = random.normal(0, 0.02, VISITS) + (0.3 + SLOW) * other
    names = np.where(other, "two", "one").tolist()
    verdict = judge_trials(names, np.exp(values), baseline="one", paths=400).of("two")
    [note] = [each for each in verdict.notes if isinstance(each, VisitsDepend)]
    assert verdict.memory_chance == note.chance
    assert note_text(note).startswith("the visits of two depend on each other: within 6 visits")
    steady = np.exp(values - SLOW * other)
    verdict = judge_trials(names, steady, baseline="one", paths=400).of("two")
    assert not [each for each in verdict.notes if isinstance(each, VisitsDepend)]
    assert verdict.memory_chance is not None, "the test is reported whatever it finds"
