"""All pictures of a report, from view and series."""

from __future__ import annotations

from dataclasses import dataclass, replace

from steelyard.report.charts.drawing import Drawing
from steelyard.report.charts.effect import effect_drawings
from steelyard.report.charts.influence import influence_drawings, pair_drawings
from steelyard.report.charts.load import load_drawing
from steelyard.report.charts.requests import request_drawings
from steelyard.report.charts.saturation import saturation_drawings
from steelyard.report.charts.time import Panels, Series, order_drawing, resource_panels
from steelyard.report.view import View
from steelyard.report.vocabulary import primary_response


@dataclass(frozen=True)
class Charts:
    """The pictures by where they stand in the report; what could not be drawn is absent."""

    effect: tuple[Drawing, ...]
    influence: tuple[Drawing, ...]
    pairs: tuple[Drawing, ...]
    primary: Drawing | None
    secondary: tuple[Drawing, ...]
    resources: tuple[Panels, ...]
    order: Drawing | None
    saturation: tuple[Drawing, ...] = ()
    requests: tuple[Drawing, ...] = ()


def all_charts(view: View, series: Series) -> Charts:
    """Draw everything that the data can show; of one of several workloads, under its name."""
    drawn = _drawn(view, series)
    return drawn if view.heading is None else _renamed(drawn, f"{view.heading}-")


def _renamed(charts: Charts, prefix: str) -> Charts:
    def named(drawings: tuple[Drawing, ...]) -> tuple[Drawing, ...]:
        return tuple(each.renamed(prefix) for each in drawings)

    return Charts(
        effect=named(charts.effect),
        influence=named(charts.influence),
        pairs=named(charts.pairs),
        primary=charts.primary and charts.primary.renamed(prefix),
        secondary=named(charts.secondary),
        resources=tuple(replace(p, drawings=named(p.drawings)) for p in charts.resources),
        order=charts.order and charts.order.renamed(prefix),
        saturation=named(charts.saturation),
        requests=named(charts.requests),
    )


def _drawn(view: View, series: Series) -> Charts:
    primary = primary_response(view)
    rest = (load_drawing(view, r) for r in view.own.responses if not r.primary)
    return Charts(
        effect=tuple(effect_drawings(view)),
        influence=tuple(influence_drawings(view)),
        pairs=tuple(pair_drawings(view)),
        primary=None if primary is None else load_drawing(view, primary),
        secondary=tuple(drawing for drawing in rest if drawing is not None),
        resources=tuple(resource_panels(view, series)),
        order=order_drawing(view),
        saturation=tuple(saturation_drawings(view)),
        requests=tuple(request_drawings(view)),
    )
