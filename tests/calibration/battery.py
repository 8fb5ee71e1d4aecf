"""What each judge decides on a fixed set of seeded studies, as one digest for each part of it.

The digests are kept in ``results/battery.json``. Where one differs, the figures of the goals that
rest on that part have changed: their judges in ``store.py`` need new names, and then

    python -m tests.calibration.battery   # keeps the digests of today
"""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy; see conftest.py

import numpy as np
from tests.calibration import curves, screening, warmups
from tests.calibration.batched import judged
from tests.calibration.cells import Cell, Design, drawn, generator_of
from tests.calibration.checks import verdict_of
from tests.calibration.faults import FAULTS, struck
from tests.calibration.recorded import measured, nothing_beside, study_of
from tests.calibration.store import RESULTS, SCREENS
from tests.calibration.tally import Task
from tests.calibration.tasks_time import times
from tests.calibration.tasks_words import words

from steelyard.judge import judge_trials
from steelyard.judge.verdict import judge_study

KEPT = RESULTS / "battery.json"
Figures = Iterable[object]

_SOME_NOISES = ("independent 2 %", "drift 2 % a visit", "AR(1) 0.9", "bimodal 6 %")
_STOPS = (0.0, math.log(1.05))


@dataclass(frozen=True)
class Part:
    """One part of the judge: the goals (as in ``store.py``) that rest on it, and its figures.

    ``others``: of every goal that has no judge of its own.
    """

    goals: tuple[str, ...]
    figures: Callable[[], Figures]
    others: bool = False


def digest(figures: Figures) -> str:
    """Of numbers rounded to 1e-9: the last bits of another processor do not count."""
    return hashlib.sha256("\n".join(map(_text, figures)).encode()).hexdigest()[:16]


def _text(figure: object) -> str:
    if isinstance(figure, bool | np.bool_) or figure is None:
        return str(figure)
    if isinstance(figure, int | np.integer):
        return str(int(figure))
    if isinstance(figure, float | np.floating):
        return f"{round(float(figure), 9) + 0.0:.9f}"
    if isinstance(figure, str):
        return str(figure)
    if isinstance(figure, Iterable):
        return f"[{' '.join(map(_text, figure))}]"
    raise TypeError(f"not a figure: {figure!r}")


def _two_systems() -> Iterator[object]:
    for noise in _SOME_NOISES:
        for effect in _STOPS:
            cell = Cell(noise, effect=effect, horizon=40, paths=1_000)
            for outcome in judged(drawn(cell, 0, 3), cell.horizon):
                yield [outcome.words, outcome.at]


def _verdicts() -> Iterator[object]:
    """As a report gives them, with sizes and what is withheld."""
    for noise in _SOME_NOISES:
        for effect in _STOPS:
            cell = Cell(noise, effect=effect, horizon=40, paths=1_000)
            batch = drawn(cell, 0, 3)
            for number in range(3):
                yield from _verdict(verdict_of(batch, number, cell))
    yield from _recorded()
    for seed in range(3):
        yield from _three_systems_at_two_loads(seed)
    yield from _beside_a_covariate()


def _recorded() -> Iterator[object]:
    """Whole studies from their records, as a report judges them."""
    study = study_of()
    for number, effect in enumerate(_STOPS):
        plan, records = measured(
            study, "battery", number, noise="AR(1) 0.9", effect=effect, beside=nothing_beside
        )
        for verdict in judge_study(study, plan, records, run="battery").workloads[0].verdicts:
            yield from _verdict(verdict)


def _several_systems() -> Iterator[object]:
    design: Design = "four"
    for noise in _SOME_NOISES[:2]:
        cell = Cell(noise, design, effect=math.log(1.03), horizon=32, paths=1_000)
        alpha = 0.05 / cell.comparisons
        for outcome in judged(drawn(cell, 0, 2), cell.horizon, alpha=alpha):
            yield [outcome.words, outcome.at]


def _three_systems_at_two_loads(seed: int) -> Iterator[object]:
    random = np.random.default_rng(seed)
    order = [name for _ in range(12) for name in random.permutation(["a", "b", "c"])]
    system, load = np.repeat(order, 2), np.tile([1, 8], len(order))
    effect = 0.06 * (system == "b") + 0.02 * (system == "c") * (load == 8)
    response = 100 * np.exp(effect + random.normal(0, 0.02, len(system)))
    found = judge_trials(
        system.tolist(),
        response,
        baseline="a",
        design="blocks",
        load=load.tolist(),
        direction="lower",
        paths=1_000,
    )
    for verdict in found.verdicts:
        yield from _verdict(verdict)


def _with_covariates() -> Iterator[object]:
    cell = Cell("AR(1) 0.9", effect=math.log(1.05), horizon=40, paths=1_000, canary=True)
    for outcome in judged(drawn(cell, 0, 3), cell.horizon):
        yield [outcome.words, outcome.at]


def _beside_a_covariate() -> Iterator[object]:
    cell = Cell("AR(1) 0.9", effect=math.log(1.05), horizon=40, paths=1_000)
    random = generator_of("battery, covariate", 0)
    for number in range(2):
        batch = drawn(cell, number, 1)
        names = np.where(batch.signs[:, 0] > 0, "b", "a").tolist()
        beside = batch.values[0] + random.normal(0, 0.02, len(names))
        found = judge_trials(
            names, np.exp(batch.values[0]), baseline="a", covariate=np.exp(beside), paths=1_000
        )
        yield from _verdict(found.of("b"))


def _verdict(verdict: object) -> Iterator[object]:
    for name in (
        "words",
        "decided_at_visit",
        "estimate_log",
        "low_log",
        "high_log",
        "equivalence_low_log",
        "equivalence_high_log",
        "noise_log",
        "interval_level",
        "n_baseline",
        "n_other",
    ):
        yield [name, getattr(verdict, name)]


def _screenings() -> Iterator[object]:
    for design, effects in (("2^3", {(0,): 0.04}), ("2^3 split", {}), ("2^(5-1) folded", {})):
        case = screening.Case(design, effects=effects, replicates=6, planned=6, studies=8)
        for found in screening.judged(case):
            for each in found.answers:
                yield [each.words, each.decided_at, each.estimate, each.low, each.high]


def _shares() -> Iterator[object]:
    case = screening.Case(effects={(0,): 0.2, (0, 1): 0.04}, replicates=4, studies=2)
    yield from sorted(screening.share_coverage(case).items())


def _curves() -> Iterator[object]:
    laws = (curves.usl(0.03, curves.PEAK_AT), curves.FALLING, *curves.PEAKLESS.values())
    for law in laws:
        for found in curves.studies(law, 4):
            peak = found.peak
            yield [found.peak_stated, found.fall is not None and found.fall.falls]
            yield None if peak is None else [peak.at, peak.at_low, peak.at_high, peak.throughput]


def _warmups() -> Iterator[object]:
    for shape in warmups.SHAPES.values():
        for trials in (1, 8):
            found = warmups.steady(warmups.series(shape, 0, trials), warmups.MARGIN_LOG)
            yield [found.state, found.cut, found.drift_low_log, found.bias_log]


def _faults() -> Iterator[object]:
    for fault in FAULTS:
        yield [fault.words, struck(fault, 0).verdict]


def _slow_parts() -> Iterator[object]:
    """What is said and noted of two studies for each size."""
    for task in times():
        if task.goal == "G24" and task.about.get("part") == "AR(1) 0.9":
            yield from _tally(task, 2)


def _of_goal(goal: str, studies: int) -> Callable[[], Iterator[object]]:
    def figures() -> Iterator[object]:
        for task in words():
            if task.goal == goal:
                yield from _tally(task, studies)

    return figures


def _tally(task: Task, studies: int) -> Iterator[object]:
    tally = task.run(0, studies)
    yield [task.cell, sorted(tally.counts.items()), sorted(tally.stops.items())]


PARTS: dict[str, Part] = {
    "two systems": Part(("G1",), _two_systems, others=True),
    "several systems": Part(("G1",), _several_systems, others=True),
    "verdicts": Part(("G23",), _verdicts),
    "slow parts of one system": Part(("G24",), _slow_parts),
    "covariates": Part(("G21",), _with_covariates),
    "elimination": Part(("G19",), _of_goal("G19", 1)),
    "screening": Part((SCREENS, "G9"), _screenings),
    "shares of factors": Part(("G9",), _shares),
    "curves": Part(("G10",), _curves),
    "steadiness": Part(("G11",), _warmups),
    "faults": Part(("G12", "G25"), _faults),
    "guardrails": Part(("G16",), _of_goal("G16", 1)),
    "claims": Part(("G17",), _of_goal("G17", 1)),
    "failures": Part(("G18",), _of_goal("G18", 1)),
}


def kept() -> dict[str, str]:
    found: dict[str, str] = json.loads(KEPT.read_text(encoding="utf-8"))
    return found


if __name__ == "__main__":
    digests = {name: digest(part.figures()) for name, part in PARTS.items()}
    KEPT.write_text(json.dumps(digests, indent=1) + "\n", encoding="utf-8")
