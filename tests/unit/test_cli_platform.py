"""``steelyard platform``: what a user sees of the platforms and of a file of their own."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from steelyard.cli.main import app
from steelyard.engine.locate import find_engine
from steelyard.plan.make import make_plan
from steelyard.plan.words import plan_lines
from steelyard.study import catalogue
from steelyard.study.lookup import PLATFORM_FILES
from steelyard.study.read import read_study


def said(*words: str) -> tuple[int, str, str]:
    result = CliRunner().invoke(app, ["platform", *words])
    return result.exit_code, result.stdout, result.stderr


def test_the_list_says_of_each_platform_whether_it_is_verified() -> None:
    code, out, _ = said("list")
    rows = {line.split()[0]: line for line in out.splitlines()}
    assert code == 0
    assert set(catalogue.names("platforms")) < set(rows)
    assert "not yet run on the real thing" in rows["vmware"]
    assert "on the real thing" in rows["libvirt"]
    assert "not yet" not in rows["libvirt"]


def test_a_file_that_is_shown_can_be_checked_as_it_is(tmp_path: Path) -> None:
    _, out, _ = said("show", "xen")
    file = tmp_path / "mine.yaml"
    file.write_text(out, encoding="utf-8")
    assert PLATFORM_FILES.read(file) == catalogue.platform("xen")
    code, out, _ = said("check", str(file))
    assert code == 0
    assert "no mistake found" in out


def test_a_wrong_file_ends_with_its_lines_and_the_code_of_a_wrong_study(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text("summary: x\nresets: [service]\ndriver: command_line\nsettings: {}\n")
    code, _, _ = said("check", str(file))
    assert code == 2


def test_a_platform_that_is_not_there_is_said_to_be_none() -> None:
    code, _, _ = said("show", "xenn")
    assert code == 3


@pytest.mark.parametrize(("platform", "told"), [("virtuozzo", True), ("native", False)])
def test_the_plan_says_that_a_platform_is_unverified(
    tmp_path: Path, platform: str, told: bool
) -> None:
    settings = "image: x, guest_address: 192.168.1.40, " if told else ""
    file = tmp_path / "study.yaml"
    file.write_text(
        "study: s\nquestion: q?\nsystems:\n"
        "  one: {platform: native, service: {use: sink-http}}\n"
        f"  two: {{platform: {platform}, {settings}service: {{use: sink-http}}}}\n"
        "workload: {use: http}\ntrials: {margin: 5 %, budget: {trials: 12 per cell}}\n"
    )
    study = read_study(file)
    lines = "\n".join(plan_lines(study, make_plan(study, 1)))
    assert (f"platform {platform}: not yet run on the real thing" in lines) == told


def test_doctor_names_the_mistakes_of_a_file_of_the_users_own(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text("summary: x\nresets: [service]\ndriver: command_line\nsettings: {}\n")
    result = CliRunner().invoke(app, ["doctor", "--platform", str(file)])
    assert result.exit_code == 2


def test_a_platform_of_commands_is_examined_by_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STEELYARD_ENGINE", str(find_engine()))
    monkeypatch.setenv("PATH", "/nowhere")
    examined = CliRunner().invoke(app, ["doctor", "--platform", "docker", "--set", "image=x"])
    assert examined.exit_code == 3, examined.output
    assert "FAIL  up" in examined.stdout


def test_no_platform_is_offered_that_is_unlike_what_was_written() -> None:
    said = CliRunner().invoke(app, ["doctor", "--platform", "nope"])
    assert said.exit_code == 2
    assert "did you mean" not in said.output
    said = CliRunner().invoke(app, ["doctor", "--platform", "podmn"])
    assert "podman" in said.output
