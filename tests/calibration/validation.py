"""The whole of the calibration as one run: prints the tables of docs/methods/aa-gate.md.

    python -m tests.calibration.validation [gate] [power] [coverage] [spread]

All parts without arguments. Runs on two processes for about ten minutes. Seeds follow from the
names of the cases, so the figures are the same on every run; only date and duration change.
"""

from __future__ import annotations

import math
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from datetime import UTC, datetime
from multiprocessing import get_context
from typing import Any

from tests.calibration.gate import Outcome, as_judged, failures, gate, most_allowed, shipped
from tests.calibration.noises import FOUR, NOISES
from tests.calibration.power import MARGIN, Power, held_throughout, power
from tests.calibration.simulated import Case

from steelyard.judge.findings import VerdictWord

Table = Callable[[list[Any]], Iterator[str]]

PROCESSES = 2
POWER_STUDIES = 200
POWER_PATHS = 5_000
COVERAGE_STUDIES = 80
SPREAD_STUDIES = 500
EFFECTS = (0.0, MARGIN, math.log(1.05), math.log(1.087))
COVERED_EFFECTS = (0.0, MARGIN, 0.5, 1.6, 4.0)
COVERAGE_HORIZON = 48
POWER_NOISES = (
    "independent 2 %",
    "t with 3 df, 2 %",
    "drift 0.4 % a visit",
    "AR(1) 0.9",
    "bimodal 6 %",
    "sine 3 %, period 2 to 20",
    "stalls 8 % x 5 to 40 %",
    "step 6 %",
)
SPREADS = (2.0, 4.0)
STALLS = 0.1


def gate_cases() -> list[Case]:
    return [Case(noise) for noise in NOISES]


def power_cases() -> list[Case]:
    return [
        Case(noise, effect=effect, studies=POWER_STUDIES, paths=POWER_PATHS, purpose="power")
        for noise in POWER_NOISES
        for effect in EFFECTS
    ]


def coverage_cases() -> list[Case]:
    return [
        Case(
            noise,
            effect=effect,
            studies=COVERAGE_STUDIES,
            horizon=COVERAGE_HORIZON,
            paths=POWER_PATHS,
            purpose="coverage",
        )
        for effect in COVERED_EFFECTS
        for noise in FOUR
    ]


def spread_cases() -> list[Case]:
    return [
        Case(noise, spread=spread, studies=SPREAD_STUDIES, paths=POWER_PATHS, purpose="spread")
        for noise in NOISES
        for spread in SPREADS
    ]


def judged_with_spread(case: Case) -> tuple[Outcome, Outcome]:
    """By the exact test alone, and as a verdict is given."""
    return gate(shipped, case), gate(as_judged, case)


def gated(case: Case) -> Outcome:
    return gate(shipped, case)


def tables(parts: Sequence[str]) -> Iterator[str]:
    """The lines of the page, each part as it ends."""
    with ProcessPoolExecutor(PROCESSES, mp_context=get_context("spawn")) as pool:
        for part in parts:
            start = time.monotonic()
            run, cases, table = PARTS[part]
            yield from table(list(pool.map(run, cases())))
            minutes = (time.monotonic() - start) / 60
            yield (
                f"Run on {datetime.now(UTC):%Y-%m-%d} with `python -m tests.calibration.validation "
                f"{part}`, {PROCESSES} processes, {minutes:.1f} minutes."
            )
            yield ""


def gate_table(outcomes: list[Outcome]) -> Iterator[str]:
    yield "| noise | studies | wrong | rate | allowed | |"
    yield "|---|---:|---:|---:|---:|---|"
    for each in outcomes:
        word = "passes" if each.passed else "**fails**"
        yield (
            f"| {each.noise} | {each.studies:,} | {each.wrong} | {each.rate:.1%} | "
            f"{most_allowed(each.studies) / each.studies:.2%} | {word} |"
        )
    wrong, of = sum(o.wrong for o in outcomes), sum(o.studies for o in outcomes)
    yield f"| all | {of:,} | {wrong} | {wrong / of:.2%} | | |"
    yield from (f"FAILED: {line}" for line in failures(outcomes))
    yield ""


def power_table(powers: list[Power]) -> Iterator[str]:
    yield (
        "| noise | equal systems: equivalent | median visits | 2 % (= margin): faster | "
        "false equivalent | median | 5 %: faster | median | 8.7 %: faster | median |"
    )
    yield "|---|" + "---:|" * 9
    for noise in POWER_NOISES:
        null, margin, five, eight = (p for p in powers if p.case.noise == noise)
        yield (
            f"| {noise} | {null.share(VerdictWord.EQUIVALENT):.0%} | {_visits(null)} | "
            f"{margin.share(VerdictWord.FASTER):.0%} | "
            f"{margin.share(VerdictWord.EQUIVALENT):.1%} | {_visits(margin)} | "
            f"{five.share(VerdictWord.FASTER):.0%} | {_visits(five)} | "
            f"{eight.share(VerdictWord.FASTER):.0%} | {_visits(eight)} |"
        )
    opposite = sum(p.words[VerdictWord.SLOWER] for p in powers if p.case.effect > 0)
    yield ""
    yield f"Wrong direction in {opposite} of {sum(p.case.studies for p in powers) * 3 // 4:,}."
    yield ""


def coverage_table(held: list[int]) -> Iterator[str]:
    yield f"| true ratio (ln) | studies | held at every look to {COVERAGE_HORIZON} visits |"
    yield "|---:|---:|---:|"
    pairs = list(zip(coverage_cases(), held, strict=True))
    for effect in COVERED_EFFECTS:
        rows = [(case.studies, count) for case, count in pairs if case.effect == effect]
        studies = sum(row[0] for row in rows)
        yield f"| {effect:.3g} | {studies} | {sum(row[1] for row in rows) / studies:.1%} |"
    total = sum(case.studies for case, _ in pairs)
    yield f"| all | {total:,} | {sum(held) / total:.1%} |"
    yield ""


def spread_table(outcomes: list[tuple[Outcome, Outcome]]) -> Iterator[str]:
    heads = [f"{spread:g} to 1: {which}" for spread in SPREADS for which in ("alone", "as shipped")]
    yield f"| noise | {' | '.join(heads)} |"
    yield "|---|" + "---:|" * len(heads)
    for noise in NOISES:
        found = [each for pair in outcomes if pair[0].noise == noise for each in pair]
        cells = [f"{each.rate:.1%}{'' if each.passed else ' fails'}" for each in found]
        yield f"| {noise} | {' | '.join(cells)} |"
    yield ""


def _visits(found: Power) -> str:
    return "-" if found.median_visits is None else str(found.median_visits)


PARTS: dict[str, tuple[Callable[[Case], Any], Callable[[], list[Case]], Table]] = {
    "gate": (gated, gate_cases, gate_table),
    "power": (power, power_cases, power_table),
    "coverage": (held_throughout, coverage_cases, coverage_table),
    "spread": (judged_with_spread, spread_cases, spread_table),
}

if __name__ == "__main__":
    os.environ["OPENBLAS_NUM_THREADS"] = "1"  # for the processes started below
    for line in tables(sys.argv[1:] or list(PARTS)):
        sys.stdout.write(line + "\n")
        sys.stdout.flush()
