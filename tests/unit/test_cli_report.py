"""``steelyard report`` of findings that were kept without their records."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.golden.report_examples import CASES
from typer.testing import CliRunner, Result

from steelyard.cli.main import app
from steelyard.report.formats.registry import FORMATS, write_report


def report(*words: str | Path) -> Result:
    return CliRunner().invoke(app, ["report", *map(str, words)], env={"NO_COLOR": "1"})


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    (path,) = write_report(CASES["decided"](), tmp_path / "kept", ["json"])
    return path


def test_a_report_of_kept_findings_is_that_of_the_run(kept: Path, tmp_path: Path) -> None:
    done = report(kept, "--to", tmp_path / "out", "-f", "md,csv")
    assert done.exit_code == 0, done.output
    for name in ("md", "csv"):
        written = tmp_path / "out" / FORMATS[name].file
        assert written.read_bytes().decode() == FORMATS[name].text(CASES["decided"]())


def test_without_a_folder_it_lies_beside_the_findings(kept: Path) -> None:
    assert report(kept, "-f", "md").exit_code == 0
    assert kept.with_name("report.md").is_file()


def test_a_page_of_kept_findings_does_not_lead_to_records(kept: Path, tmp_path: Path) -> None:
    assert report(kept, "--to", tmp_path / "out").exit_code == 0
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert 'href="../' not in page
    assert 'href="findings.json"' in page


def test_every_file_that_a_reader_is_to_open_is_named(kept: Path, tmp_path: Path) -> None:
    named = report(kept, "--to", tmp_path / "out", "-f", "action,md").stdout.replace("\n", "")
    for name in ("smaller-is-better.json", "bigger-is-better.json", "report.md"):
        assert (tmp_path / "out" / name).is_file()
        assert name in named


@pytest.mark.parametrize("option", [["--anonymous", "--to", "out"], ["--notes", "notes"]])
def test_what_needs_the_records_is_refused(kept: Path, option: list[str]) -> None:
    assert report(kept, *option).exit_code == 2


def test_a_file_that_holds_no_findings_is_named_with_what_is_wrong(kept: Path) -> None:
    document = json.loads(kept.read_text(encoding="utf-8"))
    del document["systems"]
    kept.write_text(json.dumps(document), encoding="utf-8")
    refused = report(kept)
    assert refused.exit_code == 3
    assert str(kept) in refused.stderr
    assert "systems" in refused.stderr
