"""A controller that stands for Slurm's, and a folder with a study."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest
from tests.integration.conftest import STUDY
from tests.unit.queue.test_answers import NODES

from steelyard.cli.queue import submission as command
from steelyard.cli.runs import cancelling, queue_states
from steelyard.errors import HostError
from steelyard.queue.answers import Job, Node, QueueState, nodes_in


class Queue:
    """Stands for a controller: ``loses`` the answer to the next job, ``refuses`` it, or is away."""

    def __init__(self) -> None:
        self.held: dict[int, Job] = {}
        self.loses = self.refuses = self.away = False
        self.ended: list[tuple[str, int]] = []

    def clock_unix_s(self) -> float | None:
        return None

    def nodes(self) -> list[Node]:
        return nodes_in(NODES)

    def host_names(self, names: str) -> tuple[str, ...]:
        return tuple(names.split(","))

    def jobs(self) -> list[Job]:
        if self.away:
            raise HostError("away", hint="wait", slug="queue-is-away")
        return list(self.held.values())

    def accounted(self, numbers: Iterable[int]) -> list[Job]:
        del numbers
        return []

    def refuse_impossible(self, options: Sequence[str], script: str) -> None:
        assert "--no-requeue" in options
        assert script.startswith("#!/bin/sh")

    def queue(self, options: Sequence[str], script: str) -> int:
        del script
        if self.refuses:
            raise HostError("no", hint="ask", slug="queue-refuses")
        (comment,) = (o.partition("=")[2] for o in options if o.startswith("--comment="))
        number = len(self.held) + 1
        self.held[number] = Job(number, "pending", "PENDING", "", "Resources", comment)
        if self.loses:
            self.loses = False
            raise HostError("lost", hint="ask again", slug="queue-is-away")
        return number

    def becomes(self, number: int, state: QueueState) -> None:
        old = self.held[number]
        self.held[number] = Job(number, state, state.upper(), "n1", None, old.comment)

    def drop_pending(self, number: int) -> None:
        self.ended.append(("pending", number))
        self.becomes(number, "running")  # it began before it could be dropped

    def end_running(self, number: int) -> None:
        self.ended.append(("running", number))
        self.becomes(number, "failed")


@pytest.fixture
def queue(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Queue:
    queue = Queue()
    for module in (command, queue_states, cancelling):
        monkeypatch.setattr(module, "Slurm", lambda: queue)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "study.yaml").write_text(STUDY, encoding="utf-8")
    return queue
