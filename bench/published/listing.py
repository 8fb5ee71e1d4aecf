"""Which studies are run: those of ``studies.yaml``, at their published size or in small."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML


@dataclass(frozen=True)
class Task:
    """One study to be run. ``name`` is the folder below ``docs/examples`` for its findings;
    ``budget`` of time stands in place of the study's own.
    """

    name: str
    source: str
    path: Path
    variant: str | None
    budget: str | None = None

    @property
    def title(self) -> str:
        return self.name if self.variant is None else f"{self.name} ({self.variant})"


@dataclass(frozen=True)
class Listing:
    """The studies to be run, and those that are left out with what they need."""

    tasks: tuple[Task, ...]
    left_out: Mapping[str, str]


def listing(
    file: Path, studies: Path, *, reduced: bool, also: Sequence[str], brief: bool = False
) -> Listing:
    """What ``file`` lists; ``also`` names studies that need more than a machine with KVM has.
    ``brief``: the small variants with their shortest budgets.

    Raises:
        KeyError: no study is listed under a name of ``also``.
    """
    entries: Mapping[str, Mapping[str, Any]] = YAML(typ="safe").load(file)
    for name in also:
        entries[name]
    tasks = tuple(_tasks(entries, studies, reduced=reduced or brief, also=also))
    if brief:
        tasks = tuple(replace(task, budget=entries[task.name].get("brief")) for task in tasks)
    run = {task.name for task in tasks}
    left_out = {name: _why(entry) for name, entry in entries.items() if name not in run}
    return Listing(tasks, left_out)


def _tasks(
    entries: Mapping[str, Mapping[str, Any]], studies: Path, *, reduced: bool, also: Sequence[str]
) -> Iterator[Task]:
    for name, entry in entries.items():
        wanted = "beyond" not in entry or name in also
        if wanted and (not reduced or "reduced" in entry):
            variant = entry.get("reduced" if reduced else "full")
            yield Task(name, entry["source"], studies / entry["study"], variant)


def _why(entry: Mapping[str, Any]) -> str:
    return f"needs {entry['beyond']}" if "beyond" in entry else "has no small variant"
