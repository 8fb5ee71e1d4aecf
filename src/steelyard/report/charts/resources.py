"""Resources over time: median and spread over trials by system, the window shaded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from steelyard.judge.analyses.events.findings import EventFinding
from steelyard.judge.analyses.resources.findings import ResourceFinding, ResourceName
from steelyard.report.charts.colours import BAND, MUTED, system_colours
from steelyard.report.charts.conditions import Panels, evenly
from steelyard.report.charts.drawing import Across, Drawing, Figures, draw
from steelyard.report.charts.vega import Spec, axis_over, constant, layered, marks, scaled
from steelyard.report.figures import Scale, counted, scale_for, significant
from steelyard.report.view import View

WIDTH_PX, HEIGHT_PX = 300, 120
FAR_LIMIT = 4.0
"""A limit so many times above all that was used is in the words and not drawn."""

LABELS: dict[ResourceName, str] = {
    "answers": "operations answered well",
    "service_cpu": "CPU of the service",
    "system_cpu": "CPU of the system's machine",
    "host_cpu": "CPU of the host",
    "generator_cpu": "CPU of the load generator's machine",
    "disk_write": "disk writes",
    "disk_flush": "disk flushes",
    "service_memory": "memory of the service",
    "memory_dirty": "memory waiting to be written",
    "steal": "CPU time stolen by the hypervisor",
    "io_pressure": "time with tasks waiting for I/O",
}


def resource_panels(view: View) -> Iterator[Panels]:
    """A panel for each resource and condition, the axes of a resource alike in all conditions."""
    by_condition: dict[str, list[ResourceFinding]] = {}
    for found in view.own.resources:
        where = view.run.labels.conditions(found.cell.conditions)
        by_condition.setdefault(where, []).append(found)
    for number, (where, found_there) in enumerate(evenly(list(by_condition.items()))):
        yield Panels(where, tuple(_drawings(view, found_there, where, number)))


def _drawings(
    view: View, found: Sequence[ResourceFinding], where: str, number: int
) -> list[Drawing]:
    names = dict.fromkeys(each.resource for each in found)
    drawings = []
    for name in names:
        own = [each for each in found if each.resource == name]
        all_of_it = [each for each in view.own.resources if each.resource == name]
        highest = max(max(each.high) for each in all_of_it)
        drawings.append(_drawing(view, own, where, f"resource-{name}-{number}", highest))
    return drawings


def _drawing(
    view: View, own: Sequence[ResourceFinding], where: str, name: str, highest: float
) -> Drawing:
    scale = scale_for([highest], own[0].unit)
    label = LABELS[own[0].resource]
    chart = _chart(view, own, scale, highest)
    said = [_words(each, scale) for each in own]
    words = "; ".join([*said, *_absent_words(view, own), *_event_words(view, own)])
    title = f"{label}, {scale.unit}" + (f", at {where}" if where else "")
    begin, end = _extent(own)
    across = Across(WIDTH_PX, begin, end, column=1)
    return draw(chart, name, title, f"{words}.", _figures(own), across=across)


def _words(found: ResourceFinding, scale: Scale) -> str:
    inside = [
        m for at, m in zip(found.at_s, found.median, strict=True) if 0 <= at <= found.window_s
    ]
    said = f"{found.cell.system}: {counted(found.trials, 'trial')}"
    if inside:
        said += f", median in the window {_in(sum(inside) / len(inside), scale)}"
    if found.limit is not None:
        said += f" of {_in(found.limit, scale)}"
    if found.refused:
        said += f"; {counted(found.refused, 'reading')} above that refused"
    return said


def _in(value: float, scale: Scale) -> str:
    return f"{significant(value / scale.divisor)} {scale.unit}".rstrip()


def _absent_words(view: View, own: Sequence[ResourceFinding]) -> list[str]:
    there = {each.cell.system for each in own}
    return [f"{system}: not measured" for system in view.run.systems if system not in there]


def _chart(view: View, own: Sequence[ResourceFinding], scale: Scale, highest: float) -> Spec:
    limits = sorted({each.limit for each in own if each.limit is not None})
    drawn = [limit for limit in limits if limit <= FAR_LIMIT * highest]
    top = max([highest, *drawn]) / scale.divisor * 1.08
    begin, end = _extent(own)
    x = axis_over(begin, end, title="time from the start of the window, s", grid=False,
                  tickCount=5, format="~r")  # fmt: skip
    y = axis_over(0, top, title=scale.unit, tickCount=4, domain=False, ticks=False, minExtent=30,
                  format="~r")  # fmt: skip
    layers = [
        _window(own, x),
        *_events(view, own, x),
        *_bands(view, own, scale, x, y),
        *_limits(drawn, scale, x, y, end),
        _absent(view, own),
    ]
    return layered(layers, WIDTH_PX, HEIGHT_PX)


def _extent(own: Sequence[ResourceFinding]) -> tuple[float, float]:
    """From the first reading to the last, the window within."""
    begin = min(each.at_s[0] for each in own)
    return min(begin, 0.0), max(*(e.at_s[-1] for e in own), *(e.window_s for e in own))


def _window(own: Sequence[ResourceFinding], x: Spec) -> Spec:
    rows = [{"a": 0.0, "b": max(each.window_s for each in own)}]
    return marks("rect", rows, {"x": scaled("a", x), "x2": "b"}, color=BAND, opacity=1)


def _happened(view: View, own: Sequence[ResourceFinding]) -> dict[str, tuple[float, float]]:
    """When each event happened, over all cells of a panel."""
    cells = [each.cell for each in own]
    spans: dict[str, list[EventFinding]] = {}
    for found in view.own.happened:
        if found.cell in cells:
            spans.setdefault(found.event, []).append(found)
    return {
        name: (min(each.began_s for each in of), max(each.ended_s for each in of))
        for name, of in spans.items()
    }


def _event_words(view: View, own: Sequence[ResourceFinding]) -> list[str]:
    return [
        f"event {name} from {significant(began)} s to {significant(ended)} s"
        for name, (began, ended) in _happened(view, own).items()
    ]


def _events(view: View, own: Sequence[ResourceFinding], x: Spec) -> list[Spec]:
    rows = [
        {"a": began, "b": ended, "said": name}
        for name, (began, ended) in _happened(view, own).items()
    ]
    at = {"x": scaled("a", x)}
    words = {**at, "y": constant(2), "text": "said"}
    drawn = [
        marks("rect", rows, {**at, "x2": "b"}, color=MUTED, opacity=0.25),
        marks("rule", rows, at, color=MUTED, strokeWidth=1.2),
        marks("text", rows, words, align="left", baseline="top", dx=3, fontSize=10, color=MUTED),
    ]
    return drawn if rows else []


def _bands(
    view: View, own: Sequence[ResourceFinding], scale: Scale, x: Spec, y: Spec
) -> list[Spec]:
    rows = [
        {
            "t": at,
            "m": middle / scale.divisor,
            "l": low / scale.divisor,
            "h": high / scale.divisor,
            "system": each.cell.system,
        }
        for each in own
        for at, middle, low, high in zip(each.at_s, each.median, each.low, each.high, strict=True)
    ]
    base = {"x": scaled("t", x), "color": system_colours(view.run.systems)}
    return [
        marks("area", rows, {**base, "y": scaled("l", y), "y2": "h"}, opacity=0.22, clip=True),
        marks("line", rows, {**base, "y": scaled("m", y)}, strokeWidth=1.8, clip=True),
    ]


def _limits(limits: Sequence[float], scale: Scale, x: Spec, y: Spec, end: float) -> list[Spec]:
    rows = [
        {"y": limit / scale.divisor, "x": end, "said": f"limit {_in(limit, scale)}"}
        for limit in limits
    ]
    at = {"y": scaled("y", y)}
    words = {**at, "x": scaled("x", x), "text": "said"}
    return [
        marks("rule", rows, at, color=MUTED, strokeDash=[4, 3], strokeWidth=1.2),
        marks("text", rows, words, align="right", baseline="bottom", dy=-2, fontSize=10,
              color=MUTED),
    ]  # fmt: skip


def _absent(view: View, own: Sequence[ResourceFinding]) -> Spec:
    """The systems without a band here say so in the panel."""
    words = _absent_words(view, own)
    rows = [{"said": "; ".join(words)}] if words else []
    place = {"x": constant(WIDTH_PX), "y": constant(HEIGHT_PX - 4), "text": "said"}
    return marks("text", rows, place, fontStyle="italic", color=MUTED, align="right",
                 baseline="bottom", limit=WIDTH_PX)  # fmt: skip


def _figures(own: Sequence[ResourceFinding]) -> Figures:
    unit = own[0].unit
    head = ("system", "time, s", f"median, {unit}", f"10 %, {unit}", f"90 %, {unit}", "limit")
    rows = tuple(
        (each.cell.system, at, middle, low, high, each.limit)
        for each in own
        for at, middle, low, high in zip(each.at_s, each.median, each.low, each.high, strict=True)
    )
    return Figures(head, rows)
