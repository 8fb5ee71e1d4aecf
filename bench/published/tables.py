"""What is printed: the plan of all studies with its sum, and what was decided."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from bench.published.forecast import Forecast
from bench.published.listing import Listing, Task

from steelyard.report.figures import counted
from steelyard.units import format_bytes, format_duration
from steelyard.web.index import ListedRun

_RIGHT = frozenset({"cells", "visits", "trials", "disk", "forecast", "at most"})
_HEAD = ("", "study", "cells", "visits", "trials", "disk", "forecast", "at most", "state")
_ENDED = ("", "study", "ended", "answer")


def plan_lines(
    listed: Listing, planned: Sequence[Forecast], states: Mapping[str, str]
) -> Iterator[str]:
    """Each study in a row, all together, and what is left out with the reason."""
    yield from _aligned([_HEAD, *(_row(each, states[each.task.name]) for each in planned)])
    if any(each.is_longer for each in planned):
        yield "+: and what runs take whose length no one knows before; at most the budget of time"
    yield ""
    yield _sum(planned)
    for name, why in listed.left_out.items():
        yield f"left out: {name}, which {why}"


def _row(each: Forecast, state: str) -> tuple[str, ...]:
    counts = (f"{count:,}" for count in (each.cells, each.visits, each.trials))
    takes = format_duration(each.takes_s) + ("+" if each.is_longer else "")
    most = "-" if each.most_s is None else format_duration(each.most_s)
    disk = format_bytes(each.disk_bytes)
    return (each.task.source, each.task.title, *counts, disk, takes, most, state)


def _sum(planned: Sequence[Forecast]) -> str:
    takes_s = sum(each.takes_s for each in planned)
    longer = "+" if any(each.is_longer for each in planned) else ""
    limited = [each.most_s for each in planned if each.most_s is not None]
    return (
        f"all together: {counted(len(planned), 'run')}, "
        f"{counted(sum(each.trials for each in planned), 'trial')}, "
        f"{format_bytes(sum(each.disk_bytes for each in planned))} of results, forecast "
        f"{format_duration(takes_s)}{longer}, at most {format_duration(sum(limited))}"
    )


def lacking_lines(missing: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """What pre-flight found to be missing, and for which studies."""
    for cause, names in missing.items():
        yield f"missing for {', '.join(dict.fromkeys(names))}: {cause}"
    if not missing:
        yield "nothing is missing that can be looked for"


def ended_lines(
    tasks: Sequence[Task], runs: Mapping[str, ListedRun | None], answers: Mapping[str, str]
) -> Iterator[str]:
    """How the run of each study stands, and what it decided."""
    rows = []
    for task in tasks:
        run = runs[task.name]
        ended = "no run" if run is None else run.status.replace("_", " ")
        rows.append((task.source, task.title, ended, answers.get(task.name, "-")))
    yield from _aligned([_ENDED, *rows])


def _aligned(rows: Sequence[tuple[str, ...]]) -> Iterator[str]:
    """The first row is the head."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = zip(rows[0], row, widths, strict=True)
        texts = (t.rjust(width) if name in _RIGHT else t.ljust(width) for name, t, width in cells)
        yield "  ".join(texts).rstrip()
