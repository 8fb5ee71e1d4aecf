from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest
from tests.golden.report_findings import changed
from tests.unit.report.golden_findings import CASES, golden

from steelyard.judge.analyses.disks.findings import DamagedDisk, DiskFinding
from steelyard.judge.findings import CalibrationFinding, RunFindings, WarningNote
from steelyard.plan.model import Cell
from steelyard.records.missing import NoServerForWorkload
from steelyard.records.warnings import WarningKind
from steelyard.report.formats.csv import csv_text
from steelyard.report.formats.html import render
from steelyard.report.formats.markdown import markdown_text
from steelyard.report.formats.registry import FORMATS, write_report
from steelyard.report.notes.warnings import kind_text
from steelyard.report.sentences.assumptions import failure_lines
from steelyard.report.view import views

NO_SERVER = NoServerForWorkload(workload="x")


def rows(case: str, kind: str) -> list[dict[str, str]]:
    return [
        row for row in csv.DictReader(io.StringIO(csv_text(golden(case)))) if row["kind"] == kind
    ]


def test_every_form_is_written_in_the_order_asked_and_nothing_else(tmp_path: Path) -> None:
    paths = write_report(golden("plain"), tmp_path / "report", ["json", "html", "md", "csv"])
    assert [p.name for p in paths] == ["findings.json", "report.html", "report.md", "report.csv"]
    assert sorted(p.name for p in (tmp_path / "report").iterdir()) == sorted(p.name for p in paths)


def test_an_unknown_form_writes_nothing(tmp_path: Path) -> None:
    with pytest.raises(KeyError):
        write_report(golden("plain"), tmp_path / "report", ["json", "docx"])
    assert list(tmp_path.iterdir()) == []


def test_every_format_is_listed_under_its_own_name() -> None:
    assert all(form.name == name and form.purpose for name, form in FORMATS.items())


@pytest.mark.parametrize("case", CASES)
def test_the_json_form_is_the_findings_themselves(case: str) -> None:
    findings = golden(case)
    assert RunFindings.model_validate_json(FORMATS["json"].text(findings)) == findings


@pytest.mark.parametrize("case", CASES)
def test_the_flat_table_holds_every_value_unrounded(case: str) -> None:
    found = [float(row["value"]) for row in rows(case, "value")]
    assert found == [value for cell in golden(case).workloads[0].cells for value in cell.values]


def test_the_flat_table_leaves_what_was_not_measured_empty_with_the_reason() -> None:
    (row,) = [r for r in rows("failed", "cell") if r["response"] == "throughput" and r["n"] == "0"]
    assert row["median"] == ""
    assert row["note"] == "trial 9, attempt 3: service died"
    assert row["condition.load.users"] == "16"


def test_the_flat_table_has_a_row_for_each_verdict_and_attempt() -> None:
    assert len(rows("failed", "verdict")) == len(golden("failed").workloads[0].verdicts)
    assert len(rows("failed", "attempt")) == len(golden("failed").attempts)


@pytest.mark.parametrize("case", CASES)
def test_every_row_of_a_markdown_table_has_the_cells_of_its_head(case: str) -> None:
    for block in markdown_text(golden(case)).split("\n\n"):
        if block.startswith("|"):
            bars = {line.replace("\\|", "").count("|") for line in block.splitlines()}
            assert len(bars) == 1


def test_markdown_begins_with_damage_and_has_it_among_the_failures() -> None:
    damaged = DamagedDisk(trial=1, attempt=1, instance=1, disk="data", device="loop0", damage=())
    disks = (DiskFinding(system="durable", checks=4, unchecked=0, damaged=(damaged,)),)
    text = markdown_text(golden("plain").model_copy(update={"disks": disks}))
    title, first, *_ = text.split("\n\n")
    assert title.startswith("# ")
    assert "durable" in first
    assert "damaged" in first
    failures = text.partition("## Failures")[2].partition("##")[0]
    assert "1 of 4 disk checks" in failures
    assert "damage" not in markdown_text(golden("plain")).partition("## ")[0]


def test_markdown_shows_hostile_names_as_text() -> None:
    text = markdown_text(golden("three"))
    assert "<script>" not in text
    assert "kvm \\| virtio" in text


def test_a_generator_near_its_ceiling_has_its_line_in_the_report() -> None:
    found = CalibrationFinding(
        cell=Cell(system="fast", conditions={"load.users": 4}),
        sink="sink-smtp",
        unit="messages/s",
        capacity_per_s=5000.0,
        baseline_latency_ns=120_000.0,
        ratio=0.85,
        largest_ratio=0.91,
        trials=12,
        trials_near=9,
        not_calibrated=None,
    )
    without = found.model_copy(
        update={"capacity_per_s": None, "baseline_latency_ns": None, "ratio": None,
                "largest_ratio": None, "trials_near": 0, "not_calibrated": NO_SERVER}
    )  # fmt: skip
    findings = changed(golden("decided"), calibrations=(found, without))
    text = FORMATS["md"].text(findings)
    assert "5,000 messages/s" in text
    assert "the generator may be the bottleneck in 9 of 12" in text
    assert "not calibrated: the engine has no server of its own for" in text
    assert "the generator may be the bottleneck in 9 of 12" in render(findings)


def test_levels_of_a_factor_are_not_called_systems(tmp_path: Path) -> None:
    levels = golden("plain").model_copy(update={"compare": "settings.tuned"})
    assert "What differs between the levels of settings.tuned" in render(levels)
    for page in (markdown_text(levels), render(levels)):
        assert "levels of settings.tuned that differ by a constant ratio only" in page
        assert "Systems" not in page
        assert "he systems" not in page


def test_a_report_names_warnings_in_the_order_of_the_trials_each_time_it_is_written() -> None:
    kinds = tuple(WarningKind)[::-2]
    findings = golden("plain")
    warnings = tuple(WarningNote(kind=kind, state="suspect", figures={}) for kind in kinds)
    suspect = findings.attempts[0].model_copy(update={"warnings": warnings})
    (line,) = failure_lines(views(findings.model_copy(update={"attempts": (suspect,)}))[0])
    named = "; ".join(f"{kind_text(kind)} (1)" for kind in kinds)
    assert line.endswith(f": {named}.")


def test_systems_that_fail_in_the_same_words_stand_together() -> None:
    findings = golden("plain")
    fast, durable = (
        next(a for a in findings.attempts if a.cell.system == name) for name in findings.systems
    )
    died = {"outcome": "service_died", "message": "the service ended by signal 6"}
    left = {"outcome": "service_died", "message": "its port was taken"}
    attempts = (
        *(each.model_copy(update=died) for each in (fast, fast, durable)),
        durable.model_copy(update=left),
    )
    alike = findings.model_copy(update={"attempts": attempts[:3]})
    (line,) = failure_lines(views(alike)[0])
    assert "3 service died (2 of fast, 1 of durable): the service ended by signal 6" in line
    apart = findings.model_copy(update={"attempts": (attempts[0], attempts[3])})
    (line,) = failure_lines(views(apart)[0])
    assert "1 service died (fast): the service ended" in line
    assert "1 service died (durable): its port was taken" in line
