"""A run of every schema version since the first is opened, judged and reported.

A folder ``vN`` holds a run as version N wrote it (``keep.py``); the next version adds one.
"""

from __future__ import annotations

import json
import shutil
import sys
from collections import Counter
from pathlib import Path

import pytest

from steelyard.hosts.undo.log import pending_undos
from steelyard.inference.sequential import VerdictWord
from steelyard.records import attempt_folder
from steelyard.records.archive import Run, open_run
from steelyard.records.events import AttemptFinished, NoiseMeasured, SessionClosed
from steelyard.records.files.checksums import Sums
from steelyard.records.files.documents import VERSION
from steelyard.records.missing import Quoted
from steelyard.report.formats.registry import FORMATS
from steelyard.report.from_run import find
from steelyard.trial.session_state.progress import torn_attempts

HERE = Path(__file__).parent
VERSIONS = sorted(HERE.glob("v*"))


@pytest.fixture(params=VERSIONS, ids=lambda path: path.name)
def run(request: pytest.FixtureRequest, tmp_path: Path) -> Run:
    folder = tmp_path / "run"
    shutil.copytree(request.param, folder)
    return open_run(folder)


def test_this_version_has_its_fixture() -> None:
    assert [int(path.name[1:]) for path in VERSIONS][-1] == VERSION


@pytest.mark.parametrize("kept", VERSIONS, ids=lambda path: path.name)
def test_a_fixture_is_of_its_version(kept: Path) -> None:
    for path in (kept / "run.json", kept / "plan.json", *kept.glob("trials/*/record.json")):
        document = json.loads(path.read_text("utf-8"))
        assert document["schema_version"] == int(kept.name[1:])


def test_a_run_is_opened_with_all_it_holds(run: Run) -> None:
    plan, records, events = run.plan(), run.records(), run.events()
    assert run.facts().study == "durable-mail"
    assert plan.assignment[: len(plan.visits)] == tuple(visit.system for visit in plan.visits)
    assert {record.trial for record in records} == {
        trial.trial for visit in plan.visits for trial in visit.trials
    }
    assert "run_reference_kernel" in records[0].phases_ns
    assert records[0].value("reference_kernel.cpu")
    assert records[0].calibration is not None
    assert records[0].calibration.capacity_per_s
    assert all(load.course and load.times for _, load in run.loads())
    assert len(list(run.loads())) == len(records)
    assert [each.machine for each in run.samples()] == ["system"] * 2
    assert sum(isinstance(event, AttemptFinished) for event in events) == len(records)
    assert [event for event in events if isinstance(event, NoiseMeasured)]
    assert isinstance(events[-1], SessionClosed)
    assert pending_undos(events) == []
    assert torn_attempts(events, records) == []


def test_samples_that_need_a_further_package_are_left_out_with_its_name(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "polars", None)
    monkeypatch.setattr("steelyard.report.from_run.parquet_is_read", lambda: False)
    findings = find(run)
    (caveat,) = [each for each in findings.caveats if each.kind == "samples_in_parquet"]
    assert caveat.count == 2
    assert not [each for each in findings.caveats if each.kind == "samples_damaged"]


def test_warnings_and_bottlenecks_of_version_1_keep_their_kinds() -> None:
    before, now = HERE / "v1", open_run(HERE / "v1").records()
    for path, record in zip(sorted(before.glob("trials/*/record.json")), now, strict=True):
        stored = json.loads(path.read_text("utf-8"))
        assert [each.kind for each in record.warnings] == [d["kind"] for d in stored["doubts"]]
        assert (record.bottleneck is None) is (stored["limited_by"] is None)
    assert any(record.warnings for record in now)
    assert any(record.bottleneck for record in now)


def test_why_a_value_is_missing_in_version_1_is_quoted() -> None:
    (p99,) = {each.responses["response.p99"].missing for each in open_run(HERE / "v1").records()}
    said = "fewer than the 1,000 samples that p99 needs (ten above it)"
    assert p99 == Quoted(kind="told_by_version_1", said=said)


@pytest.mark.parametrize("form", ["html", "md", "csv", "json", "tex"])
def test_a_run_is_judged_and_reported(run: Run, form: str) -> None:
    findings = find(run)
    (workload,) = findings.workloads
    assert {verdict.word for verdict in workload.verdicts} <= set(VerdictWord)
    assert findings.attempts
    assert workload.resolution
    assert "durable" in FORMATS[form].text(findings)


def test_a_report_reads_every_file_of_an_attempt_once(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: Counter[str] = Counter()
    really = attempt_folder.read_checked

    def counted(folder: Path, name: str, sums: Sums | None) -> bytes:
        read[f"{folder.name}/{name}"] += 1
        return really(folder, name, sums)

    monkeypatch.setattr(attempt_folder, "read_checked", counted)
    find(run)
    assert {key for key in read if key.endswith("/record.json")}
    assert {key for key in read if key.endswith("/load.json")}
    assert set(read.values()) == {1}
