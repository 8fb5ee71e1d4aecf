"""Where in a study file something was asked for, found again after the study was read."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from steelyard.study.file.old_keys import rename_old_keys
from steelyard.study.file.source import Source, Where, parse_source
from steelyard.study.file.variants import with_variant


@dataclass(frozen=True)
class StudyPlaces:
    """The keys of one study file, with their lines."""

    source: Source

    @classmethod
    def of(cls, raw: bytes, path: Path, variant: str | None) -> StudyPlaces:
        """From its bytes; ``path`` is what the lines are named by."""
        source = parse_source(raw, path)
        rename_old_keys(source)
        return cls(source if variant is None else with_variant(source, variant))

    def line_of(self, system: str, key: str) -> str:
        """``FILE:LINE:COLUMN`` of a dotted key, in the system if it is there, or of the system."""
        line, column = self._place(("systems", system), f".{key}")
        return f"{self.source.path}:{line}:{column}"

    def _place(self, system: Where, ending: str) -> tuple[int, int]:
        keys = self.source.keys
        named = [where for where in keys if ("." + _dotted(where)).endswith(ending)]
        own = [where for where in named if where[:2] == system]
        chosen = [*own, *named, *(where for where in (system, system[:1]) if where in keys)]
        return keys[chosen[0]] if chosen else (1, 1)


def _dotted(where: Where) -> str:
    return ".".join(map(str, where))
