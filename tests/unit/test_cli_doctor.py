"""`steelyard doctor` says what was typed wrong, and what servers turn away, and touches nothing."""

from __future__ import annotations

import json
import re
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
from typer.testing import CliRunner

from steelyard.cli.doctor import readings, resolution
from steelyard.cli.doctor.examination import machines_of
from steelyard.cli.doctor.machine import load_check, machine_checks, virtual
from steelyard.cli.doctor.preflight import preflight_checks
from steelyard.cli.doctor.readings import Facts, parse, read_now
from steelyard.cli.doctor.rules import RULES, limit_checks, rule_checks
from steelyard.cli.main import app
from steelyard.hosts.host import Host
from steelyard.study.read import read_runnable_study


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
        (["--variant", "small"], "belongs to a STUDY"),
        (["--margin", "200%"], "--margin lies between 0 % and 100 %"),
        (["--margin", "much"], "--margin: "),
        (["--platform", "native", "--fix"], "--platform and --fix exclude"),
        (["--platform", "native", "--margin", "2%"], "--platform and --margin exclude"),
        (["study.yaml", "--undo"], "--undo and STUDY exclude"),
        (["--undo", "--json"], "--undo and --json exclude"),
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


def test_limits_of_servers_are_reported_and_held_against_the_load(tmp_path: Path) -> None:
    study = tmp_path / "study.yaml"
    study.write_text(STUDY)
    told = list(limit_checks(read_runnable_study(study)))
    assert [(check.name, check.grade) for check in told] == [
        ("vsftpd of here", "note"),
        ("vsftpd of here", "good"),
    ]
    assert told[0].seen == "`clients` is 2, the load has 4 connections"
    assert told[0].advice == "further connections are refused with 421; set `service: {clients: 4}`"


def test_the_margin_is_reported_once_by_both_of_its_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resolution, "noise_at_rest", lambda *_: [])
    [told] = resolution.resolution_checks(cast("Host", None), Path(), 0.2)
    assert told.seen == "20 % (0.833 to 1.2 times, -16.7 % to +20 %)"


def test_servers_without_limits_are_reported_to_have_none(tmp_path: Path) -> None:
    study = tmp_path / "study.yaml"
    study.write_text(STUDY.replace("{use: vsftpd, clients: 2, per_address: 9}", "{use: vsftpd}"))
    [told] = limit_checks(read_runnable_study(study))
    assert told.seen == "no server of the study has one set"


@pytest.mark.parametrize(
    ("facts", "told"),
    [
        ({}, None),
        ({"guest_flag": "false", "vendor": "LENOVO", "product": "20L5"}, None),
        ({"guest_flag": "true"}, "a guest of a hypervisor without a name"),
        ({"guest_flag": "true", "told_by_processor": "KVM"}, "a guest (KVM)"),
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


def test_other_load_is_reported_for_each_processor_and_noted_from_half_a_processor_on() -> None:
    busy = load_check(14.0, 2)
    assert busy.grade == "note"
    assert busy.seen == "14.0 on average in the last minute, 7.0 for each of 2 processors"
    assert busy.advice
    assert [load_check(load, 64).grade for load in (0.49, 0.5)] == ["good", "note"]


QUIET = {
    "cpu.count": "8",
    "pressure.cpu": "0.00",
    "pressure.io": "0.10",
    "pressure.memory": "0.00",
    "cpu.governor": "performance",
    "cpu.turbo": "off",
    "throttled": "0",
    "cpu.smt": "off",
    "numa.online": "0",
    "sysctl.kernel.numa_balancing": "0",
    "sysctl.kernel.randomize_va_space": "2",
    "swap.used_kib": "0",
    "thp": "madvise",
    "clocksource": "tsc",
    "clock.synchronised": "yes",
    "steal.share": "0",
    "limit.open_files": "unlimited",
    "sysctl.net.ipv4.ip_local_port_range": "32768 60999",
    "sysctl.net.core.somaxconn": "4096",
    "sysctl.net.ipv4.tcp_max_syn_backlog": "2048",
    "sysctl.net.ipv4.tcp_rmem": "4096 131072 6291456",
    "sysctl.net.ipv4.tcp_wmem": "4096 16384 4194304",
    "kvm": "usable",
    "kvm.nested": "Y",
}


def test_a_quiet_machine_has_nothing_to_note() -> None:
    assert {check.grade for check in rule_checks(QUIET)} == {"good"}
    assert {rule.fact for rule in RULES} - set(QUIET) == {"updaters", "timers"}


@pytest.mark.parametrize(
    ("fact", "told"),
    [
        ("cpu.count", "1"),
        ("pressure.cpu", "98.65"),
        ("pressure.io", "12"),
        ("pressure.memory", "1.5"),
        ("cpu.governor", "powersave"),
        ("cpu.turbo", "on"),
        ("throttled", "3"),
        ("cpu.smt", "on"),
        ("numa.online", "0-1"),
        ("sysctl.kernel.numa_balancing", "1"),
        ("sysctl.kernel.randomize_va_space", "0"),
        ("swap.used_kib", "2048"),
        ("thp", "always"),
        ("clocksource", "hpet"),
        ("clock.synchronised", "no"),
        ("steal.share", "0.034"),
        ("updaters", "apt-get dpkg"),
        ("timers", "apt-daily.timer"),
        ("limit.open_files", "1024"),
        ("sysctl.net.ipv4.ip_local_port_range", "60000 60999"),
        ("sysctl.net.core.somaxconn", "128"),
        ("sysctl.net.ipv4.tcp_max_syn_backlog", "128"),
        ("sysctl.net.ipv4.tcp_rmem", "4096 87380 212992"),
        ("sysctl.net.ipv4.tcp_wmem", "4096 16384 212992"),
        ("kvm", "absent"),
        ("kvm.nested", "N"),
    ],
)
def test_each_rule_notes_its_fact_alone_with_reason(fact: str, told: str) -> None:
    noted = [check for check in rule_checks(QUIET | {fact: told}) if check.grade != "good"]
    assert len(noted) == 1
    assert noted[0].advice
    assert noted[0].name in {rule.name for rule in RULES if rule.fact == fact}


def test_what_a_machine_does_not_tell_is_no_finding_but_where_a_person_should_look() -> None:
    assert {check.name for check in rule_checks({})} == {
        "processors",
        "CPU governor",
        "clock source",
        "open files",
    }


def test_readings_without_a_value_are_left_out() -> None:
    assert parse("pressure.cpu=1.5\nclock.synchronised=\ntool.fio=fio-3.33 = x\n") == {
        "pressure.cpu": "1.5",
        "tool.fio": "fio-3.33 = x",
    }


def test_versions_of_tools_are_reported() -> None:
    told = {check.name: check.seen for check in machine_checks(QUIET | {"tool.fio": "fio-3.33"})}
    assert told["fio"] == "fio-3.33"


@pytest.mark.parametrize(
    ("version", "server", "grade"),
    [
        ("Docker version 28.2.2", "28.2.2", "good"),
        ("Docker version 28.2.2", None, "note"),
        ("podman version 4.9.3", None, "good"),
    ],
)
def test_docker_without_its_server_is_noted(version: str, server: str | None, grade: str) -> None:
    facts = QUIET | {"tool.docker": version, "docker.server": server}
    assert {check.grade for check in machine_checks(facts) if check.name == "docker"} == {grade}


def test_the_remedy_of_the_accelerator_is_that_of_what_is_wrong() -> None:
    remedies = {}
    for told in ("absent", "not permitted", "does not work: a tiny guest did nothing"):
        found = [check for check in rule_checks(QUIET | {"kvm": told}) if check.grade != "good"]
        remedies[told] = found[0].remedy or ""
    assert ["modprobe" in remedy for remedy in remedies.values()] == [True, False, False]
    assert ["group" in remedy for remedy in remedies.values()] == [False, True, False]


def test_a_folder_that_cannot_hold_a_run_is_bad(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for results in (tmp_path / "file", Path("/proc/nope")):
        ended = CliRunner().invoke(app, ["doctor", "--results", str(results), "--json"])
        found = [each for each in json.loads(ended.stdout) if each["name"] == "disk of the results"]
        assert [each["verdict"] for each in found] == ["bad"]
        assert ended.exit_code == 3
    CliRunner().invoke(app, ["doctor", "--results", str(tmp_path / "new")])
    assert [each.name for each in tmp_path.iterdir()] == ["file"]


def test_all_machines_of_a_study_are_looked_at(tmp_path: Path) -> None:
    study = tmp_path / "study.yaml"
    there = "there: {platform: native, host_machine: 'ssh://there', service: {use: sink-ftp}}"
    text = STUDY.replace("there: {platform: native, service: {use: sink-ftp}}", there)
    study.write_text(text + "generator: {host: 'ssh://driver'}\n")
    assert machines_of(read_runnable_study(study)) == {"local", "ssh://there", "ssh://driver"}
    study.write_text(text.replace("native, host_machine: 'ssh://there'", "ssh, host: board"))
    assert machines_of(read_runnable_study(study)) == {"local", "ssh://board"}


def test_a_secret_that_cannot_be_read_is_a_finding(tmp_path: Path) -> None:
    study = tmp_path / "study.yaml"
    study.write_text(STUDY.replace("{use: ftp}", '{use: ftp, password: "${env:NOT_THERE_7}"}'))
    checks = preflight_checks(read_runnable_study(study), study, None, tmp_path)
    assert [check.name for check in checks if "NOT_THERE_7" in check.seen] == ["secret"]


def test_a_machine_that_cannot_be_reached_is_a_finding(tmp_path: Path) -> None:
    study = tmp_path / "study.yaml"
    there = "there: {platform: ssh, host: 'ssh://127.0.0.1:1', service: {use: sink-ftp}}"
    study.write_text(STUDY.replace("there: {platform: native, service: {use: sink-ftp}}", there))
    checks = list(preflight_checks(read_runnable_study(study), study, None, tmp_path))
    bad = [check for check in checks if check.grade == "bad" and check.name == "machine"]
    assert [check.machine for check in bad] == ["ssh://127.0.0.1:1"]
    assert not [check for check in checks if check.grade == "good"]


@pytest.mark.parametrize(
    ("printed", "failure", "said"),
    [
        ("kvm=absent\ntool.qemu-system-x86_64=7.2\n", None, "absent"),
        ("kvm=permitted\ntool.qemu-system-x86_64=7.2\n", None, "usable"),
        ("kvm=permitted\ntool.qemu-system-x86_64=7.2\n", "aborted", "does not work: aborted"),
        ("kvm=permitted\n", "never asked", "permitted"),
    ],
)
def test_kvm_is_usable_when_a_guest_ran_on_it(
    monkeypatch: pytest.MonkeyPatch, printed: str, failure: str | None, said: str
) -> None:
    class StandIn:
        def facts(self) -> Facts:
            return {}

        def run(self, argv: list[str], *, timeout_s: float) -> SimpleNamespace:
            assert (argv[0], timeout_s > 0) == ("sh", True)
            return SimpleNamespace(stdout=printed)

    monkeypatch.setattr(readings, "kvm_fails", lambda *_: failure)
    assert read_now(cast("Host", StandIn()))["kvm"] == said
