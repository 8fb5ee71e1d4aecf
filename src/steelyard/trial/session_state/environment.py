"""What the machines that carry systems are like before a session and after it.

Both are kept in the run's folder; what differs, and does not move by itself, is in the ledger, so
that the report can say whether the machines were left as found.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable

from steelyard.engine.agent import AgentRefusal
from steelyard.errors import SteelyardError
from steelyard.hosts.environment import Difference, Environment, differences, snapshot
from steelyard.hosts.failures import SystemFailure
from steelyard.hosts.host import Host
from steelyard.records.archive import Run
from steelyard.records.durable import write_file
from steelyard.records.ledger import Event, Ledger

HURRIED = "the run was hurried to its end, and nobody looked"
_MOST_TOLD = 50
_MARK = re.compile(r"steelyard-([0-9a-f]{8})\b")


class Surroundings:
    """The machines of one session, looked at twice."""

    def __init__(self, run: Run, ledger: Ledger, mark: str) -> None:
        self._run = run
        self._ledger = ledger
        self._mark = mark
        self._session = 1 + sum(e["event"] == "environment_seen" for e in ledger.events())
        self._before: dict[str, Environment] = {}

    def look(self, machines: Iterable[str], open_machine: Callable[[str], Host]) -> None:
        """Keeps what every machine is like now; one that cannot be listed is told of."""
        untold = {}
        for name in machines:
            try:
                self._before[name] = snapshot(open_machine(name), self._mark)
            except (AgentRefusal, SteelyardError, SystemFailure) as error:
                untold[name] = str(error)
        self._keep("before", self._before)
        self._ledger.append("environment_seen", machines=list(self._before), untold=untold)

    def compare(self, open_machine: Callable[[str], Host], *, hurried: bool = False) -> None:
        """Looks again, and notes in the ledger what is otherwise than before.

        ``hurried``: does not look, and notes that.
        """
        after: dict[str, Environment] = {}
        untold: dict[str, str] = {}
        found: list[Event] = []
        for name, before in self._before.items():
            if hurried:
                untold[name] = HURRIED
                continue
            try:
                after[name] = snapshot(open_machine(name), self._mark)
            except (AgentRefusal, SteelyardError, SystemFailure) as error:
                untold[name] = str(error)
                continue
            found += [
                {"machine": name, "what": str(each), "reason": each.reason or self._other(each)}
                for each in differences(before, after[name])
            ]
        self._keep("after", after)
        ours = [event for event in found if event["reason"] is None]
        self._ledger.append(
            "environment_compared",
            machines=list(after),
            untold=untold,
            count=len(ours),
            differences=ours[:_MOST_TOLD],
        )

    def _other(self, difference: Difference) -> str | None:
        """Why a thing is none of ours: it bears the mark of another run on the same machine."""
        marks = set(_MARK.findall(str(difference)))
        return "another run's" if marks and self._mark not in marks else None

    def _keep(self, when: str, seen: dict[str, Environment]) -> None:
        folder = self._run.path / "environment"
        folder.mkdir(exist_ok=True)
        document = json.dumps(seen, indent=1, sort_keys=True).encode() + b"\n"
        write_file(folder / f"{self._session}-{when}.json", document)
