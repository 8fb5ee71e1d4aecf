"""Rows of effects: their cells, and what is drawn beside each."""

from __future__ import annotations

from dataclasses import dataclass, replace

from steelyard.report.view import NONE

VERDICT = "Verdict"
_WIDE_CHARACTERS = 75


@dataclass(frozen=True)
class Mark:
    """What is drawn of a row, in logarithms of the raw response; an end without a bound is None."""

    estimate_log: float | None
    low_log: float | None
    high_log: float | None
    margin_log: float
    decided: bool
    whole: bool
    system: int


@dataclass(frozen=True)
class EffectRow:
    """``group`` is the heading that the row stands under; ``whole`` rows lead those of a part."""

    cells: tuple[str, ...]
    mark: Mark
    group: str = ""
    anchor: str | None = None


@dataclass(frozen=True)
class EffectRows:
    """``head`` names the cells; ``minor`` are the columns that a narrow page leaves out."""

    caption: str
    head: tuple[str, ...]
    rows: tuple[EffectRow, ...]
    direction: tuple[str, str]
    minor: frozenset[int]
    numeric: frozenset[int]
    notes: tuple[str, ...] = ()

    @property
    def is_wide(self) -> bool:
        """Whether its longest cells together take more than three fifths of a line."""
        columns = zip(self.head, *(row.cells for row in self.rows), strict=True)
        return sum(max(map(len, column)) for column in columns) > _WIDE_CHARACTERS


def lean(table: EffectRows) -> EffectRows:
    """Without columns that say nothing: empty ones, and a verdict that all rows share."""
    columns = list(zip(*(row.cells for row in table.rows), strict=True))
    kept = [
        place
        for place, cells in enumerate(columns)
        if set(cells) != {NONE} and not (table.head[place] == VERDICT and len(set(cells)) == 1)
    ]
    return replace(
        table,
        head=tuple(table.head[place] for place in kept),
        rows=tuple(
            replace(row, cells=tuple(row.cells[place] for place in kept)) for row in table.rows
        ),
        minor=frozenset(kept.index(place) for place in table.minor if place in kept),
        numeric=frozenset(kept.index(place) for place in table.numeric if place in kept),
    )
