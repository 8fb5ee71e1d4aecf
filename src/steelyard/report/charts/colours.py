"""Colours and shapes of what is drawn, as variables of the page with the colours of paper."""

from __future__ import annotations

from collections.abc import Sequence

from steelyard.report.charts.vega import Spec

INK = "var(--ink,#1d2330)"
MUTED = "var(--muted,#5b6472)"
RULE = "var(--rule,#dfe2e8)"
BAND = "var(--band,#e9ecf2)"
PAPER = "var(--paper,#ffffff)"

# Okabe and Ito, ordered so that neighbours differ in lightness too; shapes repeat the difference.
SYSTEM_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#aa4499", "#8a6d00", "#4b5a6b")
PART_COLOURS = ("#2f6db3", "#a85b00", "#4d7d1f", "#8a4fa3", "#a33b52", "#6b6200", "#5b6472")
SYSTEM_SHAPES = ("circle", "triangle-up", "square", "diamond", "cross", "triangle-down")


def colour_of(index: int) -> str:
    """The colour of a system by its place in the study."""
    place = index % len(SYSTEM_COLOURS)
    return f"var(--system-{place},{SYSTEM_COLOURS[place]})"


def system_colours(
    systems: Sequence[str], field: str = "system", legend: Spec | None = None
) -> Spec:
    """A channel of colours: one for each system, the same in every chart of a report."""
    return _named(field, systems, [colour_of(i) for i in range(len(systems))], legend)


def system_shapes(
    systems: Sequence[str], field: str = "system", legend: Spec | None = None
) -> Spec:
    """A channel of shapes, one for each system: colour is never the only difference."""
    shapes = [SYSTEM_SHAPES[i % len(SYSTEM_SHAPES)] for i in range(len(systems))]
    return _named(field, systems, shapes, legend)


def part_colours(names: Sequence[str], field: str, legend: Spec) -> Spec:
    """Colours of things that are no systems, in the same order wherever they are drawn."""
    colours = [
        f"var(--part-{i % len(PART_COLOURS)},{PART_COLOURS[i % len(PART_COLOURS)]})"
        for i in range(len(names))
    ]
    return _named(field, names, colours, legend)


def _named(field: str, names: Sequence[str], shown: list[str], legend: Spec | None) -> Spec:
    scale = {"domain": list(names), "range": shown}
    return {"field": field, "type": "nominal", "scale": scale, "legend": legend}
