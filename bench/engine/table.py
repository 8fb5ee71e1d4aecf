"""The table of ratios, on a screen and on a page."""

from __future__ import annotations

from bench.engine.rows import Row

HEAD = (
    *("contest", "against", "figure", "goal", "ratio", "95 % interval", "verdict", "n", "met"),
    "minimal client",
)


def text(rows: list[Row]) -> str:
    """One line for each goal; reasons stand below the contest they are about."""
    lines = [HEAD, *(cells(row) for row in rows)]
    widths = [max(len(line[place]) for line in lines) for place in range(len(HEAD))]
    return "\n".join(line_of(line, widths) for line in lines) + reasons(rows)


def cells(row: Row) -> tuple[str, ...]:
    """One goal; what could not be measured is no number."""
    begin = (row.name, row.peer, row.unit, row.goal)
    if row.value is None:
        return (*begin, "failed" if row.failed else "not measured", "", "", "", "?", "")
    met = {True: "yes", False: "no", None: "open"}[row.met]
    least = "" if row.least is None else f"{row.least:.3g}"
    return (*begin, f"{row.value:.3g}", interval(row), row.verdict, str(row.count), met, least)


def interval(row: Row) -> str:
    """Nothing for a reading."""
    if not row.verdict:
        return ""
    low = "0" if row.low is None else f"{row.low:.3g}"
    high = "unbounded" if row.high is None else f"{row.high:.3g}"
    return f"{low} to {high}"


def line_of(line: tuple[str, ...], widths: list[int]) -> str:
    return "  ".join(f"{cell:{width}}" for cell, width in zip(line, widths, strict=True)).rstrip()


def reasons(rows: list[Row]) -> str:
    """Every reason once."""
    told = dict.fromkeys(
        f"{row.name}: {'failed' if row.failed else 'not measured'}: {row.reason}"
        for row in rows
        if row.reason is not None
    )
    return "\n\n" + "\n".join(told) if told else ""
