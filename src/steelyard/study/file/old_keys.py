"""Keys of files that users write and that have a new name: the old one is read until 0.2."""

from __future__ import annotations

from collections.abc import Iterator

from steelyard.errors import Complaint
from steelyard.study.file.source import Place, Source, Where

UNTIL = "0.2"
EVERY = "*"
"""Stands for every key of a mapping."""
_SETTINGS: dict[tuple[str, ...], str] = {("settings", EVERY, "holds_places"): "holds_placeholders"}
RENAMED: dict[str, dict[tuple[str, ...], str]] = {
    "study": {
        ("beside",): "background",
        ("probe",): "latency_probe",
        ("systems", EVERY, "carrier"): "host_machine",
        ("defaults", "carrier"): "host_machine",
        ("judge", "guards"): "guardrails",
        ("trials", "canary"): "reference_kernel",
        ("trials", "dummy"): "aa_control",
        ("trials", "warm_up"): "warmup",
    },
    "platform": {("proven",): "verified", **_SETTINGS},
    "service": {("crowds",): "load_limits", ("places",): "placeholders", **_SETTINGS},
    "workload": {("warms_up",): "warmup", ("places",): "placeholders", **_SETTINGS},
}
"""The new key by the old one, and where that stands, for each kind of file."""
RENAMED_VALUES = {"platform": {("driver", "commanded"): "command_line"}}
"""The new value by the key and the old value."""


def rename_old_keys(source: Source, what: str = "study") -> list[Complaint]:
    """Puts the new name in place of every old one in a source; a notice for each.

    ``what`` is the kind of file. Where both keys are given neither is renamed, and the old one is
    an unknown key.
    """
    notices = []
    for path, new in RENAMED.get(what, {}).items():
        for above in [(), *_matching(source.tree, ("variants", EVERY))]:
            for where in list(_matching(source.tree, (*above, *path))):
                if _rename(source, where, new):
                    place = source.keys[(*where[:-1], new)]
                    notices.append(_notice(source, place, where[-1], new, "key"))
    for (key, old), new in RENAMED_VALUES.get(what, {}).items():
        if source.tree.get(key) == old:
            source.tree[key] = new
            notices.append(_notice(source, source.values[(key,)], old, new, "value"))
    return sorted(notices)


def _notice(source: Source, place: Place, old: str | int, new: str, noun: str) -> Complaint:
    hint = f"write `{new}`; the old {noun} is read until version {UNTIL}"
    return Complaint(source.path, *place, f"`{old}` is now `{new}`", hint)


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
