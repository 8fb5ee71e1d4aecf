"""Versions of tools: numbers with dots between, compared number by number."""

from __future__ import annotations

import re

_VERSION = re.compile(r"[0-9]{1,9}(?:\.[0-9]{1,9})*", re.ASCII)


def is_version(text: str) -> bool:
    """Whether a text is a version that can be compared."""
    return _VERSION.fullmatch(text) is not None


def within(version: str, least: str, before: str | None) -> bool:
    """Whether a version is at least ``least`` and comes before ``before``; all are versions."""
    numbers = _numbers(version)
    return _numbers(least) <= numbers and (before is None or numbers < _numbers(before))


def _numbers(version: str) -> tuple[int, ...]:
    """Without zeros at the end: ``3.0`` and ``3`` are the same."""
    numbers = [int(number) for number in version.split(".")]
    while len(numbers) > 1 and numbers[-1] == 0:
        numbers.pop()
    return tuple(numbers)
