"""Why cells and rows of a table of one response are empty."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from steelyard.judge.findings import CellFinding, VerdictFinding
from steelyard.judge.kinds.verdict_notes import NotJudged, ValueUnusable
from steelyard.plan.model import Cell
from steelyard.report import notes
from steelyard.report.figures import counted, listed
from steelyard.study.labels import Labels

NOT_MEASURED = "not measured"
BEYOND = "beyond all values"
MOST_REASONS = 1
_MOST_PLACES = 3


def missing_notes(cells: Sequence[CellFinding], labels: Labels) -> list[str]:
    """Why cells are empty, each reason once; single failed attempts are in their own table."""
    places: dict[str, list[str]] = {}
    for cell in cells:
        if not cell.values:
            said = f"{BEYOND if cell.beyond else NOT_MEASURED}, {_why_missing(cell, labels)}"
            places.setdefault(said, []).append(labels.place(cell.cell.system, cell.cell.conditions))
    return [f"{_among(own, len(cells))}: {said}." for said, own in places.items()]


def partial_notes(cells: Iterable[tuple[CellFinding, int]], labels: Labels) -> Iterator[str]:
    """Where some of the trials that count, whose number stands beside each cell, lack the value:
    those that have one may be others than those that do not.
    """
    for cell, valid in cells:
        if 0 < len(cell.values) < valid and cell.not_measured:
            place = labels.place(cell.cell.system, cell.cell.conditions)
            count = f"{len(cell.values)} of {valid} trials"
            yield f"{place}: of {count}; the others have none ({_why_missing(cell, labels)})."


def undefined_notes(
    judged: Iterable[tuple[Cell, VerdictFinding | None]], labels: Labels
) -> Iterator[str]:
    """Why rows have no ratio, each reason once, beside the values that cells lack."""
    rows: dict[str, list[str]] = {}
    for place, verdict in judged:
        if verdict is None or verdict.estimate_log is not None:
            continue
        undefined = [each for each in verdict.not_judged if not _is_missing(each)]
        if why := "; ".join(notes.texts(undefined, labels)):
            rows.setdefault(why, []).append(labels.place(place.system, place.conditions))
    for why, own in rows.items():
        yield f"{listed(own) if len(own) <= _MOST_PLACES else counted(len(own), 'row')}: {why}."


def _is_missing(why: NotJudged) -> bool:
    return isinstance(why, ValueUnusable) and why.value == "missing"


def _among(places: Sequence[str], cells: int) -> str:
    """A few by name; of many their number, since the table itself says which they are."""
    if len(places) <= _MOST_PLACES:
        return ", ".join(places)
    return "All cells" if len(places) == cells else f"{len(places)} of {cells} cells"


def _why_missing(cell: CellFinding, labels: Labels) -> str:
    reasons = notes.texts(cell.not_measured, labels)
    more = len(reasons) - MOST_REASONS
    said = [*reasons[:MOST_REASONS], *([f"and {more} more"] if more > 0 else [])]
    return "; ".join(said) or "never tried"
