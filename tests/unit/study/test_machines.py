"""A study on several machines: its parts, their plans, and what is refused before anything runs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from steelyard.cli.doctor import examination
from steelyard.cli.main import app
from steelyard.errors import StudyError
from steelyard.hosts.failures import SystemFailure
from steelyard.plan.make import make_plan, planned
from steelyard.study.machines import on_machine, parts_of
from steelyard.study.model import Study
from steelyard.study.read import read_runnable_study, read_study

ROOT = Path(__file__).parents[3]
STUDY = """\
study: day
question: Is the work done faster?
machines: [local, ssh://root@one, ssh://two]
systems: {here: {platform: native}}
factors: {workload.n: [100, 200]}
compare: workload.n
workload: {use: linpack}
trials: {margin: 5 %, budget: {time: 30 min}}
"""


def read(text: str, folder: Path) -> Study:
    path = folder / "study.yaml"
    path.write_text(text, encoding="utf-8")
    return read_study(path)


def complaints(text: str, folder: Path) -> list[tuple[int, str]]:
    path = folder / "study.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(StudyError) as caught:
        read_runnable_study(path)
    assert all(each.hint for each in caught.value.complaints)
    return [(each.line, each.message) for each in caught.value.complaints]


def test_each_machine_has_all_systems_and_its_share_of_error_rate_and_time(tmp_path: Path) -> None:
    whole = read(STUDY, tmp_path)
    parts = parts_of(whole)
    assert list(parts) == ["local", "one", "two"]
    for address, (name, part) in zip(whole.machines, parts.items(), strict=True):
        assert {system.host_machine for system in part.systems.values()} == {address}
        assert (part.machine, part.sha256) == (name, whole.sha256)
        assert part.trials.alpha == pytest.approx(whole.trials.alpha / 3)
        assert part.trials.budget.time_s == pytest.approx(600)
        assert parts_of(part) == {}, "who looks at a part looks at its machine alone"
    assert on_machine(whole, "one") == parts["one"]
    assert on_machine(whole, None) is whole


def test_orders_of_machines_are_drawn_apart_and_again_alike_from_one_seed(tmp_path: Path) -> None:
    whole = read(STUDY, tmp_path)
    once, again = (planned(whole, make_plan(whole, 5)) for _ in range(2))
    assert once == again
    assert len({part.plan.seed for part in once.values()}) == 3
    assert len({part.plan.assignment for part in once.values()}) == 3
    assert once != planned(whole, make_plan(whole, 6))


def test_a_study_without_machines_has_no_parts(tmp_path: Path) -> None:
    alone = read(STUDY.replace("machines: [local, ssh://root@one, ssh://two]\n", ""), tmp_path)
    assert parts_of(alone) == planned(alone, make_plan(alone, 5)) == {}


@pytest.mark.parametrize(
    ("right", "wrong", "line", "says"),
    [
        ("ssh://two", "two", 3, "`two` is not the address of a machine"),
        ("ssh://two", "ssh://one", 3, "`one` is named twice"),
        ("local, ssh://root@one, ssh://two", "ssh://two", 3, "`machines` needs two machines"),
        ("{platform: native}", "{platform: native, host_machine: local}", 4, "pinned to one host"),
        ("{platform: native}", "{platform: ssh, host: two}", 4, "is one machine by itself"),
        ("question:", "ask: influence\nquestion:", 2, "`ask` and `machines` exclude each other"),
        ("margin:", "span: 1 h, margin:", 8, "`span` and `machines` exclude each other"),
        ("time: 30 min", "time: 2 s", 8, "too short for a verdict"),
    ],
)
def test_what_no_machine_can_carry_is_refused_with_its_line(
    tmp_path: Path, right: str, wrong: str, line: int, says: str
) -> None:
    found = complaints(STUDY.replace(right, wrong), tmp_path)
    assert any(at == line and says in message for at, message in found), found


def test_plan_prints_what_is_common_once_and_the_order_of_each(tmp_path: Path) -> None:
    path = tmp_path / "study.yaml"
    path.write_text(STUDY, encoding="utf-8")
    shown = CliRunner().invoke(app, ["plan", str(path), "--seed", "5"]).output
    assert shown.count("first visits") == 3
    assert shown.count("compared") == 1
    documents = json.loads(CliRunner().invoke(app, ["plan", str(path), "--json"]).output)
    assert list(documents["machines"]) == ["local", "one", "two"]


def test_a_commitment_is_for_one_machine(tmp_path: Path) -> None:
    path = tmp_path / "study.yaml"
    path.write_text(STUDY, encoding="utf-8")
    wanted = tmp_path / "commitment"
    done = CliRunner().invoke(app, ["plan", str(path), "--commit", str(wanted)])
    assert done.exit_code == 2
    assert not wanted.exists()


@pytest.mark.parametrize("name", ["study.yaml", "setting.yaml"])
def test_the_shipped_test_day_can_be_planned_on_its_machines(name: str) -> None:
    whole = read_runnable_study(ROOT / "studies" / "tuned-test-day" / name)
    plans = planned(whole, make_plan(whole, 1))
    assert list(plans) == ["lab1", "lab2", "lab3"]
    assert all(part.plan.visits for part in plans.values())


def test_doctor_names_a_machine_that_cannot_be_reached(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def away(name: str) -> None:
        raise SystemFailure("unreachable", f"{name}: its name has no address")

    monkeypatch.setattr(examination, "open_machine", away)
    (check,) = examination._checks_of("ssh://two")
    assert (check.grade, check.machine) == ("bad", "ssh://two")
    assert "no address" in check.seen


@pytest.mark.parametrize(("allowed", "refused"), [("", True), (", may_reboot: true", False)])
def test_a_restart_that_a_machine_does_not_allow_is_refused(
    tmp_path: Path, allowed: str, refused: bool
) -> None:
    path = tmp_path / "study.yaml"
    path.write_text(
        "study: restarts\nquestion: Is it as fast after a restart?\nsystems:\n"
        f"  a: {{platform: ssh, host: a{allowed}}}\n"
        "  b: {platform: ssh, host: b, may_reboot: true}\n"
        "baseline: a\nworkload: {use: linpack}\n"
        "trials: {margin: 5 %, reset: boot, budget: {trials: 40}}\n",
        encoding="utf-8",
    )
    if not refused:
        assert read_runnable_study(path).trials.reset == "boot"
        return
    with pytest.raises(StudyError) as error:
        read_runnable_study(path)
    (complaint,) = error.value.complaints
    assert complaint.line == 8
    assert "may_reboot: true" in str(complaint.hint)


def test_a_seed_that_is_refused_in_a_study_is_refused_on_the_command_line(tmp_path: Path) -> None:
    path = tmp_path / "study.yaml"
    path.write_text(STUDY, encoding="utf-8")
    largest = 2**53 - 1
    assert CliRunner().invoke(app, ["plan", str(path), "--seed", str(largest)]).exit_code == 0
    assert CliRunner().invoke(app, ["plan", str(path), "--seed", str(largest + 1)]).exit_code == 2
