"""Files beside a study are named by ``{study}``, where the machine that reads them has them."""

from __future__ import annotations

from pathlib import Path

import pytest

from steelyard.errors import StudyError
from steelyard.study.read import read_runnable_study, read_study

SERVICE = """\
summary: A server beside the study.
speaks: [http]
settings:
  build: {kind: text, required: true, meaning: "folder of the build"}
  port: {kind: port, meaning: "port"}
command: ["{study}/{build}/server", "{address}:{port}"]
listeners: {http: port}
ready: listening
"""
STUDY = """\
study: beside
question: Is the new build slower?
systems:
  old: {platform: native, service: {use: ./mine.yaml, build: old}}
  new: {platform: native, service: {use: ./mine.yaml, build: new}}
workload: {use: http}
load: {users: 2}
trials: {margin: 5 %}
"""
COMMAND = """\
study: words
question: Which machine counts words faster?
systems:
  here: {platform: native}
  there: {platform: native}
workload: {command: [wc, "{study}/words"]}
trials: {margin: 5 %}
"""


def complaints(folder: Path, text: str) -> list[str]:
    (folder / "mine.yaml").write_text(SERVICE)
    (folder / "study.yaml").write_text(text)
    try:
        read_study(folder)
    except StudyError as error:
        return [f"{c.line}:{c.column}: {c.message}" for c in error.complaints]
    return []


@pytest.mark.parametrize("text", [STUDY, COMMAND], ids=["service", "command"])
def test_what_runs_on_this_machine_may_read_files_beside_the_study(
    tmp_path: Path, text: str
) -> None:
    assert complaints(tmp_path, text) == []


def test_a_command_is_not_looked_for_beside_the_study(tmp_path: Path) -> None:
    wrong = COMMAND.replace("[wc, ", "[./wc, ")
    assert [each.split(":")[:2] for each in complaints(tmp_path, wrong)] == [["6", "22"]]


def test_a_service_in_a_container_may_not(tmp_path: Path) -> None:
    text = STUDY.replace("new: {platform: native", "new: {platform: podman")
    [told] = complaints(tmp_path, text)
    assert told == "5:8: `{study}` is a folder of this machine, and `new` is another one"


def test_neither_may_a_command_on_another_machine(tmp_path: Path) -> None:
    text = COMMAND.replace("there: {platform: native", "there: {platform: ssh, host: pi")
    [told] = complaints(tmp_path, text)
    assert told.endswith(
        "`{study}` is a folder of this machine, and it runs on `there`, which is another one"
    )


def test_a_build_that_is_required_is_asked_for(tmp_path: Path) -> None:
    [told] = complaints(tmp_path, STUDY.replace(", build: new", ""))
    assert "`service` needs `build`" in told


@pytest.mark.parametrize(("notes", "column"), [("notes/", 0), ("nope/", 38), ("mine.yaml", 38)])
def test_notes_are_a_folder_that_is_there_before_a_run(
    tmp_path: Path, notes: str, column: int
) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "mine.yaml").write_text(SERVICE)
    (tmp_path / "study.yaml").write_text(
        f"{STUDY}report: {{sections_by: system, notes: {notes}}}\n"
    )
    assert read_study(tmp_path).report.notes == notes
    found = []
    try:
        read_runnable_study(tmp_path)
    except StudyError as error:
        found = [(each.line, each.column) for each in error.complaints]
    assert found == ([(9, column)] if column else [])
