"""`steelyard doctor` says what was typed wrong, and what servers turn away, and touches nothing."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from steelyard.cli.doctor.limits import limit_checks
from steelyard.cli.main import app


def said(*arguments: str) -> str:
    ended = CliRunner().invoke(app, ["doctor", *arguments], env={"COLUMNS": "200"})
    assert ended.exit_code == 2
    return re.sub(r"[\s│]+", " ", ended.stderr)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--platform", "podmen"], "did you mean `podman`"),
        (["--platform", "podman", "--set", "cpu=1"], "did you mean `cpus`"),
        (["--platform", "podman", "--set", "cpus=0"], "too small"),
        (["--platform", "podman", "--set", "memory=much"], "much"),
        (["--platform", "podman", "--set", "storage=tape"], "not one of the choices"),
        (["--platform", "ssh"], "needs --set host="),
        (["--set", "cpus=1"], "belong to --platform"),
        (["--variant", "small"], "belongs to --study PATH"),
    ],
)
def test_a_mistake_is_answered_with_what_to_do(arguments: list[str], words: str) -> None:
    assert words in said(*arguments)


STUDY = """
study: limits
question: Who is turned away?
systems:
  here: {platform: native, service: {use: vsftpd, clients: 2, per_address: 9}}
  there: {platform: native, service: {use: sink-ftp}}
workload: {use: ftp}
load: {users: [4]}
trials: {margin: 5 %}
"""


def test_limits_of_servers_are_told_and_held_against_the_load(tmp_path: Path) -> None:
    study = tmp_path / "study.yaml"
    study.write_text(STUDY)
    told = list(limit_checks(study, None))
    assert [(check.name, check.grade) for check in told] == [
        ("vsftpd of here", "note"),
        ("vsftpd of here", "good"),
    ]
    assert told[0].seen == "`clients` is 2, the load has 4 connections"
    assert told[0].advice == "further connections are refused with 421; set `service: {clients: 4}`"


def test_servers_without_limits_are_told_to_have_none(tmp_path: Path) -> None:
    study = tmp_path / "study.yaml"
    study.write_text(STUDY.replace("{use: vsftpd, clients: 2, per_address: 9}", "{use: vsftpd}"))
    [told] = limit_checks(study, None)
    assert told.seen == "no server of the study has one set"
