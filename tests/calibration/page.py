"""docs/methods/validation.md, from stored results alone."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from tests.calibration.goals import GOALS, WHY_NOT, Standing, Told, sizes_text
from tests.calibration.noises import NOISES
from tests.calibration.sections_arms import canaries, stalls
from tests.calibration.sections_errors import at_the_margin, false_differences, unequal_spread
from tests.calibration.sections_families import curves, screenings, warmups
from tests.calibration.sections_gates import gates
from tests.calibration.sections_history import histories
from tests.calibration.sections_live import live, repeated
from tests.calibration.sections_machines import laboratories
from tests.calibration.sections_real import banks, faults, planted, replay
from tests.calibration.sections_time import changes, own_parts, withdrawals
from tests.calibration.sections_trials import (
    beside_fixed_sizes,
    beside_rivals,
    visits_to_a_verdict,
)
from tests.calibration.sections_words import claims, failures, guardrails, races
from tests.calibration.store import RESULTS, SCREENS, Result, Store, fingerprint, judged_by

PAGE = Path(__file__).parents[2] / "docs" / "methods" / "validation.md"
JUDGED = (*GOALS, SCREENS)
JUDGES = RESULTS / "judges.json"
"""Fingerprints of the judge when the page was written, by goal."""

_KEPT_WITH = {"G8": "G6"}
"""Goals whose results lie with those of another."""

_HEAD = """\
# Validation

Written by `make validate` from what was run; do not edit. How each figure comes about is in
`tests/calibration/`, the method in [judge.md](judge.md). A share stands between its two one-sided
99 % bounds in brackets (Clopper and Pearson), a median between those of order statistics, a mean
between 2.3 standard errors. **reached**: the bound is within the goal. **open**: the bounds lie on
both sides of the goal, because too few studies were run. **not reached**: it is known to be beyond.

    make validate                             # every cell to its default size, then this page
    make validate STUDIES=20000 ONLY=G1       # one goal, larger; runs add up, batch by batch
    make validate BUDGET=30                   # for 30 minutes, the emptiest goals first
    make validate-page                        # this page again, without measuring

Seeds are the SHA-256 of the names of the cells, so the counts are the same on every machine. Cells
**by an earlier judge** were measured before code that decides was changed last; they hold what was
true then, and running them again replaces them.
"""


def write_page() -> Path:
    """Writes the page and says where; keeps which judge there was when it was written."""
    judges = {goal: fingerprint(goal) for goal in JUDGED}
    JUDGES.write_text(json.dumps(judges, indent=0) + "\n")
    PAGE.write_text(text(), encoding="utf-8")
    return PAGE.relative_to(PAGE.parents[2])


def text() -> str:
    """The page."""
    told = {goal: _SECTIONS[goal]() for goal in GOALS}
    return "\n".join(_lines(told)) + "\n"


_SECTIONS: dict[str, Callable[[], Told]] = {
    "G1": lambda: false_differences(Store("G1")),
    "G2": lambda: at_the_margin(Store("G2")),
    "G3": lambda: visits_to_a_verdict(Store("G3")),
    "G4": lambda: beside_fixed_sizes(Store("G4")),
    "G5": lambda: beside_rivals(Store("G5"), Store("G3"), Store("G1")),
    "G6": lambda: banks(Store("G6")),
    "G7": live,
    "G8": lambda: repeated(Store("G6")),
    "G9": lambda: screenings(Store("G9"), Store("G1")),
    "G10": lambda: curves(Store("G10")),
    "G11": lambda: warmups(Store("G11")),
    "G12": lambda: faults(Store("G12")),
    "G13": lambda: replay(Store("G13")),
    "G14": lambda: planted(Store("G14")),
    "G15": lambda: unequal_spread(Store("G15")),
    "G16": lambda: guardrails(Store("G16")),
    "G17": lambda: claims(Store("G17")),
    "G18": lambda: failures(Store("G18")),
    "G19": lambda: races(Store("G19")),
    "G21": lambda: canaries(Store("G21"), Store("G3")),
    "G22": lambda: stalls(Store("G22")),
    "G23": lambda: changes(Store("G23")),
    "G24": lambda: own_parts(Store("G24")),
    "G25": lambda: withdrawals(Store("G25")),
    "G26": lambda: laboratories(Store("G26")),
    "G28": lambda: gates(Store("G28")),
    "G29": lambda: histories(Store("G29")),
}


def _lines(told: dict[str, Told]) -> Iterator[str]:
    judges = json.loads(JUDGES.read_text(encoding="utf-8"))
    yield _HEAD
    yield "| | wanted | reached | |"
    yield "|---|---|---|---|"
    for goal, wanted in GOALS.items():
        reached = "; ".join(filter(None, (told[goal].reached, _outdated(goal, judges))))
        yield f"| {goal} | {wanted} | {reached} | {told[goal].standing} |"
    for goal, each in told.items():
        if each.lines:
            yield from ("", f"## {goal}", f"Wanted: {GOALS[goal]}.", "")
            if goal in WHY_NOT and each.standing is not Standing.REACHED:
                yield from (f"Why not yet: {WHY_NOT[goal]}.", "")
            yield from each.lines
            yield from _origin(Store(goal).all())
    yield from ("", "## The noises", "")
    yield from _noises()


def _outdated(goal: str, judges: Mapping[str, str]) -> str:
    """How many cells were measured before the judge was changed last, as the page was written."""
    goal = _KEPT_WITH.get(goal, goal)
    results = Store(goal).all()
    earlier = sum(each.judge != judges[judged_by(goal, each.cell)] for each in results)
    return f"**{earlier} of {len(results)} cells by an earlier judge**" if earlier else ""


def _origin(results: list[Result]) -> Iterator[str]:
    if not results:
        return
    days = sorted({day for each in results for day in each.dates})
    judges = sorted({each.judge for each in results})
    hours = sum(each.seconds for each in results) / 3600
    studies = sum(each.studies for each in results)
    kinds = {judged_by(each.goal, each.cell) for each in results}
    mixed = "" if len(judges) <= len(kinds) else " (cells of several: run them again to compare)"
    yield ""
    yield (
        f"{len(results)} cells of {sizes_text((0, each.studies) for each in results)}, "
        f"{hours:.2f} hours of one core ({1e3 * 3600 * hours / studies:.0f} ms a study), "
        f"{' and '.join(dict.fromkeys((days[0], days[-1])))}, judge {', '.join(judges)}{mixed}."
    )


def _noises() -> Iterator[str]:
    yield "Natural logarithms, one value for each visit; `tests/calibration/noises.py`."
    yield ""
    yield "| noise | what it is |"
    yield "|---|---|"
    for name, noise in NOISES.items():
        yield f"| {name} | {' '.join((noise.__doc__ or '').split()).rstrip('.')} |"
