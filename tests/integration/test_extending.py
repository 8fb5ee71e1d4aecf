"""A budget that ended without a verdict is extended once, and honestly."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from steelyard.records.archive import open_run
from tests.integration.conftest import STUDY, Steelyard

UNDECIDABLE = STUDY.replace("margin: 2 %", "margin: 0.01 %\n  alpha: 0.1 %\n  seed: 5")
"""So few visits have too few orders for a word at this rate, whatever is measured."""

SECOND = "two: {platform: native, service: {use: sink-smtp, store: maildir, sync: none"
DECIDABLE = (
    STUDY.replace(SECOND, f"{SECOND}, delay: 10 ms")
    .replace("window: 200 ms", "window: 400 ms")
    .replace("6 per cell", "40 per cell")
)
"""A message takes seven answers and so a tenth of a second, on a busy machine as on an idle one."""


def findings_of(path: Path) -> dict[str, object]:
    found: dict[str, object] = json.loads((path / "report" / "findings.json").read_text())
    return found


def test_a_run_whose_budget_ended_goes_on_by_the_order_that_was_drawn_and_only_once(
    steelyard: Steelyard,
) -> None:
    (steelyard.folder / "study.yaml").write_text(UNDECIDABLE, encoding="utf-8")
    first = steelyard.run("run", ".")
    assert first.returncode == 0, first.stderr
    run = open_run(steelyard.folder / "results" / "tiny")
    before = run.plan()
    assert f"steelyard resume {run.path.relative_to(steelyard.folder)} --extend" in first.stderr
    plan_on_disk = (run.path / "plan.json").read_bytes()

    longer = steelyard.run("resume", "results/tiny", "--extend")

    assert longer.returncode == 0, longer.stderr
    done, known = run.plan(), len(before.visits)
    assert (run.path / "plan.json").read_bytes() == plan_on_disk
    assert tuple(visit.system for visit in done.visits) == before.assignment
    measured = {record.visit: record.cell.system for record in run.records()}
    assert measured == {visit.visit: visit.system for visit in done.visits}
    assert findings_of(run.path)["stop"] | {"spent_s": 0} == {  # type: ignore[operator]
        "reason": "budget_visits",
        "visits_done": 2 * known,
        "visits_planned": 2 * known,
        "trials_done": 2 * known,
        "attempts_failed": findings_of(run.path)["stop"]["attempts_failed"],  # type: ignore[index]
        "spent_s": 0,
        "extended_from": known,
        "visits_assumed": None,
    }
    assert "--extend" not in longer.stderr
    again = steelyard.run("resume", "results/tiny", "--extend")
    assert again.returncode == 3
    assert "it was extended before, and the error rate allows that once" in again.stderr


@pytest.mark.extended
def test_a_run_that_reached_its_verdict_is_not_extended(steelyard: Steelyard) -> None:
    (steelyard.folder / "study.yaml").write_text(DECIDABLE, encoding="utf-8")
    assert steelyard.run("run", ".").returncode == 0
    refused = steelyard.run("resume", "results/tiny", "--extend")
    assert refused.returncode == 3
    assert "the verdict was reached" in refused.stderr
