"""Reversible settings of a machine, as the catalogue declares them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Literal

from pydantic import Field

from steelyard.study.declared.setting import Entry, Setting
from steelyard.study.shipped import content_of, shipped
from steelyard.units import parse

_KEY = re.compile(r"[A-Za-z0-9_:-]+([./][A-Za-z0-9_:-]+)*")


class ValueFile(Entry):
    """Where the kernel keeps a value. ``words`` are what it takes for levels."""

    path: str
    words: dict[str, str] = Field(default={})
    unit_bytes: int = 1


class MachineSetting(Setting):
    """A setting that is undone after the trial.

    ``where``: on a machine, or in a guest that is thrown away. ``needs`` are programs,
    ``packages`` by distribution what has them.
    ``family``: its name is followed by a key, as in ``sysctl.vm.swappiness``.
    """

    where: tuple[Literal["machine", "guest"], ...]
    needs: tuple[str, ...] = ()
    packages: dict[str, tuple[str, ...]] = Field(default={})
    files: tuple[ValueFile, ...] = ()
    family: bool = False


@cache
def declared_settings() -> dict[str, MachineSetting]:
    """All of them by name, in the order in which they are applied."""
    written: dict[str, object] = content_of(shipped("settings.yaml"))
    return {name: MachineSetting.model_validate(fields) for name, fields in written.items()}


def declared_setting(name: str) -> MachineSetting | None:
    """The setting with this dotted name, such as ``cgroup.cpus`` or ``sysctl.vm.swappiness``."""
    known = declared_settings()
    head, _, key = name.partition(".")
    setting = known.get(name) or known.get(head)
    if setting is None or setting.family == (name in known):
        return None
    return setting if name in known or _KEY.fullmatch(key) else None


def names_to_write() -> list[str]:
    """What a study may write, with ``KEY`` for what follows the name of a family."""
    known = declared_settings().items()
    return [f"{name}.KEY" if setting.family else name for name, setting in known]


def flat_settings(written: Mapping[str, object]) -> dict[str, object]:
    """Nested settings by dotted name: ``{sysctl: {vm.swappiness: 10}}`` is one setting."""
    return dict(_flat(written, ""))


def _flat(written: Mapping[str, object], prefix: str) -> Iterator[tuple[str, object]]:
    for name, value in written.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value


class Filesystem(Entry):
    """How a filesystem is made and checked, and what it keeps in memory.

    ``check`` are the words of a program that only looks, ``damaged`` what it ends with then.
    ``own`` are the words by layout for arrays that it builds itself; ``packages``, by
    distribution, have the tools. ``least`` and ``least_of_own`` are sizes of a disk as written.
    """

    meaning: str
    make: tuple[str, ...]
    version: tuple[str, ...]
    check: tuple[str, ...]
    damaged: tuple[int, ...]
    keeps: str
    packages: dict[str, tuple[str, ...]] = Field(default={})
    own: dict[str, tuple[str, ...]] | None = None
    least: str | None = None
    least_of_own: str | None = None

    def least_bytes(self, layout: str) -> float:
        """The smallest disk that it can be made on; 0 where none is too small."""
        written = self.least_of_own if layout in (self.own or {}) else self.least
        return parse(written, "size") if written else 0


@cache
def filesystems() -> dict[str, Filesystem]:
    """All of them by the name that the kernel mounts them by."""
    written: dict[str, object] = content_of(shipped("filesystems.yaml"))
    return {name: Filesystem.model_validate(fields) for name, fields in written.items()}
