"""What canaries before the first trial say of a machine."""

from __future__ import annotations

import numpy as np
import pytest

from steelyard.judge.analyses.planning.findings import ReferenceKernelFailed, TooFewValues
from steelyard.judge.analyses.planning.resolution import (
    noise_of,
    resolution_findings,
    resolutions,
    visits_for,
)
from steelyard.records.events import ReferenceKernelSeries, SessionOpened
from steelyard.records.missing import Quoted
from steelyard.report.sentences.terminal.resolution import resolution_lines
from steelyard.study.model import TrialsSpec

TRIALS = TrialsSpec(margin_ratio=0.02)


def a_row(values: list[float | None], **changed: str) -> ReferenceKernelSeries:
    row = ReferenceKernelSeries(machine="local", part="reference_kernel.cpu", values=tuple(values))
    return row.model_copy(update=changed)


def rates(noise: float, drift: float = 0.0, count: int = 2000) -> list[float | None]:
    random = np.random.default_rng(1)
    return [
        float(1e6 * np.exp(drift * index / count + noise * random.normal()))
        for index in range(count)
    ]


def test_noise_as_large_as_the_margin_needs_about_34_visits() -> None:
    assert visits_for(0.02, 0.02, 0.05) == pytest.approx(34, abs=2)


def test_half_the_noise_needs_a_quarter_of_the_visits_but_never_fewer_than_the_first_look() -> None:
    assert visits_for(0.02, 0.04, 0.05) == pytest.approx(4 * 34, abs=6)
    assert visits_for(0.02, 0.001, 0.05) == 8
    assert visits_for(0.0002, 0.1, 0.05) is None


def test_a_slow_drift_is_reported_but_is_no_noise() -> None:
    steady, drifting = (resolutions([a_row(rates(0.01, d))], TRIALS)[0] for d in (0.0, 0.3))
    assert steady.noise_log == pytest.approx(0.01, rel=0.1)
    assert drifting.noise_log == pytest.approx(0.01, rel=0.1)
    assert drifting.drift_log == pytest.approx(0.2, abs=0.02)


def test_one_stall_does_not_become_the_noise() -> None:
    logs = np.log(np.asarray(rates(0.01), dtype=float))
    logs[100] -= 3
    assert noise_of(logs) == pytest.approx(0.01, rel=0.1)


FULL = Quoted(kind="reference_kernel_refused", said="the disk is full")


def test_a_part_that_was_not_measured_says_why_and_has_no_figure() -> None:
    row = a_row([None] * 24, part="reference_kernel.disk", missing=FULL)
    found = resolutions([row], TRIALS)[0]
    assert (found.noise_log, found.visits, found.missing) == (
        None,
        None,
        ReferenceKernelFailed(reason=FULL),
    )
    assert resolution_lines([found]) == [
        "Not known for writes that wait for the disk: the disk is full."
    ]


def test_too_few_values_are_no_noise() -> None:
    found = resolutions([a_row([1.0, 2.0, 3.0])], TRIALS)[0]
    assert found.missing == TooFewValues(values=3, needed=8)


def test_the_ledger_of_a_run_without_a_reference_kernel_says_nothing() -> None:
    assert resolution_findings([SessionOpened()], TRIALS) == []


def test_the_sentence_names_the_machine_the_margin_and_the_price_of_each_part() -> None:
    rows = [a_row(rates(0.02)), a_row(rates(0.0001), machine="ssh://far")]
    here, far = resolution_lines(resolutions(rows, TRIALS))
    assert here.startswith(
        "By the reference kernel, this machine can resolve 2 % of work of the processor in about 3"
    )
    assert far.startswith(
        "By the reference kernel, ssh://far can resolve 2 % of work of the processor in about 8"
    )
