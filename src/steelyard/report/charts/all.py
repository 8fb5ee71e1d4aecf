"""All pictures of a report, from findings and series."""

from __future__ import annotations

from dataclasses import dataclass, replace

from steelyard.judge.findings import Findings
from steelyard.report.charts.drawing import Drawing
from steelyard.report.charts.effect import effect_drawings
from steelyard.report.charts.influence import influence_drawings, pair_drawings
from steelyard.report.charts.load import load_drawing
from steelyard.report.charts.requests import request_drawings
from steelyard.report.charts.saturation import saturation_drawings
from steelyard.report.charts.time import Panels, Series, order_drawing, resource_panels
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


def all_charts(findings: Findings, series: Series) -> Charts:
    """Draw everything that the data can show; of one of several workloads, under its name."""
    drawn = _drawn(findings, series)
    return drawn if findings.workload is None else _renamed(drawn, f"{findings.workload}-")


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


def _drawn(findings: Findings, series: Series) -> Charts:
    primary = primary_response(findings)
    rest = (load_drawing(findings, r) for r in findings.responses if not r.primary)
    return Charts(
        effect=tuple(effect_drawings(findings)),
        influence=tuple(influence_drawings(findings)),
        pairs=tuple(pair_drawings(findings)),
        primary=None if primary is None else load_drawing(findings, primary),
        secondary=tuple(drawing for drawing in rest if drawing is not None),
        resources=tuple(resource_panels(findings, series)),
        order=order_drawing(findings),
        saturation=tuple(saturation_drawings(findings)),
        requests=tuple(request_drawings(findings)),
    )
