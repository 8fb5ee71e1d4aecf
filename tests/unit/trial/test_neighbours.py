"""What a tool does beside the measured one: its whole work, again and again, until it is ended."""

from __future__ import annotations

import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from steelyard.hosts.host import Host
from steelyard.study.lookup import WORKLOAD_FILES
from steelyard.trial.drive.background import repeated
from steelyard.workloads.tools.ready import ReadyTool

TEXT = """\
summary: Works.
operation: runs
primary: run_time
settings: {}
command: [sh]
good_exits: GOOD
ends: by itself
"""


def rounds(folder: Path, work: str, then: str | None = None, good: str = "[0]") -> list[str]:
    """What a neighbour did until it failed, in its third round at the latest."""
    entry = WORKLOAD_FILES.parse(TEXT.replace("GOOD", good).encode(), Path("mine.yaml"))
    count = f"[ $(grep -c work {folder}/done) -lt 3 ] || exit 77"
    scripts = [f"echo work >>{folder}/done; {count}; {work}"]
    scripts += [] if then is None else [f"echo then >>{folder}/done; {then}"]
    tool = ReadyTool(
        host=cast("Host", SimpleNamespace(engine="/engine")),
        folder=str(folder),
        entry=entry,
        settings={},
        values={},
        commands=tuple(("sh", "-c", script) for script in scripts),
    )
    (again,) = repeated(tool).commands
    ended = subprocess.run(again, capture_output=True, check=False, timeout=60)
    assert ended.returncode not in entry.good_exits, "it is never ended by itself and well"
    return (folder / "done").read_text(encoding="utf-8").split()


@pytest.mark.parametrize("good", ["[0]", "[124]", "[1, 0]"])
def test_a_neighbour_goes_on_after_every_good_exit_code(tmp_path: Path, good: str) -> None:
    code = good.strip("[]").partition(",")[0]
    done = rounds(tmp_path, f"exit {code}", good=good)
    assert done == ["work"] * 3


def test_what_belongs_to_the_work_of_a_neighbour_runs_after_each_round(tmp_path: Path) -> None:
    done = rounds(tmp_path, "exit 124", "true", good="[0, 124]")
    assert done == ["work", "then", "work", "then", "work"]


@pytest.mark.parametrize(("work", "then"), [("exit 5", "true"), ("true", "exit 124")])
def test_a_neighbour_that_fails_ends_and_not_well(tmp_path: Path, work: str, then: str) -> None:
    done = rounds(tmp_path, work, then, good="[0, 1, 124]")
    assert done.count("work") == 1


def test_words_of_a_neighbour_reach_it_as_they_are(tmp_path: Path) -> None:
    done = rounds(tmp_path, f"printf '%s\\n' \"a b\" '$HOME' >>{tmp_path}/done")
    assert done[1:4] == ["a", "b", "$HOME"]
