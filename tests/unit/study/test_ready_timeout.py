"""How long a service may take to be ready: by the study, else by its file, else a minute."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.study.study_texts import BODY, TRIALS, complaints_of, written

from steelyard.plan.trial_words import ready_words
from steelyard.study.lookup import ready_timeout_s, service_of
from steelyard.study.model import ServiceSpec, Study
from steelyard.study.read import read_study
from steelyard.systems.services.start import part_spec

SLOW = """\
summary: A server that thinks before it starts.
speaks: [http]
settings:
  port: {kind: port, meaning: "port"}
command: [server, "{port}"]
listeners: {http: port}
ready: listening
ready_timeout: 5 min
"""


def study_with(folder: Path, service: str) -> Study:
    (folder / "services").mkdir()
    (folder / "services" / "slow.yaml").write_text(SLOW, encoding="utf-8")
    return read_study(written(folder, BODY.replace("sink-http, body: 2 KiB", service) + TRIALS))


@pytest.mark.parametrize(
    ("service", "wait_s"),
    [
        ("sink-http", 60.0),
        ("sink-http, ready_timeout: 500 ms", 0.5),
        ("slow", 300.0),
        ("slow, ready_timeout: 1 h", 3600.0),
    ],
)
def test_the_study_says_it_before_the_file_of_the_service(
    tmp_path: Path, service: str, wait_s: float
) -> None:
    study = study_with(tmp_path, service)
    spec = study.systems["two"].service
    assert spec is not None
    assert ready_timeout_s(spec) == wait_s
    assert bool(ready_words(study)) == (wait_s != 60.0), "a plan says what is unusual"


def test_the_parts_of_a_service_may_take_as_long_as_it_may() -> None:
    spec = ServiceSpec(use="postfix", settings={"deliver": "dovecot"}, ready_timeout_s=180.0)
    for process in service_of(spec).processes.values():
        assert ready_timeout_s(part_spec(process, spec)) == 180.0


@pytest.mark.parametrize(
    ("service", "words"),
    [
        ("sink-http, ready_timeout: 0 s", "no time to wait"),
        ("sink-http, ready_timeout: later", "`later`"),
        ("sink-http, ready_timeout: [1 s, 2 s]", "a list"),
    ],
)
def test_what_is_no_time_is_named_with_its_place(tmp_path: Path, service: str, words: str) -> None:
    line, column, message = only_complaint(tmp_path, service)
    assert words in message
    assert line[column - 1 :].startswith(service.partition("ready_timeout: ")[2])


def test_a_server_that_runs_already_is_not_waited_for(tmp_path: Path) -> None:
    service = "external, address: 'h:1', speaks: [http], ready_timeout: 1 s"
    line, column, message = only_complaint(tmp_path, service)
    assert "runs already" in message
    assert line[column - 1 :].startswith("ready_timeout")


def only_complaint(folder: Path, service: str) -> tuple[str, int, str]:
    """The line it is about, the column in it from 1, and what it says."""
    text = BODY.replace("sink-http, body: 2 KiB", service) + TRIALS
    (found,) = complaints_of(written(folder, text))
    return text.splitlines()[found.line - 1], found.column, found.message
