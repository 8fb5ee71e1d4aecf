"""Keys of study files that have a new name: the old one is read until the next version."""

from __future__ import annotations

from collections.abc import Iterator

from steelyard.errors import Complaint
from steelyard.study.file.source import Place, Source, Where

UNTIL = "0.2"
EVERY = "*"
"""Stands for every key of a mapping."""
RENAMED: dict[tuple[str, ...], str] = {
    ("beside",): "background",
    ("probe",): "latency_probe",
    ("systems", EVERY, "carrier"): "host_machine",
    ("defaults", "carrier"): "host_machine",
    ("judge", "guards"): "guardrails",
    ("trials", "canary"): "reference_kernel",
    ("trials", "dummy"): "aa_control",
    ("trials", "warm_up"): "warmup",
}
"""The new key by the old one, and where that stands."""


def rename_old_keys(source: Source) -> list[Complaint]:
    """Puts every old key of a source under its new name; a notice for each.

    Where both are given nothing is renamed, and the old one is an unknown key.
    """
    notices = []
    for path, new in RENAMED.items():
        for above in [(), *_matching(source.tree, ("variants", EVERY))]:
            for where in list(_matching(source.tree, (*above, *path))):
                if _rename(source, where, new):
                    line, column = source.keys[(*where[:-1], new)]
                    message = f"`{where[-1]}` is now `{new}`"
                    hint = f"write `{new}`; the old key is read until version {UNTIL}"
                    notices.append(Complaint(source.path, line, column, message, hint))
    return sorted(notices)


def _matching(tree: object, path: Where, above: Where = ()) -> Iterator[Where]:
    """Where the keys of a path stand in the tree."""
    if not path:
        yield above
        return
    if isinstance(tree, dict):
        for key in tree if path[0] == EVERY else {path[0]} & set(tree):
            yield from _matching(tree[key], path[1:], (*above, key))


def _rename(source: Source, where: Where, new: str) -> bool:
    """Renames a key in its mapping, in its order; ``False`` where the new one is there, too."""
    above: object = source.tree
    for key in where[:-1]:
        above = above[key] if isinstance(above, dict) else None
    if not isinstance(above, dict) or new in above:
        return False
    renamed = {new if key == where[-1] else key: value for key, value in above.items()}
    above.clear()
    above.update(renamed)
    for places in (source.keys, source.values):
        _move(places, where, (*where[:-1], new))
    return True


def _move(places: dict[Where, Place], old: Where, new: Where) -> None:
    for where in [where for where in places if where[: len(old)] == old]:
        places[*new, *where[len(old) :]] = places.pop(where)
