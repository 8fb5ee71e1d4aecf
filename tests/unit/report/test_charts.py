from __future__ import annotations

import math
import re

import pytest
from tests.golden.report_examples import changed
from tests.unit.report.golden_findings import CASES, golden, sampled

from steelyard.report.charts.all import all_charts
from steelyard.report.charts.axes import effect_ticks, log_ticks, ratio_label
from steelyard.report.charts.effect import effect_drawings
from steelyard.report.charts.load import load_drawing, places_of
from steelyard.report.charts.time import (
    MOST_POINTS_PER_PANEL,
    averaged,
    order_drawing,
    resource_panels,
    shown_conditions,
    thin,
)
from steelyard.report.tables.rates import Point
from steelyard.report.view import views
from steelyard.report.vocabulary import primary_response


@pytest.mark.parametrize("case", CASES)
def test_a_drawing_scales_with_its_page_and_has_no_script(case: str) -> None:
    charts = all_charts(views(golden(case))[0], {})
    for drawing in (*charts.effect, *charts.secondary):
        assert re.match(r'<svg [^>]*role="img"[^>]*viewBox="0 0 [\d.]+ [\d.]+"', drawing.svg)
        assert not re.match(r"<svg [^>]*\swidth=", drawing.svg)
        assert "<script" not in drawing.svg
        assert "http" not in drawing.svg.replace('xmlns="http://www.w3.org/2000/svg"', "")


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
    assert users.title == "users"
    assert [label for _, label in users.ticks] == ["1", "4", "16"]
    one = places_of(views(golden("plain"))[0])
    assert [label for _, label in one.ticks] == ["fast", "durable"]
    mixed = changed(
        golden("decided"), conditions=({"disk": "ssd"}, {"disk": "usb"}, {"disk": "ram"})
    )
    assert [label for _, label in places_of(views(mixed)[0]).ticks] == [
        "disk ssd",
        "disk usb",
        "disk ram",
    ]


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


def test_long_trials_are_averaged_and_many_trials_chosen_evenly() -> None:
    line = [Point(float(i), float(i % 2)) for i in range(1000)]
    short = averaged(line, 80)
    assert len(short) <= 80
    assert math.isclose(sum(p.value for p in short[:-1]) / len(short[:-1]), 0.5, abs_tol=0.05)
    kept = thin([("a", line)] * 300 + [("b", line)] * 300)
    assert sum(len(points) for _, points in kept) <= MOST_POINTS_PER_PANEL
    assert {system for system, _ in kept} == {"a", "b"}


def test_many_conditions_show_the_first_the_last_and_some_between() -> None:
    many = tuple({"load.users": n} for n in range(1, 20))
    shown = shown_conditions(views(changed(golden("decided"), conditions=many))[0])
    assert len(shown) == 4
    assert shown[0] == many[0]
    assert shown[-1] == many[-1]


def test_a_system_without_samples_under_a_condition_is_named_in_its_panel() -> None:
    findings = golden("failed")
    panels = resource_panels(views(findings)[0], sampled(findings))
    cpu = next(p for p in panels if p.resource.name == "service_cpu")
    assert ">durable: not measured<" in cpu.drawings[2].svg
    assert "durable: not measured" in cpu.drawings[2].description


def test_a_counter_that_no_trial_has_gets_no_panel() -> None:
    findings = golden("decided")
    names = [p.resource.name for p in resource_panels(views(findings)[0], sampled(findings))]
    assert "steal" not in names
    assert names[0] == "service_cpu"


def test_the_order_chart_counts_its_trials_and_visits() -> None:
    drawing = order_drawing(views(golden("decided"))[0])
    assert drawing is not None
    assert drawing.description.startswith("36 trials in 12 visits")
