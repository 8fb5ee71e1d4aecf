"""What the machines that carry systems are like before a session and after it.

Both are kept in the run's folder; what differs, and does not move by itself, is in the ledger, so
that the report can say whether the machines were restored.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator

from steelyard.engine.agent import AgentRefusal
from steelyard.errors import SteelyardError
from steelyard.hosts.environment import Difference, Environment, differences, snapshot
from steelyard.hosts.failures import SystemFailure
from steelyard.hosts.host import Host
from steelyard.hosts.undo.ours import RunFolders
from steelyard.records.archive import Run
from steelyard.records.events import (
    EnvironmentCompared,
    EnvironmentDifference,
    EnvironmentRecorded,
)
from steelyard.records.files.durable import clear_unfinished_files, file_appears, make_folders
from steelyard.records.ledger import Ledger
from steelyard.trial.session_state.attribution import Attribution

_MOST_RECORDED = 50


class EnvironmentSnapshots:
    """The machines of one session, looked at twice."""

    def __init__(self, run: Run, ledger: Ledger, mark: str) -> None:
        self._ledger = ledger
        self._folders = RunFolders(run.path)
        self._mark = mark
        self._folder = run.path / "environment"
        self._session = 1 + max(self._numbers(), default=0)
        self._before: dict[str, Environment] = {}

    def look(self, machines: Iterable[str], open_machine: Callable[[str], Host]) -> None:
        """Lists every machine as it is now; one that cannot be listed is recorded as such."""
        clear_unfinished_files(self._folder)
        not_listed = {}
        for name in machines:
            try:
                self._before[name] = snapshot(open_machine(name), self._mark)
            except (AgentRefusal, SteelyardError, SystemFailure) as error:
                not_listed[name] = str(error)
        self._keep("before", self._before)
        self._ledger.append(
            EnvironmentRecorded(machines=tuple(self._before), not_listed=not_listed)
        )

    def compare(self, open_machine: Callable[[str], Host], *, hurried: bool = False) -> None:
        """Lists the machines again and records in the ledger what is not as it was.

        ``hurried``: records only that the machines were not listed.
        """
        after: dict[str, Environment] = {}
        not_listed: dict[str, str] = {}
        ours: list[EnvironmentDifference] = []
        others: list[EnvironmentDifference] = []
        attribution = Attribution(self._folders, self._ledger.events())
        for name, before in {}.items() if hurried else self._before.items():
            try:
                after[name] = snapshot(open_machine(name), self._mark)
            except (AgentRefusal, SteelyardError, SystemFailure) as error:
                not_listed[name] = str(error)
                continue
            for each in differences(before, after[name]):
                if each.reason is None:
                    suspected = ours if attribution.may_be_ours(each) else others
                    suspected.append(_recorded(name, each))
        self._keep("after", after)
        self._ledger.append(
            EnvironmentCompared(
                machines=tuple(after),
                count=len(ours),
                differences=tuple(ours[:_MOST_RECORDED]),
                others=tuple(others[:_MOST_RECORDED]),
                not_listed=not_listed,
                forced_stop=tuple(self._before) if hurried else (),
            )
        )

    def _keep(self, when: str, seen: dict[str, Environment]) -> None:
        make_folders(self._folder)
        document = json.dumps(seen, indent=1, sort_keys=True).encode() + b"\n"
        file_appears(self._folder / f"{self._session}-{when}.json", document)

    def _numbers(self) -> Iterator[int]:
        """Of sessions that kept a file: one that was killed may have kept it and no event."""
        for path in self._folder.glob("*-before.json"):
            number = path.name.partition("-")[0]
            if number.isdigit():
                yield int(number)


def _recorded(machine: str, difference: Difference) -> EnvironmentDifference:
    return EnvironmentDifference(
        machine=machine,
        kind=difference.kind,
        name=difference.name,
        before=difference.before,
        after=difference.after,
    )
