"""Charts are written as plain documents; here each kind is held against the schema of Vega-Lite."""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib import resources
from typing import Any

import altair as alt
import pytest
import vl_convert
from jsonschema import Draft7Validator
from tests.unit.report.golden_findings import CASES, golden, sampled

from steelyard.report.charts import drawing
from steelyard.report.charts.all import all_charts
from steelyard.report.view import views

SCHEMA = json.loads(
    resources.files("altair.vegalite.v6.schema").joinpath("vega-lite-schema.json").read_text()
)
KINDS = {
    "bar", "line", "area", "point", "rule", "rect", "text",
}  # fmt: skip


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """What the renderer is given from here on."""
    given: list[dict[str, Any]] = []

    def draw(spec: dict[str, Any], **_: Any) -> str:
        given.append(spec)
        return '<svg width="1" height="1"></svg>'

    monkeypatch.setattr(vl_convert, "vegalite_to_svg", draw)
    return given


def shapes(spec: dict[str, Any]) -> Iterator[str]:
    """What a document consists of besides its figures: one is enough of each."""
    for layer in spec["layer"]:
        yield json.dumps([layer["mark"], sorted(layer["encoding"])])


def test_every_kind_of_chart_is_what_the_schema_of_vega_lite_has(
    drawn: list[dict[str, Any]],
) -> None:
    for case in CASES:
        all_charts(views(sampled(golden(case)))[0])
    kinds = {tuple(shapes(spec)): spec for spec in drawn}
    assert {layer["mark"]["type"] for spec in drawn for layer in spec["layer"]} == KINDS
    validator = Draft7Validator(SCHEMA)
    for spec in kinds.values():
        few = [
            {**layer, "data": {"values": layer["data"]["values"][:1]}} for layer in spec["layer"]
        ]
        assert [error.message for error in validator.iter_errors({**spec, "layer": few})] == []


def test_the_renderer_is_asked_for_the_version_whose_schema_that_is() -> None:
    assert alt.SCHEMA_VERSION.startswith(f"v{drawing.VEGA_LITE}.")
    assert drawing.VEGA_LITE in vl_convert.get_vegalite_versions()
