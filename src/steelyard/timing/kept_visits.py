"""Visits of a search in a file, one a line, so that a search that was interrupted goes on.

The order comes from the seed and from what was measured, so a search that is given the same values
asks for the same visits in the same order: those of the file are given, the next ones are measured.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Self, TextIO

from steelyard.errors import HostError
from steelyard.timing.elimination import CandidateFailed


class KeptVisits:
    """``asked`` is what visits depend on: a file of another search is refused.

    Without a path nothing is kept. ``seed`` is that of the file, the given one, or a fresh one.
    """

    def __init__(
        self,
        path: Path | None,
        asked: Mapping[str, Any],
        seed: int | None,
        draw: Callable[[], int],
    ) -> None:
        self._path, self._asked = path, dict(asked)
        self._file: TextIO | None = None
        self._known: list[dict[str, Any]] = []
        self.seed = seed if seed is not None else 0
        kept = None if path is None else self._read(path)
        if seed is None:
            self.seed = draw() if kept is None else int(kept["seed"])
        if kept is not None and kept != self._head:
            raise self._wrong(1, "it was made by another search")

    @property
    def _head(self) -> dict[str, Any]:
        return {**self._asked, "seed": self.seed}

    def __enter__(self) -> Self:
        if self._path is not None:
            self._file = self._opened(self._path)
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.close()

    @property
    def left(self) -> int:
        """How many visits of the file have not been asked for yet."""
        return len(self._known)

    def visit(self, name: str, measure: Callable[[str], float]) -> float:
        """One visit, of the file while there is one left.

        Raises:
            CandidateFailed: it did then, or does now.
        """
        if self._known:
            return self._again(name, self._known.pop(0))
        try:
            value = measure(name)
        except CandidateFailed as failed:
            self._write({"candidate": name, "failure": str(failed)})
            raise
        self._write({"candidate": name, "log": value})
        return value

    def _again(self, name: str, known: dict[str, Any]) -> float:
        if known["candidate"] != name:
            raise self._wrong(None, f"the next visit is of {name}, and it has {known['candidate']}")
        if "failure" in known:
            raise CandidateFailed(known["failure"])
        return float(known["log"])

    def _read(self, path: Path) -> dict[str, Any] | None:
        """The first line; a last line that was cut short is left out."""
        if not path.exists() or not path.stat().st_size:
            return None
        text = path.read_text(encoding="utf-8")
        whole = text[: text.rfind("\n") + 1]
        if whole != text:
            path.write_text(whole, encoding="utf-8")
        read = []
        for number, line in enumerate(whole.splitlines(), 1):
            try:
                read.append(json.loads(line))
            except ValueError as error:
                raise self._wrong(number, f"it is no JSON: {error}") from error
        self._known = read[1:]
        return read[0] if read else None

    def _opened(self, path: Path) -> TextIO:
        try:
            is_new = not path.exists() or not path.stat().st_size
            file = path.open("a", encoding="utf-8")
        except OSError as error:
            raise self._wrong(None, f"it cannot be written: {error.strerror}") from error
        if is_new:
            self._file = file
            self._write(self._head)
        return file

    def _write(self, line: dict[str, Any]) -> None:
        if self._file is not None:
            self._file.write(json.dumps(line) + "\n")
            self._file.flush()

    def _wrong(self, line: int | None, what: str) -> HostError:
        place = f"{self._path}:{line}" if line else f"{self._path}"
        return HostError(
            f"{place}: {what}",
            hint="give --visits a new file, or the same command, candidates, margin and seed",
            slug="visits-do-not-fit",
        )
