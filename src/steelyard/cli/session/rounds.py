"""What a person or a program sees while several machines take turns."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from steelyard.cli.console import shown, tell
from steelyard.cli.machine_words import kinds_line
from steelyard.cli.session.display import Display, live_block
from steelyard.cli.session.stream import EventStream
from steelyard.errors import SteelyardError
from steelyard.hosts.kinds import Kind
from steelyard.records.archive import Run
from steelyard.records.stream import MachineTurn
from steelyard.study.machines import parts_of
from steelyard.study.model import Study
from steelyard.trial.machines import OnMachine


class Rounds:
    """Says in the stream whose the next events are, and tells who fails."""

    def __init__(self, stream: EventStream | None) -> None:
        self._stream = stream

    def turns_to(self, machine: str) -> None:
        if self._stream is not None:
            self._stream.write(MachineTurn(machine=machine))

    def differ(self, kinds: dict[Kind, list[str]]) -> None:
        tell(f"warning: {kinds_line(kinds)}")

    def fails(self, machine: str, error: SteelyardError) -> None:
        tell(f"{machine}: {error.message}; the other machines go on")


@contextmanager
def watch_machines(
    study: Study, run: Run, stream: EventStream | None
) -> Iterator[tuple[dict[str, OnMachine], Rounds]]:
    """A display for each machine, which share the terminal, and one for their turns."""
    parts = parts_of(study)
    with live_block() as live:
        on = {}
        for name, own in run.machines().items():
            events = None if stream is None else EventStream(parts[name], own, shown(own.path))
            display = Display(parts[name], live, events)
            on[name] = OnMachine(parts[name], own, display)
        yield on, Rounds(stream)
