"""The block that a terminal shows while a session runs: what is done, what is left, verdicts."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.markup import escape
from rich.progress_bar import ProgressBar
from rich.table import Table as Grid

from steelyard.cli.session.state import SessionState
from steelyard.report.notes.warnings import kind_text
from steelyard.report.sentences.terminal.interim import forecast_words, further_words, left_words
from steelyard.report.view import Table

_LINES_BESIDE_VERDICTS = 8
_FEWEST_ROWS = 3
_BAR_COLUMNS = 24


def block(state: SessionState, height: int) -> RenderableType:
    """All of it, in no more lines than ``height``."""
    table = state.verdicts()
    parts: list[RenderableType] = [_facts(state)]
    if table is not None:
        parts.append(_verdicts(table, max(_FEWEST_ROWS, height - _LINES_BESIDE_VERDICTS)))
    return Group(*parts)


def _facts(state: SessionState) -> Grid:
    grid = Grid.grid(padding=(0, 2))
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column(overflow="ellipsis", no_wrap=True)
    if state.machine is not None:
        grid.add_row("machine", escape(state.machine))
    grid.add_row("now", escape(state.now))
    done = Grid.grid(padding=(0, 1))
    trials, visits = state.trials_planned, state.visits_planned
    bar = ProgressBar(total=trials or 1, completed=state.trials_done, width=_BAR_COLUMNS)
    counts = f"{state.trials_done} of {trials} trials, {state.visits_done} of {visits} visits"
    done.add_row(bar, f"{counts} at most")
    grid.add_row("done", done)
    left = left_words(state.left_s())
    if left is not None:
        grid.add_row("left", left)
    if state.look is None:
        grid.add_row("verdicts", "none yet")
    for title, text in _further(state):
        grid.add_row(title, escape(text))
    return grid


def _further(state: SessionState) -> Iterator[tuple[str, str]]:
    if state.look is not None:
        open_still = [*further_words(state.look), *forecast_words(state.look)]
        if open_still:
            yield "open", "; ".join(open_still)
    if state.warnings:
        kinds = state.warnings.most_common()
        yield "warnings", ", ".join(f"{kind_text(kind)} {count}" for kind, count in kinds)


def _verdicts(table: Table, most: int) -> Grid:
    """The first rows, and how many more there are."""
    shown = table.rows if len(table.rows) <= most else table.rows[: most - 1]
    grid = Grid(box=None, padding=(0, 2, 0, 0), header_style="dim", show_edge=False)
    for place, name in enumerate(table.head):
        right = place in table.numeric
        grid.add_column(
            name, justify="right" if right else "left", no_wrap=True, overflow="ellipsis"
        )
    for row in shown:
        grid.add_row(*map(escape, row))
    if len(shown) < len(table.rows):
        grid.add_row(f"and {len(table.rows) - len(shown)} more")
    return grid
