"""Charts stand where the renderer of Vega-Lite puts them, from whose language theirs was taken."""

from __future__ import annotations

import json
import math
import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest
import vl_convert
from tests.unit.report.golden_findings import CASES, golden, sampled

from steelyard.report.charts import drawing
from steelyard.report.charts.all import all_charts
from steelyard.report.charts.svg.picture import Picture, picture
from steelyard.report.view import views

Spec = dict[str, Any]
KINDS = {"bar", "line", "area", "point", "rule", "rect", "text"}
LOOK = {
    "aria": False,
    "background": "none",
    "view": {"stroke": None},
    "text": {"fontSize": 11},
    "padding": {"left": 14, "top": 6, "right": 6, "bottom": 4},
    "axis": {
        "labelFontSize": 11,
        "titleFontSize": 11,
        "titlePadding": 12,
        "titleFontWeight": "normal",
    },
}
SHORT = "format(datum.value, datum.value >= 10 ? ',.0f' : '.2~g')"


class Place(NamedTuple):
    """A text, or the upper left corner of a mark, and where it is."""

    what: str
    x: float
    y: float


@pytest.fixture(scope="module")
def kinds() -> dict[str, Spec]:
    """One document of each kind that golden findings have."""
    found: dict[str, Spec] = {}

    def drawn(chart: Spec, name: str) -> Picture:
        kind = json.dumps([[layer["mark"], sorted(layer["encoding"])] for layer in chart["layer"]])
        found.setdefault(kind, chart)
        return picture(chart, name)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(drawing, "picture", drawn)
        for case in CASES:
            all_charts(views(sampled(golden(case)))[0])
    return found


def in_vega_lite(chart: Spec) -> Spec:
    """The same document with labels and conditions as expressions."""
    copy: Spec = json.loads(json.dumps(chart))
    for layer in copy["layer"]:
        for channel in layer["encoding"].values():
            axis = channel.get("axis") or {}
            if axis.get("format") == "short":
                axis["labelExpr"] = SHORT
                del axis["format"]
            if "labels" in axis:
                axis["labelExpr"] = label_at_value(axis)
            if channel.get("type") == "nominal":
                axis.pop("values", None)
            if "condition" in channel:
                channel["condition"]["test"] = f"datum.{channel['condition']['test']}"
    return {**copy, "config": LOOK}


def label_at_value(axis: Spec) -> str:
    text = "''"
    for value, lines in zip(axis["values"], axis.pop("labels"), strict=True):
        same = (
            f"datum.value == '{value}'"
            if isinstance(value, str)
            else f"abs(datum.value - ({value!r})) < 1e-9"
        )
        text = f"{same} ? {json.dumps(lines)} : {text}"
    return text


def moved(element: ET.Element, x: float, y: float, turned: bool) -> tuple[float, float, bool]:
    """The origin of an element, and whether its own axes are turned: then it is not compared."""
    for move, by in re.findall(r"(\w+)\(([^)]*)\)", element.get("transform", "")):
        numbers = [float(each) for each in re.split("[ ,]+", by)]
        if move == "rotate":
            turned = True
        elif not turned:
            x, y = x + numbers[0], y + numbers[1]
    return x, y, turned


def places(element: ET.Element, x: float = 0, y: float = 0) -> Iterator[Place]:
    """Of all texts of one line, and of all marks that have a fill or are curves."""
    if element.tag.endswith(("clipPath", "defs")):
        return
    x, y, turned = moved(element, x, y, turned=False)
    words, path = "".join(element.itertext()), element.get("d", "")
    if element.tag.endswith("text") and not turned and len(element) == 0:
        yield Place(words, x + float(element.get("x", 0)), y + float(element.get("y", 0)))
    colour = element.get("fill", "none")
    if element.tag.endswith("rect") and colour != "none":
        yield Place(colour, x + float(element.get("x", 0)), y + float(element.get("y", 0)))
    elif element.tag.endswith("path") and colour not in {"none", "transparent"}:
        begin = re.match(r"M(-?[\d.e-]+),(-?[\d.e-]+)", path)
        assert begin is not None
        yield Place(colour, x + float(begin[1]), y + float(begin[2]))
    for child in element:
        if child.tag.split("}")[-1] != "title":
            yield from places(child, x, y)


def in_plot(root: ET.Element) -> list[Place]:
    """All, as seen from the upper left corner of the plot."""
    whole = next(each for each in root if each.get("transform"))
    x, y, _ = moved(whole, 0, 0, turned=False)
    return [Place(each.what, each.x - x, each.y - y) for each in places(whole)]


def unlike(ours: list[Place], theirs: list[Place]) -> list[Place]:
    """What of theirs has none of ours within one pixel."""
    left = list(ours)
    missing = []
    for place in theirs:
        near = [each for each in left if each.what == place.what and apart(each, place) <= 1.1]
        if near:
            left.remove(near[0])
        else:
            missing.append(place)
    return missing + left


def apart(one: Place, other: Place) -> float:
    return max(abs(one.x - other.x), abs(one.y - other.y))


def labels_of_rows(chart: Spec) -> bool:
    """Rows with labels of several lines: there these are put in the middle, unlike theirs."""
    axes = [layer["encoding"].get("y", {}).get("axis") or {} for layer in chart["layer"]]
    return any(len(lines) > 1 for axis in axes for lines in axis.get("labels", ()))


def test_golden_findings_have_every_kind_of_mark(kinds: dict[str, Spec]) -> None:
    marks = {layer["mark"]["type"] for chart in kinds.values() for layer in chart["layer"]}
    assert marks == KINDS


def test_texts_and_marks_stand_where_vega_lite_puts_them(kinds: dict[str, Spec]) -> None:
    for chart in kinds.values():
        if labels_of_rows(chart):
            continue
        drawn = picture(chart, "own")
        theirs = vl_convert.vegalite_to_svg(in_vega_lite(chart), vl_version="6.4")
        root = ET.fromstring(theirs)  # noqa: S314 - made by us
        size = [float(root.get(side, 0)) for side in ("width", "height")]
        assert size == pytest.approx([drawn.width_px, drawn.height_px], abs=3)
        own = in_plot(ET.fromstring(f"<svg>{drawn.body}</svg>"))  # noqa: S314 - the same
        assert unlike(own, in_plot(root)) == []
        assert all(math.isfinite(place.x + place.y) for place in own)
