"""The golden studies that a separately written script in R judges as well, and what both say.

python -m tests.calibration.agreement        # judges all in R and keeps what it says
"""

from __future__ import annotations

import csv
import io
import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from unittest.mock import patch

import numpy as np
from tests.calibration.batched import MARGIN
from tests.calibration.cells import big_stick, generator_of
from tests.calibration.noises import NOISES

from steelyard.inference import confidence
from steelyard.inference.confidence import fixed_grid
from steelyard.inference.randomisation import random_pairs
from steelyard.inference.ratio_tests import Inference
from steelyard.inference.sequential import VerdictWord
from steelyard.judge import TrialsVerdict, judge_trials
from steelyard.judge.own_trials.visits import MeasuredVisits
from steelyard.judge.visits.pairs import Pair
from steelyard.judge.visits.series import Series

FOLDER = Path(__file__).parents[1] / "cases" / "judge" / "agreement"
SAID_BY_R = FOLDER / "said-by-r.csv"
SCRIPT = Path(__file__).with_suffix(".R")
BUDGET = 96
STEPS_BY_CHANCE = 2
ENDS = ("low", "high", "90 % low", "90 % high")


@dataclass(frozen=True)
class Study:
    """One golden study: how its trials were made."""

    design: Literal["bigstick", "pairs"]
    noise: str
    effect: float
    visits: int

    @property
    def file(self) -> str:
        words = re.sub(r"[^a-z0-9.]+", "-", self.noise.lower()).strip("-")
        return f"{STUDIES.index(self) + 1:02}-{self.design}-{words}.csv"


STUDIES = (
    Study("bigstick", "independent 2 %", 0.0, 40),
    Study("bigstick", "independent 2 %", 0.02, 40),
    Study("bigstick", "independent 2 %", -0.05, 24),
    Study("bigstick", "independent 2 %", 0.09, 12),
    Study("bigstick", "independent 2 %", 1.50, 16),
    Study("bigstick", "t with 3 df, 2 %", 0.0, 36),
    Study("bigstick", "t with 3 df, 2 %", 0.05, 20),
    Study("bigstick", "drift 0.4 % a visit", 0.0, 40),
    Study("bigstick", "drift 2 % a visit", 0.09, 32),
    Study("bigstick", "AR(1) 0.9", 0.0, 32),
    Study("bigstick", "AR(1) 0.9", -0.02, 32),
    Study("bigstick", "bimodal 6 %", 0.05, 40),
    Study("bigstick", "stalls 8 % x 5 to 40 %", 0.02, 40),
    Study("bigstick", "quantised to 4 %", 0.04, 32),
    Study("bigstick", "step 6 %", 0.0, 36),
    Study("bigstick", "exponential loss 2 %", -0.09, 16),
    Study("pairs", "independent 2 %", 0.0, 40),
    Study("pairs", "independent 2 %", 0.05, 24),
    Study("pairs", "AR(1) 0.9", 0.02, 32),
    Study("pairs", "sine 3 %, period 2 to 20", -0.09, 24),
    Study("bigstick", "sine 3 %, period 2", 0.05, 40),
)


@dataclass(frozen=True)
class Said:
    """Words, visits at the stop, and the ratios that no look has rejected at 95 % and at 90 %."""

    words: frozenset[str]
    stop: int | None
    ends: tuple[float | None, ...]


def write_studies() -> None:
    """The CSV files, from the names of the studies. Done once: they are kept as they are."""
    rows = ["file,design"]
    for study in STUDIES:
        rng = generator_of(f"agreement: {study.file}", 0)
        law = big_stick if study.design == "bigstick" else random_pairs
        other = law(1, study.visits, rng)[:, 0] > 0
        figures = 1_000 * np.exp(NOISES[study.noise](rng, study.visits) + study.effect * other)
        lines = [
            f"{order},{'B' if is_other else 'A'},{figure:.6f}"
            for order, (is_other, figure) in enumerate(zip(other, figures, strict=True), start=1)
        ]
        text = "\n".join(["order,system,response", *lines])
        (FOLDER / study.file).write_text(text + "\n", encoding="utf-8")
        rows.append(f"{study.file},{study.design}")
    (FOLDER / "studies.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")


def trials_of(file: str) -> tuple[list[str], list[float]]:
    """Systems and responses of a golden study."""
    with (FOLDER / file).open(encoding="utf-8", newline="") as text:
        rows = list(csv.DictReader(text))
    return [row["system"] for row in rows], [float(row["response"]) for row in rows]


def judged_fully(study: Study) -> TrialsVerdict:
    """All that the judge says of a golden study."""
    systems, figures = trials_of(study.file)
    return judge_trials(systems, figures, baseline="A", design=study.design, budget=BUDGET)


def said_here(study: Study) -> Said:
    """What the judge says on its grid alone; the script does not divide the last steps further."""
    seen: list[Inference] = []

    def tests(visits: MeasuredVisits, series: Series, pair: Pair, **options: bool) -> Inference:
        seen.append(_tests(visits, series, pair, **options))
        return seen[-1]

    with patch.object(confidence, "_ROUNDS", 0), patch.object(MeasuredVisits, "tests", tests):
        verdict = judged_fully(study).of("B")
        sizes = seen[0].sizes(MARGIN, (0.025, 0.05), verdict.estimate_log or 0.0)
    words = frozenset(str(word) for word in verdict.words) - {str(VerdictWord.UNDECIDED)}
    ends = tuple(end for size in sizes for end in size.constant)
    return Said(words, verdict.decided_at_visit, ends)


_tests = MeasuredVisits.tests


def read_said(text: str) -> dict[str, Said]:
    """What the script printed, by file."""
    return {
        row["file"]: Said(
            frozenset(filter(None, row["words"].split("+"))),
            None if row["stop"] == "NA" else int(row["stop"]),
            tuple(_number(row[end]) for end in ("low", "high", "low90", "high90")),
        )
        for row in csv.DictReader(io.StringIO(text))
    }


def _number(text: str) -> float | None:
    return None if text == "NA" else float(text)


def said_by_r(files: Sequence[str] = ()) -> str:
    """Runs the script; ``FileNotFoundError`` without R."""
    program = shutil.which("Rscript")
    if program is None:
        raise FileNotFoundError("Rscript")
    command = [program, "--vanilla", str(SCRIPT), str(FOLDER), *files]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def disagreements(ours: Said, theirs: Said) -> list[str]:
    """Words must be equal, ends within two steps of the grid: simulated orders differ by chance."""
    found = [] if ours.words == theirs.words else [f"words {set(ours.words)}, {set(theirs.words)}"]
    for name, one, other in zip(ENDS, ours.ends, theirs.ends, strict=True):
        if steps_apart(one, other) > STEPS_BY_CHANCE:
            found.append(f"{name} {one}, {other}")
    return found


def steps_apart(one: float | None, other: float | None) -> int:
    """Steps of the grid between two ends; an end that only one of them has is far away."""
    if one is None or other is None:
        return 0 if one is other else 1_000
    grid = fixed_grid(MARGIN)
    places = [int(np.argmin(np.abs(grid - end))) for end in (one, other)]
    return abs(places[0] - places[1])


if __name__ == "__main__":
    SAID_BY_R.write_text(said_by_r(), encoding="utf-8")
