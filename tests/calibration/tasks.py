"""What validation simulates for each goal: cells, and how a batch of a cell is counted."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import asdict

import numpy as np
from tests.calibration.agreement import (
    SAID_BY_R,
    STUDIES,
    disagreements,
    judged_fully,
    read_said,
    said_here,
    steps_apart,
)
from tests.calibration.batched import MARGIN, Outcome, judged
from tests.calibration.cells import Cell, drawn, generator_of, noise_of
from tests.calibration.faults import FAULTS, Fault, struck
from tests.calibration.fixed import FIXED_PAIRS, fixed_pairs
from tests.calibration.gate import ALPHA
from tests.calibration.mutations import MUTATIONS, is_seen
from tests.calibration.noises import MACHINES, NOISES, bank_names
from tests.calibration.rivals import RIVALS
from tests.calibration.tally import BATCH, Tally, Task
from tests.calibration.tasks_families import families
from tests.calibration.tasks_machines import laboratories
from tests.calibration.tasks_time import times
from tests.calibration.tasks_words import words

from steelyard.inference.sequential import DECISIVE, VerdictWord

EFFECTS = (0.0, MARGIN, math.log(1.05), math.log(1.087))
RIVAL_EFFECTS = (0.0, math.log(1.05), math.log(1.087))
G4_EFFECTS = (0.0, MARGIN, math.log(1.05), math.log(1.09), math.log(1.20))
BANK_EFFECTS = (0.0, math.log(1.05), math.log(1.2), math.log(2.0))
SPREADS = (2.0, 4.0)
STALLS = (0.05, 0.10, 0.20)
LONG_HORIZON = 600
"""Beyond 100 visits looks are made at growing distances."""
LONG_NOISES = ("independent 2 %", "AR(1) 0.9", "drift 0.4 % a visit", "bimodal 6 %")
STALLED_NOISES = ("independent 2 %", "t with 3 df, 2 %", "drift 0.4 % a visit", "AR(1) 0.9")


def tasks() -> Iterator[Task]:
    """Everything that is simulated."""
    for noise in NOISES:
        yield from _of_noise(noise)
    for noise in LONG_NOISES:
        yield _task("G1", Cell(noise, horizon=LONG_HORIZON), _false_differences)
    for effect in G4_EFFECTS:
        yield _task("G4", Cell("independent 2 %", effect=effect), _beside_fixed_pairs)
    for bank in bank_names():
        yield from _of_bank(bank)
    yield from families()
    yield from map(_fault_task, FAULTS)
    yield from _replays()
    yield Task("G14", "planted mistakes", {}, _planted, len(MUTATIONS), batch=1)
    yield from words()
    for noise in MACHINES:
        yield from _heard(noise)
    for noise in STALLED_NOISES:
        for share in STALLS:
            yield _task("G22", Cell(noise, stalls=share), _false_differences)
    yield from times()
    yield from laboratories()


def _of_noise(noise: str) -> Iterator[Task]:
    yield _task("G1", Cell(noise), _false_differences)
    yield _task("G1", Cell(noise, design="four"), _false_differences)
    for effect in (MARGIN, -MARGIN):
        yield _task("G2", Cell(noise, effect=effect), _false_equivalents)
    for effect in EFFECTS:
        yield _task("G3", Cell(noise, effect=effect), _stops)
    for effect in RIVAL_EFFECTS:
        yield _task("G5", Cell(noise, effect=effect), _rivals)
    for spread in SPREADS:
        yield _task("G15", Cell(noise, spread=spread), _false_differences)


def _of_bank(bank: str) -> Iterator[Task]:
    yield _task("G6", Cell(bank), _false_differences)
    for effect in BANK_EFFECTS:
        yield _task("G6", Cell(bank, effect=effect), _stops, "stops: ")
    yield _task("G6", Cell(bank), _rivals, "rivals: ")


def _heard(noise: str) -> Iterator[Task]:
    yield _task("G21", Cell(noise, canary=True), _false_differences)
    for effect in EFFECTS:
        yield _task("G21", Cell(noise, effect=effect, canary=True), _stops, "stops: ")


def _replays() -> Iterator[Task]:
    yield Task("G13", "judged twice", {}, _judged_twice, len(STUDIES))
    if SAID_BY_R.exists():
        yield Task("G13", "judged in R", {}, _judged_in_r, len(STUDIES))


def _task(
    goal: str, cell: Cell, count: Callable[[Cell, int, int], Tally], before: str = ""
) -> Task:
    about = {key: value for key, value in asdict(cell).items() if key != "paths"}
    return Task(
        goal, f"{before}{cell.name}", about, lambda batch, studies: count(cell, batch, studies)
    )


def _false_differences(cell: Cell, batch: int, studies: int) -> Tally:
    """Equal systems: studies with a comparison that is called different at any look at all.

    ``exact`` counts those of the exact test alone, which must hold where spreads are equal;
    ``faster`` those in which another system is called faster than the baseline.
    """
    alpha = ALPHA / cell.comparisons
    outcomes = judged(drawn(cell, batch, studies), cell.horizon, alpha=alpha, beyond_decision=True)
    by_study = list(_by_study(outcomes, cell))
    return Tally(
        studies,
        Counter(
            wrong=sum(any(each.different for each in study) for study in by_study),
            exact=sum(any(each.crossed for each in study) for study in by_study),
            faster=sum(any("up" in each.agreed for each in study) for study in by_study),
        ),
    )


def _false_equivalents(cell: Cell, batch: int, studies: int) -> Tally:
    """A true difference of the margin: what must not be said.

    The wrong direction as shipped; the other words as soon as the exact tests allow them.
    """
    opposite = VerdictWord.SLOWER if cell.effect > 0 else VerdictWord.FASTER
    allowed = frozenset(DECISIVE) - {opposite}
    outcomes = judged(drawn(cell, batch, studies), cell.horizon, at_the_bounds=allowed)
    return Tally(
        studies,
        Counter(
            equivalent=sum(VerdictWord.EQUIVALENT in each.words for each in outcomes),
            opposite=sum(opposite in each.words for each in outcomes),
        ),
    )


def _stops(cell: Cell, batch: int, studies: int) -> Tally:
    """Words and visits at the stop, as shipped; undecided studies count their whole budget."""
    outcomes = judged(drawn(cell, batch, studies), cell.horizon)
    said = Counter(str(word) for each in outcomes for word in each.words)
    said["undecided"] = sum(not each.words for each in outcomes)
    said.update(twice([each.words[0] if each.words else None for each in outcomes]))
    return Tally(studies, said, Counter(each.at or cell.horizon for each in outcomes))


def twice(verdicts: list[VerdictWord | None]) -> Counter[str]:
    """Every two studies as the same study twice: the same verdict, or faster and then slower."""
    pairs = list(zip(verdicts[::2], verdicts[1::2], strict=False))
    against = {VerdictWord.FASTER, VerdictWord.SLOWER}
    return Counter(
        {
            "twice": len(pairs),
            "twice the same": sum(one == other for one, other in pairs),
            "twice against": sum({one, other} == against for one, other in pairs),
        }
    )


def _rivals(cell: Cell, batch: int, studies: int) -> Tally:
    """Every rule of ``rivals.py`` on the noise that the judge sees in the cell of this name."""
    noise = noise_of(cell, batch, studies)
    counts: Counter[str] = Counter()
    for name, rule in RIVALS.items():
        said = rule(noise, cell.effect, generator_of(f"{name}: {cell.name}", batch))
        counts[f"{name}: faster"] = int(np.sum(said.signs > 0))
        counts[f"{name}: slower"] = int(np.sum(said.signs < 0))
        counts[f"{name}: trials"] = int(said.trials.sum())
    return Tally(studies, counts + _right_pairs(cell, batch, studies))


def _beside_fixed_pairs(cell: Cell, batch: int, studies: int) -> Tally:
    """The judge, and a t test after each fixed number of pairs, on the same noise."""
    tally = _stops(cell, batch, studies)
    tally.counts.update(_right_pairs(cell, batch, studies))
    return tally


def _right_pairs(cell: Cell, batch: int, studies: int) -> Counter[str]:
    """How many studies each fixed number of pairs judges rightly, on the noise of the judge."""
    rng = generator_of(f"fixed pairs: {cell.name}", batch)
    found = fixed_pairs(noise_of(cell, batch, studies), cell.effect, rng)
    return Counter({f"{pairs} pairs: right": int(found[pairs].sum()) for pairs in FIXED_PAIRS})


def _judged_twice(_batch: int, _studies: int) -> Tally:
    """Golden studies of which a second judgement is the same, to the last bit."""
    same = [judged_fully(study) == judged_fully(study) for study in STUDIES]
    return Tally(len(STUDIES), Counter(same=sum(same)))


def _judged_in_r(_batch: int, _studies: int) -> Tally:
    """Golden studies on which the judge and what R said agree."""
    theirs = read_said(SAID_BY_R.read_text(encoding="utf-8"))
    counts: Counter[str] = Counter()
    for study in STUDIES:
        here, there = said_here(study), theirs[study.file]
        counts["agree"] += not disagreements(here, there)
        counts["words"] += here.words == there.words
        apart = [steps_apart(*ends) for ends in zip(here.ends, there.ends, strict=True)]
        counts["ends"] += len(apart)
        counts["ends within a step"] += sum(steps <= 1 for steps in apart)
    return Tally(len(STUDIES), counts)


def _faulty(fault: Fault, batch: int, studies: int) -> Tally:
    """Equal systems with a fault: differences declared, and faults that are named."""
    caught = [struck(fault, 1_000 * batch + number) for number in range(studies)]
    return Tally(
        studies,
        Counter(
            verdict=sum(each.verdict for each in caught),
            named=sum(each.named for each in caught),
            caught=sum(each.named and not each.verdict for each in caught),
        ),
    )


def _fault_task(fault: Fault) -> Task:
    return Task(
        "G12",
        fault.words,
        {},
        lambda batch, studies: _faulty(fault, batch, studies),
        most=5_120,
        batch=BATCH // 4,
    )


def _planted(batch: int, _studies: int) -> Tally:
    """The next planted mistake, if its check sees it."""
    return Tally(1, Counter(seen=int(is_seen(MUTATIONS[batch]))))


def _by_study(outcomes: list[Outcome], cell: Cell) -> Iterator[list[Outcome]]:
    step = cell.comparisons
    return (outcomes[at : at + step] for at in range(0, len(outcomes), step))
