"""Levels of factors are said with the units that their author would write."""

from __future__ import annotations

from pathlib import Path

from steelyard.cli.archive.reading import write
from steelyard.plan.make import make_plan
from steelyard.plan.words import plan_lines
from steelyard.records.archive import Run, RunFacts
from steelyard.records.creation import create_run
from steelyard.report.formats.markdown import markdown_text
from steelyard.report.from_run import find
from steelyard.study.labels import Labels
from steelyard.study.model import Level, Study
from steelyard.study.read import read_study_bytes

TEXT = """
study: units
question: How are levels said?
systems:
  one: {platform: podman, service: {use: sink-stream}, disks: {data: {size: 1 GiB}}}
  two: {platform: podman, service: {use: sink-stream}, disks: {data: {size: 1 GiB}}}
workload: {use: tcp-stream, pace: [100 Mbit/s, 1.5 Gbit/s]}
factors:
  system.memory: [512 MiB]
  disks.data.size: [1 GB]
  settings.sysctl.vm.swappiness: [10]
load: {users: [2]}
trials: {margin: 5 %}
"""
SAID = (
    "workload.pace 100 Mbit/s, 2 users, system.memory 512 MiB, disks.data.size 1 GB, "
    "settings.sysctl.vm.swappiness 10"
)


def study(text: str = TEXT) -> Study:
    return read_study_bytes(text.encode(), Path("study.yaml"))


def test_a_plan_says_each_condition_with_its_unit() -> None:
    read = study()
    assert any(SAID in line for line in plan_lines(read, make_plan(read, seed=1)))


def test_factors_of_several_workloads_have_the_units_of_their_own() -> None:
    several = TEXT.replace(
        "workload: {use: tcp-stream, pace: [100 Mbit/s, 1.5 Gbit/s]}",
        "workloads: {net: {use: tcp-stream, pace: [1 Gbit/s, 0]}, disk: {use: dd, block: [4 KiB, 1 MB]}}",  # noqa: E501
    )
    read = study(several)
    kinds = Labels.of(read).kinds
    assert kinds["workloads.net.pace"] == "rate"
    assert kinds["workloads.disk.block"] == "size"
    told = "\n".join(plan_lines(read, make_plan(read, seed=1)))
    assert "net, pace 1 Gbit/s" in told
    assert "disk, block 4 KiB" in told
    assert "disk, block 1 MB" in told


def test_levels_of_an_unknown_kind_are_written_as_they_are() -> None:
    conditions: dict[str, Level] = {"workload.pace": 1e8, "service.x": True}
    assert Labels().conditions(conditions) == "workload.pace 100000000.0, service.x true"
    assert Labels({"workload.pace": "rate"}).conditions(conditions) == (
        "workload.pace 100 Mbit/s, service.x true"
    )


def test_conditions_of_several_workloads_start_with_the_workload() -> None:
    written = Labels().conditions({"workload": "cpu", "workloads.cpu.n": 100, "scenario": "alone"})
    assert written == "cpu, n 100, alone"


def test_a_place_is_a_system_and_its_conditions() -> None:
    assert Labels().place("nginx", {"load.users": 1}) == "nginx at 1 user"
    assert Labels().place("nginx", {}) == "nginx"


def test_a_rate_is_said_by_the_second() -> None:
    assert Labels().place("nginx", {"load.rate": 200}) == "nginx at 200/s"


def test_findings_words_and_report_of_a_run_have_the_units(tmp_path: Path) -> None:
    opened = run_without_trials(tmp_path)
    findings = find(opened)
    words = markdown_text(findings)
    [html] = write(opened, findings, ("html",), None)
    for text in (words, html.read_text(encoding="utf-8")):
        assert "100 Mbit/s" in text
        assert "100000000.0" not in text
    assert findings.workloads[0].conditions[0]["workload.pace"] == 1e8, "data stay numbers"
    assert findings.level_kinds["workload.pace"] == "rate"


def run_without_trials(folder: Path) -> Run:
    read = study()
    plan = make_plan(read, seed=1)
    facts = RunFacts(
        tool_version="0",
        study=read.name,
        study_file="study.yaml",
        study_sha256=read.sha256,
        variant=None,
        seed=plan.seed,
        created_unix_ns=1,
        command=(),
    )
    return create_run(folder, facts, TEXT.encode(), plan, {})
