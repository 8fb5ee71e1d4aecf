"""Results of simulations, kept as JSON and added up run by run, so that large sizes can grow.

A cell's result holds which judge it was measured on: the name of the code that decides.
Counts of different judges are never added; the newest judge's replace the older ones.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"
SCREENS = "G1, screening"
"""The cells of G1 that no sequential test of two systems decides."""
_ENGINE = "b00e651a"
_JUDGES = {
    SCREENS: "5b0c92de",
    "G1": "e011971f",
    "G9": "5b0c92de",
    "G10": "4c1e90ad",
    "G11": "3de69001",
    "G12": "e19c4d07",
    "G16": "55699641",
    "G17": "2b8d1e5a",
    "G18": "931879ec",
    "G23": "7ae2b05f",
    "G24": "55021b5c",
    "G25": "23a88850",
    "G28": "6f0d2b91",
}
"""The judge of each goal: a name that is given anew whenever its figures change, which
``test_battery.py`` notices. Where none is listed, it is ``_ENGINE``."""


@dataclass
class Result:
    """What came of one cell so far.

    ``counts`` are numbers of studies, or of whatever the goal counts; ``stops`` maps visits at
    the stop to studies. ``batches`` were drawn, so that the next run goes on with the next.
    """

    goal: str
    cell: str
    judge: str
    about: dict[str, Any] = field(default_factory=dict)
    batches: int = 0
    studies: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    stops: Counter[int] = field(default_factory=Counter)
    seconds: float = 0.0
    dates: list[str] = field(default_factory=list)

    def share(self, name: str) -> float:
        return self.counts[name] / self.studies

    def quantile(self, share: float) -> int:
        """Visits by which this share of the studies had stopped."""
        passed = 0
        for visits, count in sorted(self.stops.items()):
            passed += count
            if passed >= share * self.studies:
                return visits
        raise ValueError("no studies")

    @property
    def mean_stop(self) -> float:
        return sum(visits * count for visits, count in self.stops.items()) / self.studies

    @property
    def mean_stop_error(self) -> float:
        """The standard error of the mean; infinite of a single study."""
        if self.studies < 2:
            return math.inf
        squares = sum(count * (v - self.mean_stop) ** 2 for v, count in self.stops.items())
        return math.sqrt(squares / (self.studies - 1) / self.studies)


class Store:
    """The results of one goal, in one file."""

    def __init__(self, goal: str, folder: Path = RESULTS) -> None:
        self.goal = goal
        self._path = folder / f"{goal.lower()}.json"
        self._results = {each.cell: each for each in map(_read, self._documents())}

    def get(self, cell: str) -> Result | None:
        return self._results.get(cell)

    def all(self) -> list[Result]:
        return list(self._results.values())

    def begin(self, cell: str, about: Mapping[str, Any], judge: str) -> Result:
        """The result to add to: the stored one if it is of this judge, else a fresh one."""
        found = self._results.get(cell)
        if found is None or found.judge != judge:
            found = Result(self.goal, cell, judge, dict(about))
            self._results[cell] = found
        return found

    def keep(self) -> None:
        """Writes the file whole."""
        self._path.parent.mkdir(exist_ok=True)
        documents = [_document(self._results[cell]) for cell in sorted(self._results)]
        partial = self._path.with_suffix(".partial")
        text = ",\n".join(json.dumps(each, ensure_ascii=False) for each in documents)
        partial.write_text(f"[\n{text}\n]\n", encoding="utf-8")
        partial.replace(self._path)

    def _documents(self) -> list[dict[str, Any]]:
        if not self._path.exists():
            return []
        documents: list[dict[str, Any]] = json.loads(self._path.read_text(encoding="utf-8"))
        return documents


def judged_by(goal: str, cell: str) -> str:
    """What to ask :func:`fingerprint` of a cell: its goal, or ``SCREENS``."""
    return SCREENS if goal == "G1" and "2^3" in cell else goal


def fingerprint(goal: str) -> str:
    """The judge that a goal is of today."""
    return _JUDGES.get(goal, _ENGINE)


def _read(document: dict[str, Any]) -> Result:
    stops = Counter({int(visits): count for visits, count in document["stops"].items()})
    return Result(**(document | {"counts": Counter(document["counts"]), "stops": stops}))


def _document(result: Result) -> dict[str, Any]:
    document = asdict(result)
    document["counts"] = dict(sorted(result.counts.items()))
    document["stops"] = {str(visits): count for visits, count in sorted(result.stops.items())}
    document["seconds"] = round(result.seconds, 1)
    return document
