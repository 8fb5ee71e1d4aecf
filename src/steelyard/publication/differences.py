"""Where two JSON documents differ, and by how much if only numbers do."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

_NOT_THERE = object()


class Difference(NamedTuple):
    """One value; ``relative`` is ``None`` unless both are numbers."""

    path: str
    relative: float | None


def differences(one: bytes, other: bytes) -> list[Difference]:
    """Every value that is not the same; the whole document where one of them is no JSON."""
    try:
        documents = json.loads(one), json.loads(other)
    except (ValueError, RecursionError):
        return [Difference("$", None)]
    return list(_between("$", *documents)) or [Difference("$", None)]


def _between(path: str, one: Any, other: Any) -> Iterator[Difference]:
    if isinstance(one, dict) and isinstance(other, dict):
        for key in dict.fromkeys((*one, *other)):
            yield from _between(
                f"{path}.{key}", one.get(key, _NOT_THERE), other.get(key, _NOT_THERE)
            )
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for place, pair in enumerate(zip(one, other, strict=True)):
            yield from _between(f"{path}[{place}]", *pair)
    elif one != other or type(one) is not type(other):
        yield Difference(path, _relative(one, other))


def _relative(one: Any, other: Any) -> float | None:
    if isinstance(one, bool) or isinstance(other, bool):
        return None
    if not (isinstance(one, int | float) and isinstance(other, int | float)):
        return None
    largest = max(abs(one), abs(other))
    return float(abs(one - other) / largest) if largest else 0.0
