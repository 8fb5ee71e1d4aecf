"""Charts of what a load leaves: their figures are those of the findings, and no data no chart."""

from __future__ import annotations

import csv
import io
import re

import pytest
from tests.golden.report_findings import changed
from tests.unit.report.golden_findings import golden, sampled

from steelyard.judge.findings import RunFindings, TrendFinding
from steelyard.report.charts.all import all_charts
from steelyard.report.charts.conditions import evenly
from steelyard.report.charts.drawing import Drawing, Figures
from steelyard.report.charts.heat import heat_drawings
from steelyard.report.charts.latency import tail_drawings
from steelyard.report.charts.latency_load import latency_load_drawing
from steelyard.report.charts.phases import REST, means_ns, phase_drawings, shown_phases
from steelyard.report.charts.resources import resource_panels
from steelyard.report.charts.trials import MOST_TRIALS, trial_drawings
from steelyard.report.formats.csv import csv_text
from steelyard.report.formats.markdown import markdown_text
from steelyard.report.tables.latency import percentile_table
from steelyard.report.tables.trials import trial_table
from steelyard.report.view import View, views


def view_of(case: str = "decided", **changes: object) -> View:
    return views(changed(sampled(golden(case)), **changes))[0]


def text_of(drawing: Drawing) -> str:
    return re.sub(r"<(title|desc)[^>]*>.*?</\1>|<[^>]+>", " ", drawing.svg)


def test_without_times_and_samples_there_is_no_chart_of_them() -> None:
    charts = all_charts(views(golden("decided"))[0])
    assert (charts.tails, charts.heat, charts.phases, charts.resources) == ((), (), (), ())
    assert charts.latency_load is None


def test_the_tail_chart_has_the_findings_of_every_system() -> None:
    view = view_of()
    drawings = list(tail_drawings(view))
    assert [drawing.title for drawing in drawings] == [
        f"Response times at {users}" for users in ("1 user", "4 users", "16 users")
    ]
    seen = [row for drawing in drawings for row in drawing.figures.rows]
    wanted = sorted((f.cell.system, *point) for f in view.own.latency for point in f.tail)
    assert sorted((row[0], row[2], row[3]) for row in seen) == wanted
    assert "fast: 60,000 operations answered in 6 trials" in drawings[0].description
    assert "99 % within 6.00 ms" in drawings[0].description
    assert "3 operations failed" in drawings[0].description


def test_axes_name_unit_and_scale() -> None:
    text = text_of(next(tail_drawings(view_of())))
    assert "response time (log scale)" in text
    assert "0.01 %" in text
    assert "10 ms" in text


def test_systems_differ_by_a_shape_besides_the_colour() -> None:
    drawing = next(tail_drawings(view_of()))
    marks = re.findall(r'<path [^>]*d="([^"]+)"[^>]*fill="var\(--system-\d', drawing.svg)
    assert len(set(marks)) == 2


def test_phases_add_up_to_the_mean_of_an_operation() -> None:
    view = view_of()
    found = view.own.latency[0]
    means = means_ns(found)
    assert means == {"ttfb": 900_000.0, "connect": pytest.approx(50_000.0)}
    assert shown_phases([found]) == ["connect", "ttfb"]
    wide, narrow = phase_drawings(view)
    assert "wait for the first byte" in wide.description
    assert wide.description == narrow.description


def test_phases_that_take_little_are_taken_together() -> None:
    view = view_of()
    small = [
        view.own.latency[0].phases[0].model_copy(update={"name": f"x{i}", "mean_ns": 100.0 * i})
        for i in range(9)
    ]
    latency = tuple(f.model_copy(update={"phases": (*f.phases, *small)}) for f in view.own.latency)
    assert f"{REST} " in phase_drawings(view_of(latency=latency))[0].description


def test_the_map_over_the_window_holds_every_answer() -> None:
    view = view_of()
    panels = list(heat_drawings(view))
    assert [each.condition for each in panels] == ["1 user", "4 users", "16 users"]
    rows = [row for each in panels for drawing in each.drawings for row in drawing.figures.rows]
    answers = sum(n for f in view.own.latency for each in f.over_time for _, n in each.bars)
    assert sum(int(row[3] or 0) for row in rows) == answers


def test_response_time_over_throughput_has_a_point_for_each_level_in_their_order() -> None:
    drawing = latency_load_drawing(view_of())
    assert drawing is not None
    assert "99 % of the operations" in drawing.title
    systems = {row[0] for row in drawing.figures.rows}
    for system in systems:
        assert [row[1] for row in drawing.figures.rows if row[0] == system] == [1, 4, 16]


def test_conditions_that_are_no_numbers_have_no_curve() -> None:
    disks = tuple({"disk": each} for each in ("ssd", "usb", "ram"))
    assert latency_load_drawing(view_of(conditions=disks)) is None


def test_every_condition_has_its_panels_and_each_resource_one_axis() -> None:
    panels = list(resource_panels(view_of()))
    assert [each.condition for each in panels] == ["1 user", "4 users", "16 users"]
    assert [[d.title.split(",")[0] for d in each.drawings] for each in panels] == [
        ["CPU of the service", "disk writes"]
    ] * 3


def test_a_panel_says_window_limit_and_medians() -> None:
    drawing = next(resource_panels(view_of())).drawings[0]
    assert "fast: 6 trials, median in the window" in drawing.description
    assert "of 2.00 cores" in drawing.description
    assert "limit 2.00 cores" in text_of(drawing)
    assert "time from the start of the window, s" in text_of(drawing)


def test_a_limit_far_above_all_that_was_used_is_reported_and_not_drawn() -> None:
    view = view_of()
    large = tuple(f.model_copy(update={"limit": f.limit and 64.0}) for f in view.own.resources)
    drawing = next(resource_panels(view_of(resources=large))).drawings[0]
    assert "limit 64" not in text_of(drawing)
    assert "of 64.0 cores" in drawing.description


def test_a_system_without_samples_under_a_condition_is_named_in_its_panel() -> None:
    drawing = list(resource_panels(view_of("failed")))[2].drawings[0]
    assert "durable: not measured" in text_of(drawing)
    assert "durable: not measured" in drawing.description


def test_refused_readings_are_counted() -> None:
    view = view_of()
    resources = tuple(f.model_copy(update={"refused": 7}) for f in view.own.resources)
    drawing = next(resource_panels(view_of(resources=resources))).drawings[0]
    assert "7 readings above that refused" in drawing.description


def test_of_very_many_conditions_the_first_the_last_and_some_between_are_shown() -> None:
    shown = evenly(list(range(50)), 12)
    assert (len(shown), shown[0], shown[-1]) == (12, 0, 49)
    assert evenly([1, 2, 3], 12) == [1, 2, 3]


def with_trend() -> RunFindings:
    visits = tuple(range(1, 13))
    trend = TrendFinding(
        response="throughput",
        baseline="fast",
        other="durable",
        trends=1,
        visits=visits,
        trend_log=tuple(0.01 * (visit - 6.5) for visit in visits),
    )
    return changed(sampled(golden("decided")), trends=(trend,))


def test_the_trials_stand_in_their_order_with_the_trend_that_was_removed() -> None:
    wide, narrow = trial_drawings(views(with_trend())[0])
    assert wide.description.startswith("36 trials in 12 visits")
    assert "from -5.4 % to +5.7 %" in wide.description
    assert wide.svg.count("stroke-dasharray") == 1
    assert narrow.description == wide.description
    assert len(wide.figures.rows) == 36


def test_colour_is_the_system_and_shape_the_condition() -> None:
    wide, _ = trial_drawings(view_of())
    marks = re.findall(r'd="(M[^"]+)"[^>]*stroke="var\((--system-\d)', wide.svg)
    assert len({colour for _, colour in marks}) == 2
    assert len({shape for shape, _ in marks}) == 3
    assert "16 users" in text_of(wide)


def test_very_many_trials_are_drawn_as_bands() -> None:
    view = view_of()
    attempt = view.run.attempts[0]
    many = range(1, MOST_TRIALS + 2)
    attempts = tuple(attempt.model_copy(update={"trial": i, "visit": i}) for i in many)
    cell = view.own.cells[0].model_copy(
        update={
            "trials": tuple(many),
            "values": tuple(100.0 + i % 7 for i in many),
            "median": 103.0,
        }
    )
    run = changed(sampled(golden("decided")), cells=(cell,)).model_copy(
        update={"attempts": attempts}
    )
    wide, _ = trial_drawings(views(run)[0])
    assert len(wide.svg) < 40_000
    assert len(wide.figures.rows) == MOST_TRIALS


def test_figures_are_unrounded_and_no_text_becomes_a_formula() -> None:
    figures = Figures(("a", "b"), (("=1+1", 0.1 + 0.2), ("plain, text", None)))
    rows = list(csv.reader(io.StringIO(figures.csv())))
    assert rows == [["a", "b"], ["'=1+1", "0.30000000000000004"], ["plain, text", ""]]


def test_no_mark_is_so_faint_that_its_contrast_is_below_three_to_one() -> None:
    """Points and lines are opaque; only areas, which lines bound or explain, are not."""
    for drawing in (
        *tail_drawings(view_of()),
        *trial_drawings(views(with_trend())[0]),
        *phase_drawings(view_of()),
    ):
        assert not re.search(r'[ -]opacity="0?\.', drawing.svg), drawing.name


def test_percentiles_have_their_intervals_and_none_without_enough_operations() -> None:
    view = view_of()
    table = percentile_table(view)
    assert table.head[2:6] == ("50 % within, ms", "90 % within, ms", "95 % within, ms",
                               "99 % within, ms")  # fmt: skip
    assert "99.9 % within, ms" not in table.head
    assert table.rows[0][:3] == ("fast", "1 user", "1.00 (0.900 to 1.20)")
    assert len(table.rows) == len(view.own.latency)
    assert any("99.9 % 10,000 operations" in note for note in table.notes)
    assert percentile_table(views(golden("decided"))[0]).rows == ()


def test_the_answered_operations_of_a_percentile_are_apart_from_those_that_failed() -> None:
    view = view_of()
    table = percentile_table(view)
    answered, failed = table.head.index("Answered"), table.head.index("Failed")
    shown = [(row[answered], row[failed]) for row in table.rows]
    assert shown == [(f"{f.answered:,}", f"{f.failed:,}") for f in view.own.latency]
    assert any(f.failed for f in view.own.latency)


def test_every_form_of_the_report_has_the_percentiles() -> None:
    found = sampled(golden("decided"))
    assert "1.00 (0.900 to 1.20)" in markdown_text(found)
    rows = [r for r in csv.DictReader(io.StringIO(csv_text(found))) if r["kind"] == "percentile"]
    assert float(rows[0]["median"]) == 1_000_000
    assert rows[4]["median"] == ""


def test_a_row_of_a_trial_has_its_values_its_warnings_and_its_folder() -> None:
    view = view_of("failed")
    table = trial_table(view)
    assert table.head[:6] == ("Trial", "Visit", "System", "Condition", "Outcome",
                              "throughput, messages/s")  # fmt: skip
    values = {row.key: row for row in table.rows}
    cell = view.own.cells[0]
    for trial, value in zip(cell.trials, cell.values, strict=True):
        good = [row for key, row in values.items() if key.startswith(f"{trial:04d}-")]
        assert value in [row.values[0][1] for row in good if row.outcome == "ok"]
    assert len(table.rows) == len(view.attempts)
    failed = [row for row in table.rows if row.outcome != "ok"]
    assert all(value is None for row in failed for _, value in row.values)


def test_a_warning_is_a_tag_with_its_sentence() -> None:
    attempt = next(a for a in golden("failed").attempts if a.warnings)
    view = views(golden("failed"))[0]
    row = next(
        r for r in trial_table(view).rows if r.key == f"{attempt.trial:04d}-{attempt.attempt}"
    )
    assert [tag.word for tag in row.tags]
    assert all(len(tag.word) < 30 < len(tag.sentence) for tag in row.tags)


def test_of_very_many_trials_the_table_shows_those_that_failed_and_were_warned() -> None:
    found = golden("decided")
    first = found.attempts[0].model_copy(update={"warnings": ()})
    failed = first.model_copy(update={"trial": 5_000, "outcome": "service_died"})
    many = tuple(first.model_copy(update={"trial": number}) for number in range(1, 1_500))
    table = trial_table(views(found.model_copy(update={"attempts": (*many, failed)}))[0])
    assert len(table.rows) == 1_000
    assert table.left_out == 500
    assert table.rows[-1].key == "5000-1"
