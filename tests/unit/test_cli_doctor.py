"""`steelyard doctor` says what was typed wrong, and what servers turn away, and touches nothing."""

from __future__ import annotations

import re
from pathlib import Path
from typing import cast

import pytest
from typer.testing import CliRunner

from steelyard.cli.doctor import resolution
from steelyard.cli.doctor.limits import limit_checks
from steelyard.cli.doctor.machine import Facts, load_check, virtual
from steelyard.cli.main import app
from steelyard.hosts.host import Host


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
        (["--margin", "200%"], "--margin lies between 0 % and 100 %"),
        (["--margin", "much"], "--margin: "),
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


def test_the_margin_is_told_once_by_both_of_its_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resolution, "noise_at_rest", lambda *_: [])
    [told] = resolution.resolution_checks(cast("Host", None), Path(), 0.2)
    assert told.seen == "20 % (0.833 to 1.2 times, -16.7 % to +20 %)"


def test_servers_without_limits_are_told_to_have_none(tmp_path: Path) -> None:
    study = tmp_path / "study.yaml"
    study.write_text(STUDY.replace("{use: vsftpd, clients: 2, per_address: 9}", "{use: vsftpd}"))
    [told] = limit_checks(study, None)
    assert told.seen == "no server of the study has one set"


@pytest.mark.parametrize(
    ("facts", "told"),
    [
        ({}, None),
        ({"guest_flag": "false", "vendor": "LENOVO", "product": "20L5"}, None),
        ({"guest_flag": "true"}, "a guest of a hypervisor without a name"),
        (
            {"guest_flag": "true", "vendor": "QEMU", "product": "Standard PC"},
            "a guest (QEMU Standard PC)",
        ),
        ({"vendor": "QEMU"}, "a guest (QEMU)"),
        ({"hypervisor": "xen"}, "a guest (xen)"),
        ({"container": "podman"}, "a container (podman)"),
        (
            {"guest_flag": "true", "container": "docker"},
            "a guest of a hypervisor without a name and a container (docker)",
        ),
    ],
)
def test_a_guest_and_a_container_are_seen(facts: Facts, told: str | None) -> None:
    assert virtual({f"virtualization.{name}": value for name, value in facts.items()}) == told


def test_other_load_is_told_for_each_processor_and_noted_from_half_a_processor_on() -> None:
    busy = load_check(14.0, 2)
    assert busy.grade == "note"
    assert busy.seen == "14.0 on average in the last minute, 7.0 for each of 2 processors"
    assert busy.advice
    assert [load_check(load, 64).grade for load in (0.49, 0.5)] == ["good", "note"]
