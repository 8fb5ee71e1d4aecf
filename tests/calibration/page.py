"""docs/methods/validation.md, from stored results alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from tests.calibration.goals import GOALS, Told
from tests.calibration.noises import NOISES
from tests.calibration.sections_errors import at_the_margin, false_differences, unequal_spread
from tests.calibration.sections_families import curves, screenings, warm_ups
from tests.calibration.sections_live import live, repeated
from tests.calibration.sections_real import banks, faults, planted, replay
from tests.calibration.sections_trials import (
    beside_fixed_sizes,
    beside_rivals,
    visits_to_a_verdict,
)
from tests.calibration.store import Result, Store

PAGE = Path(__file__).parents[2] / "docs" / "methods" / "validation.md"
_HEAD = """\
# Validation

Written by `make validate` from what was run; do not edit. How each figure comes about is in
`tests/calibration/`, the method in [judge.md](judge.md). A share stands with its one-sided 99 %
bound in brackets (Clopper and Pearson). **reached**: the bound is within the goal. **open**: what
was run cannot tell yet. **not reached**: it is known to be beyond the goal.

    make validate                             # every cell to its default size, then this page
    make validate STUDIES=20000 ONLY=G1       # one goal, larger; runs add up, cell by cell
    make validate-page                        # this page again, without measuring

Seeds are the SHA-256 of the names of the cells, so the counts are the same on every machine.
"""


def write_page() -> Path:
    """Writes the page and says where."""
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
    "G8": repeated,
    "G9": lambda: screenings(Store("G9"), Store("G1")),
    "G10": lambda: curves(Store("G10")),
    "G11": lambda: warm_ups(Store("G11")),
    "G12": lambda: faults(Store("G12")),
    "G13": lambda: replay(Store("G13")),
    "G14": lambda: planted(Store("G14")),
    "G15": lambda: unequal_spread(Store("G15")),
}


def _lines(told: dict[str, Told]) -> Iterator[str]:
    yield _HEAD
    yield "| | wanted | reached | |"
    yield "|---|---|---|---|"
    for goal, wanted in GOALS.items():
        yield f"| {goal} | {wanted} | {told[goal].reached} | {told[goal].standing} |"
    for goal, each in told.items():
        if each.lines:
            yield from ("", f"## {goal}", f"Wanted: {GOALS[goal]}.", "", *each.lines)
            yield from _origin(Store(goal).all())
    yield from ("", "## The noises", "")
    yield from _noises()


def _origin(results: list[Result]) -> Iterator[str]:
    if not results:
        return
    days = sorted({day for each in results for day in each.dates})
    judges = sorted({each.judge for each in results})
    sizes = sorted(each.studies for each in results)
    hours = sum(each.seconds for each in results) / 3600
    mixed = "" if len(judges) == 1 else " (cells of several: run them again to compare)"
    yield ""
    yield (
        f"{len(results)} cells of {sizes[0]:,} to {sizes[-1]:,} studies, {hours:.2f} hours of one "
        f"core, {' and '.join({days[0], days[-1]})}, judge {', '.join(judges)}{mixed}."
    )


def _noises() -> Iterator[str]:
    yield "Natural logarithms, one value for each visit; `tests/calibration/noises.py`."
    yield ""
    yield "| noise | what it is |"
    yield "|---|---|"
    for name, noise in NOISES.items():
        yield f"| {name} | {' '.join((noise.__doc__ or '').split()).rstrip('.')} |"
