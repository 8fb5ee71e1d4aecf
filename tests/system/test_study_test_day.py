"""The test day on three guests of different size behind ssh, whole and for real: 15 minutes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.system.far_guest import Size, laboratory

from steelyard.records.archive import open_run
from steelyard.records.events import Undone, UndoPlanned

pytestmark = pytest.mark.system
STUDY = Path(__file__).parents[2] / "studies" / "tuned-test-day"
MACHINES = {"lab1": Size(1, 512), "lab2": Size(2, 768), "lab3": Size(2, 1024)}
KEPT = os.environ.get("KEPT")
"""Where the run is left, as `docs/examples` are made of it; a folder of pytest's by default."""
LONGEST_S = 3 * 3600


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The folder of the run; every test looks at the same one."""
    folder = Path(KEPT) if KEPT else tmp_path_factory.mktemp("day")
    with (
        pytest.MonkeyPatch.context() as patch,
        laboratory(tmp_path_factory.mktemp("guests"), patch, MACHINES),
    ):
        ran = subprocess.run(
            [sys.executable, "-m", "steelyard", "run", str(STUDY), "--format", "md,json"],
            cwd=folder,
            env={**os.environ, "NO_COLOR": "1"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=LONGEST_S,
            check=False,
        )
        (folder / "terminal.txt").write_text(ran.stdout + ran.stderr, encoding="utf-8")
        assert ran.returncode == 0, ran.stderr[-2000:]
        (found,) = (folder / "results" / "tuned-test-day").iterdir()
        yield found


def findings(run: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((run / "report" / "findings.json").read_text())
    return found


def test_each_machine_carries_both_levels(run: Path) -> None:
    measured = {
        (path.parts[-4], json.loads(path.read_text())["cell"]["system"])
        for path in run.rglob("trials/*/record.json")
    }
    assert len({system for _, system in measured}) == 2
    assert len({machine for machine, _ in measured}) == len(MACHINES)


def test_the_report_answers_for_each_machine_and_for_all_of_these(run: Path) -> None:
    text = (run / "report" / "report.md").read_text(encoding="utf-8")
    assert all(name in text for name in MACHINES)
    assert findings(run)["workloads"]


def test_nothing_of_the_study_is_left_on_any_machine(run: Path) -> None:
    for ledger in run.rglob("ledger.jsonl"):
        events = open_run(ledger.parent).events()
        planned = {event.undo for event in events if isinstance(event, UndoPlanned)}
        assert planned == {event.undo for event in events if isinstance(event, Undone)}
