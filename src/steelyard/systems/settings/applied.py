"""What a setting concerns, and what became of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from steelyard.hosts.undo.log import PendingUndo
from steelyard.study.model import Level


@dataclass(frozen=True)
class Place:
    """What the settings of one system concern on its machine.

    ``label`` begins with ``steelyard-`` and names what is made. ``folder`` is the system's own,
    where its service stores; it exists. ``devices`` are the names of its attached disks, such as
    ``vdb``; without any, settings of disks concern all disks of the machine. ``profiles`` are
    texts of tuned's profiles that are the user's own, by the path that is the setting's level.
    ``is_shared``: others may set values meanwhile, and theirs stay when these are undone.
    """

    label: str
    folder: str
    devices: tuple[str, ...] = ()
    profiles: Mapping[str, str] = field(default_factory=dict)
    is_shared: bool = False


@dataclass(frozen=True)
class Applied:
    """One setting as it was applied.

    ``undos`` in the order they were planned; ``facts`` as read back; ``watched`` are the files of
    the kernel that show them, ``also_set`` further ones that were set and are no facts of their
    own. ``enter`` are words to be put before those of the service's command.
    """

    setting: str
    level: Level
    undos: tuple[PendingUndo, ...] = ()
    facts: dict[str, str] = field(default_factory=dict)
    watched: dict[str, tuple[str, ...]] = field(default_factory=dict)
    enter: tuple[str, ...] = ()
    also_set: tuple[str, ...] = ()
