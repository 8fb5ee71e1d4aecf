"""What ``init`` writes is planned and run as it is."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from steelyard.cli.main import app
from steelyard.cli.planning.init import QUESTIONS
from steelyard.records.archive import open_run
from steelyard.report.from_run import find


def steelyard(*words: object, code: int = 0) -> str:
    result = CliRunner().invoke(app, [str(word) for word in words])
    assert result.exit_code == code, result.output
    return result.output


@pytest.mark.parametrize("question", QUESTIONS)
def test_what_init_writes_is_planned_as_it_is(tmp_path: Path, question: str) -> None:
    steelyard("init", question, tmp_path / "my-study")
    assert "cells" in steelyard("plan", tmp_path / "my-study")
    steelyard("init", question, tmp_path / "my-study", code=3)


# That of mail runs with the commands of the guide to a first study.
@pytest.mark.extended
@pytest.mark.parametrize("question", ["web", "disk", "command"])
def test_what_init_writes_runs_to_its_end(tmp_path: Path, question: str) -> None:
    study, results = tmp_path / question, tmp_path / "results"
    steelyard("init", question, study)
    how = ("--budget", "10 s", "--format", "json", "--quiet")
    steelyard("run", study, "--results", results, *how)
    assert find(open_run(results / question)).workloads[0].verdicts


@pytest.mark.parametrize("question", QUESTIONS)
def test_an_editor_finds_the_schemas_where_the_study_was_sent_to(
    tmp_path: Path, question: str
) -> None:
    steelyard("init", question, tmp_path / "mine")
    sent = (tmp_path / "mine").rename(tmp_path / "theirs")
    for file in sent.rglob("*.yaml"):
        line = file.read_text("utf-8").splitlines()[0]
        named = file.parent / line.removeprefix("# yaml-language-server: $schema=")
        kind = named.name.removesuffix(".schema.json")
        assert named.resolve().is_relative_to(sent)
        assert named.read_text("utf-8") == steelyard("schema", kind)
        assert kind in steelyard("schema").split()


def test_a_second_study_in_a_folder_keeps_the_schema_of_the_first(tmp_path: Path) -> None:
    steelyard("init", tmp_path / "one.yaml")
    kept = tmp_path / "schemas" / "study.schema.json"
    kept.write_text("{}", "utf-8")
    steelyard("init", tmp_path / "other.yaml")
    assert kept.read_text("utf-8") == "{}"


def test_a_path_alone_writes_the_first_question_there(tmp_path: Path) -> None:
    steelyard("init", tmp_path / "mine.yaml")
    assert "sink-smtp" in (tmp_path / "mine.yaml").read_text("utf-8")


def test_a_question_that_is_none_is_refused(tmp_path: Path) -> None:
    assert "command" in steelyard("init", "webb", tmp_path / "mine", code=2)
    assert not (tmp_path / "mine").exists()


def test_nothing_is_written_where_one_of_the_files_is_there(tmp_path: Path) -> None:
    (tmp_path / "workloads").mkdir()
    (tmp_path / "workloads" / "program.yaml").write_text("mine", "utf-8")
    steelyard("init", "command", tmp_path / "study.yaml", code=3)
    assert not (tmp_path / "study.yaml").exists()
