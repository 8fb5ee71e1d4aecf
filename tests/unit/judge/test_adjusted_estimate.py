"""Where outliers or a trend move the estimate from the ratio as measured, both are reported."""

from __future__ import annotations

import math

import numpy as np

from steelyard.inference.randomisation import big_stick
from steelyard.judge import judge_trials
from steelyard.judge.kinds.verdict_notes import EstimateAdjusted
from steelyard.report.notes.verdict import note_text

VISITS = 24


def adjusted(stalls: int, trend: float) -> list[EstimateAdjusted]:
    """Of a system that is 10 % slower, some visits of which stall, on a machine that drifts."""
    random = np.random.default_rng(3)
    other = big_stick(1, VISITS, random)[:, 0] > 0
    values = random.normal(0, 0.01, VISITS) + trend * np.arange(VISITS)
    values[other] -= 0.1
    values[np.flatnonzero(other)[:stalls]] -= 1.0
    systems = ["b" if each else "a" for each in other]
    verdict = judge_trials(systems, np.exp(values), baseline="a", paths=2_000)
    return [note for note in verdict.of("b").notes if isinstance(note, EstimateAdjusted)]


def test_an_estimate_near_the_ratio_as_measured_stands_alone() -> None:
    assert adjusted(stalls=0, trend=0.0) == []


def test_the_ratio_as_measured_stands_beside_an_estimate_that_stalls_hardly_move() -> None:
    (note,) = adjusted(stalls=2, trend=0.0)
    assert math.isclose(note.estimate_log, -0.1, abs_tol=0.03)
    assert note.raw_log < -0.2
    assert note.trends == 1
    assert note.covariates == 0
    assert "trends over the study" in note_text(note)
