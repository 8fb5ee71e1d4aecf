"""What becomes of jobs that the controller of a queue has forgotten: its accounting still knows."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.integration.conftest import LONG_STUDY, STUDY
from tests.platforms.slurm_accounting import Accounted, accounted
from tests.platforms.test_queue import Submitting

from steelyard.records.archive import Run
from steelyard.records.submission import last_submission

pytestmark = pytest.mark.system  # a database, its server and a minute of waiting for them


@pytest.fixture
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Accounted]:
    with accounted(tmp_path_factory.mktemp("lab"), {"n1": "epyc"}) as made:
        yield made


def job_of(run: Run) -> int:
    last = last_submission(run)
    assert last is not None
    assert last.job is not None
    return last.job


def test_jobs_that_the_queue_has_forgotten_have_the_state_that_accounting_has(
    tmp_path: Path, lab: Accounted
) -> None:
    (tmp_path / "study.yaml").write_text(STUDY, encoding="utf-8")
    (tmp_path / "long.yaml").write_text(LONG_STUDY, encoding="utf-8")
    tool = Submitting(tmp_path, lab=lab)
    (measured,) = tool.submitted("study.yaml", "--nodelist", "n1")
    (cancelled,) = tool.submitted("long.yaml", "--nodelist", "n1")
    lab.ask("scancel", str(job_of(cancelled)))
    assert tool.ended(measured)["status"] == "budget_visits"
    jobs = job_of(measured), job_of(cancelled)
    tool.wait(lambda: all(map(lab.forgets, jobs)))
    states = [tool.listed(run)["queue"]["state"] for run in (measured, cancelled)]
    assert states == ["ended", "cancelled"]
    lab.kill("slurmdbd")
    states = [tool.listed(run)["queue"]["state"] for run in (measured, cancelled)]
    assert states == ["unknown", "unknown"]
