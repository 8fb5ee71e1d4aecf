"""Whether a run can have caused what differs on a machine, or somebody else did meanwhile.

A change of a run is in its ledger before it is made, or what it makes bears its mark or lies below
its folder. So of kinds that a run changes by itself alone, what none of these names is of others.
Of the rest (containers, interfaces, profiles, processes), which tools of a platform make too, the
run is suspected.
"""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Iterable

from steelyard.hosts.environment import Difference
from steelyard.hosts.undo.ours import RunFolders
from steelyard.records.events import Event, UndoPlanned

_MARK = re.compile(r"steelyard-([0-9a-f]{8})\b")
_OWN_CHANGES_ONLY = frozenset({"mount", "value", "loop device", "array", "network namespace"})
_OF_TOOLS = re.compile(r"/(var/lib|run)/(containers|docker|lxc|incus|machines|libvirt)\b")
_OF_MANY_VALUES = frozenset({"tuned_profile", "restore_values"})


class Attribution:
    """By the run's folder and mark, and what its ledger says of the changes of a session."""

    def __init__(self, folders: RunFolders, events: Iterable[Event]) -> None:
        self._folders = folders
        planned = [event for event in events if isinstance(event, UndoPlanned)]
        kinds = {str(event.inverse.get("kind")) for event in planned}
        self._any_value = bool(kinds & _OF_MANY_VALUES)
        self._planned = "\n".join(json.dumps(event.inverse) for event in planned)

    def may_be_ours(self, difference: Difference) -> bool:
        """Whether the run can have caused it."""
        text = str(difference)
        marks = set(_MARK.findall(text))
        if marks:
            return self._folders.mark in marks
        if difference.kind not in _OWN_CHANGES_ONLY or str(self._folders.run.absolute()) in text:
            return True
        if difference.kind == "value":
            return self._any_value or self._is_planned(posixpath.dirname(difference.name))
        return _OF_TOOLS.search(text) is not None or self._is_planned(difference.name)

    def _is_planned(self, name: str) -> bool:
        """Values that stand in one folder may follow each other."""
        return name in self._planned
