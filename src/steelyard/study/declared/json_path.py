"""Where a value lies in a JSON document: ``0.State.Pid``, ``jobs.*.read.iops``.

Keys and numbers of list items stand between dots; a key that holds dots itself is quoted, as in
``percentile."99.000000"``, and ``*`` stands for every item or every value. ``*[cpu=all]`` are those
whose text at the path ``cpu`` is ``all``, ``*[cpu!=all]`` the others.
"""

from __future__ import annotations

import json
import re

_STEP = re.compile(r'"([^"]*)"|\*\[([^][=!]+)(!?=)([^][]*)\]|([^."\[\]]+)')
_PATH = re.compile(rf"(?:{_STEP.pattern})(?:\.(?:{_STEP.pattern}))*")
EACH = "*"


def is_path(path: str) -> bool:
    """Whether a text is such a path."""
    return _PATH.fullmatch(path) is not None


def values_at(document: object, path: str) -> list[object]:
    """Every value at a path, in the order of the document; ``*`` of what is empty gives none.

    Raises:
        LookupError: a step leads nowhere, which is its argument.
    """
    values = [document]
    for match in _STEP.finditer(path):
        quoted, key, relation, wanted, plain = match.groups()
        if key is not None:
            items = [inner for value in values for inner in _inner(value, EACH)]
            values = [item for item in items if _is(item, key, wanted) == (relation == "=")]
            continue
        step = plain if quoted is None else quoted
        values = [inner for value in values for inner in _inner(value, step)]
    return values


def _is(item: object, path: str, wanted: str) -> bool:
    try:
        return [as_text(value) for value in values_at(item, path)] == [wanted]
    except LookupError:
        return False


def as_text(value: object) -> str:
    """A value as it is compared and read: texts as they are, all else as JSON."""
    return value if isinstance(value, str) else json.dumps(value)


def _inner(value: object, step: str) -> list[object]:
    if step == EACH and isinstance(value, dict | list):
        return list(value.values() if isinstance(value, dict) else value)
    if isinstance(value, dict) and step in value:
        return [value[step]]
    if isinstance(value, list) and step.isdecimal() and int(step) < len(value):
        return [value[int(step)]]
    raise LookupError(step)
