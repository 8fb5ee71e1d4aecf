"""``steelyard workload`` lists what there is, and what a file would read from an output."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from steelyard.cli.main import app
from steelyard.study import catalogue
from steelyard.study.read import read_study
from steelyard.study.workload_study import studies

CASES = Path(__file__).parents[1] / "cases" / "tools"
GUIDE = Path(__file__).parents[2] / "docs" / "guide" / "add-a-workload.md"
FILES = re.findall(r"```yaml\n(.*?)```", GUIDE.read_text("utf-8"), re.DOTALL)


def output(*words: str, code: int = 0) -> str:
    result = CliRunner().invoke(app, ["workload", *words], env={"COLUMNS": "200"})
    assert result.exit_code == code, result.output
    return result.output


def test_every_workload_is_listed_with_what_drives_it() -> None:
    lines = output("list").splitlines()
    assert [line.split()[0] for line in lines] == list(catalogue.names("workloads"))
    rows = {line.split()[0]: line for line in lines}
    assert "tool on the system" in rows["fio"]
    assert "load engine" in rows["http"]


def test_a_workload_is_shown_with_its_settings_and_what_it_measures() -> None:
    shown = output("show", "fio")
    assert "| `depth` |" in shown
    assert "| `fio.iops` | operations/s | more |" in shown


def test_a_workload_that_is_not_there_is_answered() -> None:
    assert "did you mean `fio`?" in output("show", "fioo", code=2)


def test_a_recorded_output_is_shown_as_it_would_be_read() -> None:
    words = ("--output", str(CASES / "fio" / "3.33-randrw" / "report.txt"), "--set")
    shown = output("check", "fio", *words, "pattern=randrw")
    assert re.search(r"fio\.iops +10,703 operations/s", shown)
    assert "fio.latency.p999  missing: fewer than the 10,000 operations" in shown


def test_an_output_that_is_not_parsed_names_each_metric(tmp_path: Path) -> None:
    cut = tmp_path / "cut.txt"
    cut.write_text('{"jobs": [', encoding="utf-8")
    shown = output("check", "fio", "--output", f"report={cut}", code=3)
    assert "`report` is no JSON" in shown


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--output", "there-is-none"), "there is no file there-is-none"),
        (("--output", "report=."), "there is no file ."),
        (("--output", "x", "--set", "pettern=read"), "did you mean `pattern`?"),
        (("--output", "x", "--set", "block=many"), "`block`"),
    ],
)
def test_an_output_or_setting_that_is_not_there_is_a_wrong_command_line(
    words: tuple[str, ...], told: str
) -> None:
    assert told in output("check", "fio", *words, code=2)


def test_an_output_that_is_no_text_is_reported(tmp_path: Path) -> None:
    binary = tmp_path / "binary"
    binary.write_bytes(b"\xff\xfe")
    assert "binary is not text" in output("check", "fio", "--output", str(binary), code=3)


def test_the_file_of_the_guide_is_right_and_drives_the_study_of_the_guide(tmp_path: Path) -> None:
    file = tmp_path / "workloads" / "openssl-speed.yaml"
    file.parent.mkdir()
    file.write_text(FILES[0], encoding="utf-8")
    (tmp_path / "study.yaml").write_text(FILES[1], encoding="utf-8")
    assert "good; 2 settings, 1 metric\n" in output("check", str(file))
    assert "Measures how fast openssl hashes." in output("show", str(file))
    study = read_study(tmp_path / "study.yaml")
    (one,) = studies(study)
    assert one.primary.name == "openssl.rate"
    assert one.workload.text == FILES[0]


def test_a_study_whose_window_the_tool_cannot_be_given_is_refused(tmp_path: Path) -> None:
    (tmp_path / "workloads").mkdir()
    (tmp_path / "workloads" / "openssl-speed.yaml").write_text(FILES[0], encoding="utf-8")
    file = tmp_path / "study.yaml"
    file.write_text(FILES[1].replace("window: 1 s", "window: 500 ms"), encoding="utf-8")
    result = CliRunner().invoke(app, ["plan", str(file)], env={"COLUMNS": "200"})
    assert result.exit_code == 2
    assert "`openssl-speed` takes whole s, not 0.5 s" in result.output


@pytest.mark.parametrize("wrong", ["", "[]", "a: b: c", "\tsummary: x"])
def test_what_is_no_workload_file_is_answered_with_a_place(tmp_path: Path, wrong: str) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(wrong, encoding="utf-8")
    assert "mine.yaml:1:" in output("check", str(file), code=2)
