"""The table of ratios."""

from __future__ import annotations

from bench.engine.contest import Row

HEAD = ("contest", "peer", "figure", "ratio", "spread", "goal", "met", "minimal client")


def text(rows: list[Row]) -> str:
    """One line for each goal; reasons stand below the contest they are about."""
    lines = [HEAD, *(cells(row) for row in rows)]
    widths = [max(len(line[place]) for line in lines) for place in range(len(HEAD))]
    return "\n".join(line_of(line, widths) for line in lines) + reasons(rows)


def cells(row: Row) -> tuple[str, ...]:
    if row.median is None or row.low is None or row.high is None:
        state = "failed" if row.failed else "not measured"
        return (row.name, row.peer, row.unit, state, "", row.goal, "?", "")
    spread = f"{row.low:.3g} to {row.high:.3g}"
    met = "yes" if row.met else "NO"
    least = "" if row.least is None else f"{row.least:.3g}"
    return (row.name, row.peer, row.unit, f"{row.median:.3g}", spread, row.goal, met, least)


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
