"""How a report says where throughput peaks and saturates; from whole judged studies."""

from __future__ import annotations

import csv
import io
from functools import cache

import numpy as np
from tests.calibration.curves import NOISE, Law, saturating, usl
from tests.unit.judge.quick import judge_study
from tests.unit.judge.studies import a_record, a_study

from steelyard.judge.analyses.scaling.findings import GateRefusedLevel
from steelyard.judge.findings import RunFindings
from steelyard.plan.make import make_plan
from steelyard.records.schema import AttemptFailure, Outcome
from steelyard.report.charts.saturation import saturation_drawings
from steelyard.report.formats.csv import csv_text
from steelyard.report.formats.markdown import markdown_text
from steelyard.report.sentences.saturation import saturation_lines
from steelyard.report.view import views

LAWS: dict[str, Law] = {"fast": usl(0.03, 40.0), "durable": saturating(20.0)}
REFUSED_AT = 128


@cache
def findings(
    *, refused: bool = False, users: tuple[int, ...] = (1, 2, 4, 8, 16, 32, 64, 128)
) -> RunFindings:
    """Two systems of known laws; ``refused`` breaks a gate of the durable one at the last level."""
    study, random = a_study(users=users, per_cell=6), np.random.default_rng(3)
    plan, records = make_plan(study, 3), []
    for trial in (trial for visit in plan.visits for trial in visit.trials):
        load = float(trial.cell.conditions["load.users"])
        rate = 3_000 * float(LAWS[trial.cell.system](np.array([load]))[0])
        record = a_record(trial, rate * float(np.exp(random.normal(0, NOISE))))
        if refused and load == REFUSED_AT and trial.cell.system == "durable":
            failure = AttemptFailure(phase="check", message="errors none: 0.2 seen")
            changes = {"outcome": Outcome.REFUSED_BY_GATE, "failure": failure}
            record = record.model_copy(update=changes)
        records.append(record)
    return judge_study(study, plan, records, run="r")


def test_a_peak_is_reported_with_its_height_its_interval_and_the_fall_beyond() -> None:
    line = saturation_lines(views(findings())[0])[0]
    assert line.startswith("fast: peak 3")
    assert " users (95 % interval " in line
    assert "beyond it throughput falls: 128 users -" in line
    assert "more than your margin" in line


def test_saturation_is_reported_with_its_knee_and_why_no_curve_is_drawn() -> None:
    line = saturation_lines(views(findings())[0])[1]
    assert line.startswith("durable: no peak is stated: saturation from about ")
    assert "does not describe these data" in line
    assert line.endswith("so no curve is drawn.")


def test_systems_are_compared_on_the_most_they_reached_in_a_visit() -> None:
    (verdict,) = findings().workloads[0].peaks
    assert verdict.exploratory
    assert verdict.other == "durable"
    assert verdict.n_baseline + verdict.n_other == 12
    assert "The most throughput at any level." in saturation_lines(views(findings())[0])[2]


def test_a_level_at_which_a_gate_was_broken_is_left_out_by_name() -> None:
    found = findings(refused=True)
    curve = next(each for each in found.workloads[0].scaling if each.system == "durable")
    assert [level.level for level in curve.levels] == [1, 2, 4, 8, 16, 32, 64]
    (dropped,) = curve.dropped
    assert isinstance(dropped, GateRefusedLevel)
    assert dropped.level == 128
    assert dropped.message is not None
    assert "errors none: 0.2 seen" in dropped.message
    assert "128 left out: a gate refused" in markdown_text(found)


def test_a_visit_that_lacks_a_level_has_no_most() -> None:
    (verdict,) = findings(refused=True).workloads[0].peaks
    assert verdict.n_other == 0


def test_the_chart_holds_every_trial_and_only_the_curve_that_is_not_refused() -> None:
    wide, narrow = saturation_drawings(views(findings())[0])
    assert "fast: peak" in wide.description
    assert wide.figures == narrow.figures
    assert len(findings().workloads[0].scaling[0].drawn) > 10
    assert findings().workloads[0].scaling[1].drawn == ()


def test_the_flat_table_has_a_row_for_each_curve_and_each_level() -> None:
    rows = list(csv.DictReader(io.StringIO(csv_text(findings()))))
    peaks = [row for row in rows if row["kind"] == "peak"]
    assert [row["system"] for row in peaks] == ["fast", "durable"]
    assert float(peaks[0]["low"]) < 40 < float(peaks[0]["high"])
    assert peaks[1]["value"] == ""
    assert "lack of fit" in peaks[1]["note"]
    levels = [row for row in rows if row["kind"] == "level" and row["system"] == "fast"]
    assert [row["condition.load.users"] for row in levels][-1] == "128"


def test_two_levels_are_no_curve_and_get_no_section() -> None:
    found = findings(users=(1, 4))
    assert found.workloads[0].scaling == ()
    assert found.workloads[0].peaks == ()
    assert "Where it saturates" not in markdown_text(found)
