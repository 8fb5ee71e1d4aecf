"""Filesystems, as the catalogue declares them."""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import Any

from ruamel.yaml import YAML

from steelyard.study.setting import Entry


class Filesystem(Entry):
    """How a filesystem is made, and what it keeps in memory.

    ``own`` are the words by layout for arrays that it builds itself.
    """

    meaning: str
    make: tuple[str, ...]
    version: tuple[str, ...]
    keeps: str
    own: dict[str, tuple[str, ...]] | None = None


@cache
def filesystems() -> dict[str, Filesystem]:
    """All of them by the name that the kernel mounts them by."""
    file = resources.files("steelyard.catalogue").joinpath("filesystems.yaml")
    written: dict[str, Any] = YAML(typ="safe", pure=True).load(file.read_text(encoding="utf-8"))
    return {name: Filesystem.model_validate(fields) for name, fields in written.items()}
