"""What the list shows of a queue: asked beside the pages, now and then, and never in their way."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.unit.web.conftest import KEY, Reader, add_run

from steelyard.errors import HostError
from steelyard.web.queue_watch import LEAST_S, QueueWatch

PENDING = {"job": 12, "state": "pending", "said": "12 pending (Resources)"}


class Queue:
    """Stands for whoever asks the queue: what it was asked, what it says, and for how long."""

    def __init__(self, says: Callable[[], object] = lambda: None) -> None:
        self.asked: list[list[Path]] = []
        self._says = says

    def __call__(self, runs: Sequence[Path]) -> Mapping[str, Any]:
        self.asked.append([*runs])
        self._says()
        return {str(run): PENDING for run in runs}


@pytest.fixture
def submitted(results: Path) -> Path:
    run = results / KEY
    (run / "queue" / "1").mkdir(parents=True)
    return run


def test_a_run_that_was_submitted_has_its_job_on_the_list_and_in_its_twin(
    reader: Reader, results: Path, submitted: Path
) -> None:
    queue = Queue()
    reader.app.state.queue = QueueWatch(queue)
    other = add_run(results, "other/run", study="other")
    runs = reader.ask("/runs.json").json()["runs"]
    assert {row["run"]: row["queue"] for row in runs} == {KEY: PENDING, "other/run": None}
    assert "12 pending (Resources)" in reader.ask("/runs").text
    assert queue.asked == [[submitted]]
    assert not (other / "queue").exists()


def test_the_queue_is_asked_once_however_many_look_and_again_after_some_seconds(
    submitted: Path,
) -> None:
    again = threading.Event()
    queue = Queue(lambda: again.set() if len(queue.asked) == 3 else None)
    patient, eager = QueueWatch(queue, LEAST_S), QueueWatch(queue, 0.0)
    assert [patient.standing([submitted]) for _ in range(50)][-1] == {str(submitted): PENDING}
    assert len(queue.asked) == 1
    eager.standing([submitted])
    eager.standing([submitted])
    assert again.wait(60)


def test_a_queue_that_does_not_answer_keeps_no_page_and_is_not_asked_a_second_time(
    reader: Reader, submitted: Path
) -> None:
    answers = threading.Event()
    queue = Queue(lambda: bool(answers.wait(60)))
    reader.app.state.queue = QueueWatch(queue, 0.0)
    for _ in range(3):
        page = reader.ask("/runs.json")
        assert (page.status_code, page.json()["runs"][0]["queue"]) == (200, None)
    assert queue.asked == [[submitted]]
    answers.set()


@pytest.mark.parametrize(
    "error", [HostError("away", hint="wait", slug="queue-is-away"), ValueError("a defect")]
)
def test_a_queue_that_fails_leaves_the_list_as_it_is(
    reader: Reader, submitted: Path, error: Exception
) -> None:
    def fails() -> None:
        raise error

    queue = Queue(fails)
    reader.app.state.queue = QueueWatch(queue)
    page = reader.ask("/runs.json")
    assert (page.status_code, page.json()["runs"][0]["queue"]) == (200, None)
    assert queue.asked == [[submitted]]


def test_no_queue_is_asked_where_nothing_was_submitted_and_no_link_is_followed(
    results: Path, tmp_path: Path
) -> None:
    queue = Queue()
    watch = QueueWatch(queue)
    run = results / KEY
    assert watch.standing([run]) == {}
    (tmp_path / "elsewhere").mkdir()
    (run / "queue").symlink_to(tmp_path / "elsewhere")
    assert watch.standing([run]) == {}
    assert queue.asked == []
    (run / "queue").unlink()
    (run / "queue").mkdir()
    (run / "queue" / "1").symlink_to(tmp_path / "elsewhere")
    assert watch.standing([run]) == {}
    assert queue.asked == [[]], "what cannot be read is not asked about"
