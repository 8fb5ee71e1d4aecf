"""What `plan --changes` lists of disks is what is done to them, and is printed as it is run."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from steelyard.cli.planning.changes import Changes
from steelyard.cli.session.new_run import new_run
from steelyard.plan.make import make_plan
from steelyard.study.read import read_study_bytes
from steelyard.systems.disks.check import TEST_FILE
from steelyard.trial.rehearsal.session import rehearse
from steelyard.trial.rehearsal.steps import Step

STUDY = """\
study: disky
question: What is done to a disk?
systems:
  one: {platform: native, disks: {data: {filesystem: ext4, size: 64 MiB}}}
  two: {platform: native, disks: {data: {filesystem: ext4, size: 64 MiB, mount: noatime}}}
workload: {command: [sleep, "1"]}
trials: {margin: 50 %, budget: {trials: 6}}
"""


@pytest.fixture
def steps(tmp_path: Path) -> list[Step]:
    file = tmp_path / "study.yaml"
    file.write_text(STUDY, encoding="utf-8")
    study = read_study_bytes(STUDY.encode(), file)
    plan = make_plan(study, 1)
    run = new_run(file, study, plan, tmp_path / "results")
    return rehearse(study, plan, run, Path("/results/run"), lambda *_: None)


def test_each_disk_is_let_go_looked_at_read_back_and_let_go_again(steps: list[Step]) -> None:
    for system, options in (("one", "ro"), ("two", "noatime,ro")):
        done = [step for step in steps if step.phase == "check_disks" and system in step.systems]
        changing = [step.words for step in done if step.words[0] in ("umount", "mount")]
        assert [words[0] for words in changing] == ["umount", "mount", "umount"]
        assert options in changing[1]
        assert any("sha256sum --check" in " ".join(step.words) for step in done)
    assert not [step for step in steps if step.kind == "not_known"]


def test_a_script_is_printed_with_its_lines(steps: list[Step]) -> None:
    (step,) = [s for s in steps if TEST_FILE in s.words and "one" in s.systems and s.phase != "undo"
               and "/dev/urandom" in s.words[2]]  # fmt: skip
    printed = "\n".join(Changes([step], [], [], {}, {}, {}).lines())
    (words,) = [printed[printed.index("run sh -c ") + 4 : printed.index(".sha256") + 7]]
    script = shlex.split(words)[2]
    assert [line.strip() for line in script.splitlines()] == step.words[2].rstrip("\n").splitlines()
