"""All pictures of a report, from the findings of one workload."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from steelyard.report.charts.conditions import Panels
from steelyard.report.charts.drawing import Drawing
from steelyard.report.charts.effect import effect_drawings
from steelyard.report.charts.heat import heat_drawings
from steelyard.report.charts.influence import influence_drawings, pair_drawings
from steelyard.report.charts.latency import tail_drawings
from steelyard.report.charts.latency_load import latency_load_drawing
from steelyard.report.charts.load import load_drawing
from steelyard.report.charts.phases import phase_drawings
from steelyard.report.charts.resources import resource_panels
from steelyard.report.charts.saturation import saturation_drawings
from steelyard.report.charts.trials import trial_drawings
from steelyard.report.view import View
from steelyard.report.vocabulary import primary_response

Drawings = tuple[Drawing, ...]


@dataclass(frozen=True)
class Charts:
    """The pictures by where they stand in the report; what could not be drawn is absent.

    Those of effects, factors, saturation, phases and trials are there twice: for wide pages, and
    behind that for narrow ones.
    """

    effect: Drawings
    influence: Drawings
    pairs: Drawings
    primary: Drawing | None
    secondary: Drawings
    saturation: Drawings
    tails: Drawings
    heat: tuple[Panels, ...]
    phases: Drawings
    latency_load: Drawing | None
    resources: tuple[Panels, ...]
    trials: Drawings


def all_charts(view: View) -> Charts:
    """Draw everything that the data can show; of one of several workloads, under its name."""
    drawn = _drawn(view)
    return drawn if view.heading is None else _renamed(drawn, f"{view.heading}-")


def _renamed(charts: Charts, prefix: str) -> Charts:
    def named(part: Any) -> Any:
        if isinstance(part, Drawing):
            return part.renamed(prefix)
        if isinstance(part, Panels):
            return Panels(part.condition, named(part.drawings))
        return tuple(map(named, part)) if isinstance(part, tuple) else part

    return Charts(**{field.name: named(getattr(charts, field.name)) for field in fields(charts)})


def _drawn(view: View) -> Charts:
    primary = primary_response(view)
    rest = (load_drawing(view, r) for r in view.own.responses if not r.primary)
    return Charts(
        effect=tuple(effect_drawings(view)),
        influence=tuple(influence_drawings(view)),
        pairs=tuple(pair_drawings(view)),
        primary=None if primary is None else load_drawing(view, primary),
        secondary=tuple(drawing for drawing in rest if drawing is not None),
        saturation=tuple(saturation_drawings(view)),
        tails=tuple(tail_drawings(view)),
        heat=tuple(heat_drawings(view)),
        phases=tuple(phase_drawings(view)),
        latency_load=latency_load_drawing(view),
        resources=tuple(resource_panels(view)),
        trials=tuple(trial_drawings(view)),
    )
