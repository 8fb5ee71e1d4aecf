from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import pytest
from tests.golden.report_findings import changed
from tests.unit.report.golden_findings import CASES, golden

from steelyard.report.charts.all import all_charts
from steelyard.report.charts.axes import effect_ticks, log_ticks, ratio_label, wrapped
from steelyard.report.charts.effect import effect_drawings
from steelyard.report.charts.load import load_drawing, places_of
from steelyard.report.formats.latex.figures import drawings_of
from steelyard.report.view import views
from steelyard.report.vocabulary import primary_response


@pytest.mark.parametrize("case", CASES)
def test_a_drawing_scales_with_its_page_and_has_no_script(case: str) -> None:
    charts = all_charts(views(golden(case))[0])
    for drawing in (*charts.effect, *charts.secondary):
        assert re.match(r'<svg [^>]*role="img"[^>]*viewBox="0 0 [\d.]+ [\d.]+"', drawing.svg)
        assert not re.match(r"<svg [^>]*\swidth=", drawing.svg)
        assert "<script" not in drawing.svg
        assert "http" not in drawing.svg.replace('xmlns="http://www.w3.org/2000/svg"', "")


@pytest.mark.parametrize("case", CASES)
def test_a_drawing_can_be_read_by_what_knows_no_html(case: str) -> None:
    charts = all_charts(views(golden(case))[0])
    for drawing in drawings_of(charts):
        ET.fromstring(drawing.svg)  # noqa: S314 - our own text


def test_the_effect_chart_holds_every_verdict_in_words() -> None:
    wide, narrow = effect_drawings(views(golden("mixed"))[0])
    assert "about 9 to 31 more visits would decide" in wide.description
    assert wide.description == narrow.description
    assert "undecided, +1.1 %" in wide.svg


def test_rows_with_equal_labels_stay_apart() -> None:
    wide, _ = effect_drawings(views(golden("three"))[0])
    assert "slower, −10.0 %" in wide.svg
    assert "slower, −12.0 %" in wide.svg


def test_a_missing_cell_stands_in_the_chart_as_not_measured() -> None:
    findings = golden("failed")
    primary = primary_response(views(findings)[0])
    assert primary is not None
    drawing = load_drawing(views(findings)[0], primary)
    assert drawing is not None
    assert ">not measured<" in drawing.svg


def test_numeric_conditions_stand_by_their_number_and_others_in_turn() -> None:
    users = places_of(views(golden("decided"))[0])
    assert users.title == "users (log scale)"
    assert [label for _, label in users.ticks] == ["1", "4", "16"]
    one = places_of(views(golden("plain"))[0])
    assert [label for _, label in one.ticks] == ["fast", "durable"]
    mixed = changed(
        golden("decided"), conditions=({"disk": "ssd"}, {"disk": "usb"}, {"disk": "ram"})
    )
    disks = places_of(views(mixed)[0])
    assert [label for _, label in disks.ticks] == ["ssd", "usb", "ram"]
    assert (disks.title, disks.joined, users.joined) == ("disk", False, True)


def test_zero_is_always_among_the_ticks_of_an_effect() -> None:
    for low, high in ((-0.03, 0.02), (-1.4, 0.1), (-0.1, 3.0), (-4.0, 7.0)):
        ticks = effect_ticks(low, high)
        assert any(abs(value) < 1e-12 for value, _ in ticks)
        assert 2 <= len(ticks) <= 9
        assert all(low <= value <= high for value, _ in ticks)


def test_ratios_are_labelled_in_percent_below_two_and_in_times_from_there() -> None:
    assert ratio_label(0.5) == "−50 %"
    assert ratio_label(1) == "0 %"
    assert ratio_label(5) == "5 times"


def test_a_logarithmic_axis_has_round_places() -> None:
    assert log_ticks([0.9, 160]) == [1, 2, 5, 10, 20, 50, 100, 200]


@pytest.mark.parametrize("most", [8, 14, 30])
def test_a_wrapped_label_loses_no_letter_and_no_line_is_too_long(most: int) -> None:
    text = "throughput-performance, disks.data.filesystem btrfs, averyveryverylongname"
    lines = wrapped(text, most)
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")
    assert max(map(len, lines)) <= most


def test_labels_that_begin_alike_are_shown_whole() -> None:
    names = ("throughput-performance-one", "throughput-performance-two")
    found = golden("three")
    verdicts = [
        v.model_copy(update={"other": name})
        for v, name in zip(found.workloads[0].verdicts, names, strict=False)
    ]
    wide, _ = effect_drawings(views(changed(found, verdicts=tuple(verdicts)))[0])
    text = re.sub(r"<[^>]+>", "", wide.svg)
    assert "…" not in text
    for name in names:
        assert name.removeprefix("throughput-performance-") in text


def test_no_line_joins_categories() -> None:
    disks = tuple({"disk": each} for each in ("ssd", "usb", "ram"))
    found = golden("decided")
    cells = tuple(
        c.model_copy(update={"cell": c.cell.model_copy(update={"conditions": disks[i % 3]})})
        for i, c in enumerate(found.workloads[0].cells)
    )
    mixed = views(changed(found, conditions=disks, cells=cells))[0]
    users = views(found)[0]
    response = primary_response(users)
    assert response is not None
    joined, apart = load_drawing(users, response), load_drawing(mixed, response)
    assert joined is not None
    assert apart is not None
    assert 'fill="none"' not in _lines(apart.svg)
    assert _lines(joined.svg)


def _lines(svg: str) -> str:
    """Paths through more than two points, of the width that joins medians."""
    return " ".join(re.findall(r'<path d="M[^"]*L[^"]*L[^"]*"[^>]*stroke-width="1.6"[^>]*>', svg))


def test_a_response_without_a_value_is_not_drawn() -> None:
    found = golden("decided")
    empty = tuple(
        c.model_copy(update={"values": (), "trials": (), "median": None, "low": None, "high": None})
        for c in found.workloads[0].cells
    )
    view = views(changed(found, cells=empty))[0]
    assert [load_drawing(view, response) for response in view.own.responses] == [None] * len(
        view.own.responses
    )
