"""The list of runs: which are wanted, in which order, as a table or as JSON."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import typer

from steelyard.cli.console import say, shown, tell, warn
from steelyard.cli.runs import queue_states
from steelyard.errors import ExitCode, RecordError
from steelyard.imports.record import ImportRecord
from steelyard.queue.submitting import Queued
from steelyard.records.archive import IMPORT, Run
from steelyard.records.deletion import bytes_on_disk
from steelyard.records.files.documents import parsed
from steelyard.report.figures import counted
from steelyard.units import UnitError, format_bytes, parse
from steelyard.web.index import Index, ListedRun, Skipped
from steelyard.web.reading import MOST_FILE_BYTES, read_bounded, results_folder
from steelyard.web.rows import row_of, words_of

_NONE = "-"
_HEAD = ("study", "begun (UTC)", "state", "trials", "verdict", "size", "run")
_QUEUE = "queue"
"""A column where any run was submitted."""
_RIGHT = {"trials", "size"}


@dataclass(frozen=True)
class Row:
    """One run of the list. ``trials`` have at least one recorded attempt."""

    run: ListedRun
    trials: int
    size_bytes: int
    queued: Queued | None = None

    @property
    def verdict(self) -> str:
        """The words of its comparisons."""
        return ", ".join(words_of(word) for word in self.run.state.words) or _NONE

    def document(self) -> dict[str, Any]:
        """As JSON has it: what the list of ``serve`` has, and what only this one has."""
        own = {"trials": self.trials, "words": self.run.state.words, "size_bytes": self.size_bytes}
        there = self.queued
        queue = None if there is None else queue_states.document_of(Run(self.run.path), there)
        return {**row_of(self.run), **own, "path": str(self.run.path), _QUEUE: queue}


_KEYS: dict[str, Callable[[Row], tuple[object, ...]]] = {
    "time": lambda row: (-row.run.facts.created_unix_ns,),
    "study": lambda row: (row.run.facts.study, -row.run.facts.created_unix_ns),
    "state": lambda row: (row.run.status, -row.run.facts.created_unix_ns),
    "trials": lambda row: (-row.trials,),
    "verdict": lambda row: (row.verdict, -row.run.facts.created_unix_ns),
    "size": lambda row: (-row.size_bytes,),
}


@dataclass(frozen=True)
class Wanted:
    """Which runs; what is empty or ``None`` asks for all. Times are in seconds before now."""

    studies: frozenset[str]
    states: frozenset[str]
    words: frozenset[str]
    older_s: float | None
    newer_s: float | None

    @classmethod
    def of(
        cls,
        studies: Sequence[str] | None,
        states: Sequence[str] | None,
        words: Sequence[str] | None,
        *,
        older: str | None,
        newer: str | None,
    ) -> Wanted:
        """From what was typed.

        Raises:
            typer.BadParameter: an age is no duration.
        """
        return cls(
            frozenset(studies or ()),
            frozenset(states or ()),
            frozenset(words or ()),
            _age_s(older, "--older"),
            _age_s(newer, "--newer"),
        )

    def has(self, run: ListedRun, now_s: float, queued: Queued | None = None) -> bool:
        """Whether a run is among them; its state is that of its ledger, or of its job."""
        states = {run.status} if queued is None else {run.status, queued.state}
        age_s = now_s - run.facts.created_unix_ns / 1e9
        return (
            (not self.studies or run.facts.study in self.studies)
            and (not self.states or bool(self.states & states))
            and (not self.words or bool(self.words & set(run.state.words)))
            and (self.older_s is None or age_s > self.older_s)
            and (self.newer_s is None or age_s <= self.newer_s)
        )


def print_runs(
    results: Path, wanted: Wanted, sort: str, *, reverse: bool, as_json: bool
) -> ExitCode:
    """Prints the list; what is no run that can be read is named on standard error, and skipped.

    Raises:
        RecordError: ``results`` is no folder of results.
    """
    listing = Index(results_folder(results)).listing()
    now_s = time.time()
    queued = queue_states.queue_states([Run(run.path) for run in listing.runs.values()])
    rows, skipped = [], [*listing.skipped]
    for run in listing.runs.values():
        own = queued.get(str(run.path))
        if wanted.has(run, now_s, own):
            try:
                rows.append(_row(run, own))
            except RecordError as error:
                skipped.append(Skipped(run.key, error.message))
    rows.sort(key=_KEYS[sort], reverse=reverse)
    if as_json:
        document = {
            "runs": [row.document() for row in rows],
            "skipped": [vars(each) for each in skipped],
        }
        say(json.dumps(document, indent=1))
        return ExitCode.DONE
    for line in _table(rows):
        say(line)
    size = format_bytes(sum(row.size_bytes for row in rows))
    tell(f"{counted(len(rows), 'run')} of {len(listing.runs)} in {shown(results)}, {size}")
    _tell_skipped(skipped)
    return ExitCode.DONE


def _row(run: ListedRun, queued: Queued | None) -> Row:
    return Row(run, _trials(Run(run.path)), bytes_on_disk([run.path]), queued)


def _trials(run: Run) -> int:
    if run.is_import:
        path = run.path / IMPORT
        data = read_bounded(path, MOST_FILE_BYTES)
        return len(parsed(data, path, ImportRecord, lambda document: document).trials)
    attempts = [part.attempt_keys() for part in run.parts()]
    return sum(len({key.partition("-")[0] for key in keys}) for keys in attempts)


def _table(rows: Sequence[Row]) -> list[str]:
    if not rows:
        return []
    head: tuple[str, ...] = _HEAD
    cells = [_cells(row) for row in rows]
    if any(row.queued for row in rows):
        head = (*_HEAD, _QUEUE)
        states = [queue_states.words_of(row.queued) if row.queued else _NONE for row in rows]
        cells = [(*own, state) for own, state in zip(cells, states, strict=True)]
    cells = [head, *cells]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return [
        "  ".join(
            text.rjust(width) if name in _RIGHT else text.ljust(width)
            for name, text, width in zip(head, line, widths, strict=True)
        ).rstrip()
        for line in cells
    ]


def _cells(row: Row) -> tuple[str, ...]:
    facts = row.run.facts
    begun = datetime.fromtimestamp(facts.created_unix_ns / 1e9, tz=UTC)
    study = f"{facts.study} ({facts.variant})" if facts.variant else facts.study
    return (
        study,
        f"{begun:%Y-%m-%d %H:%M}",
        words_of(row.run.status),
        str(row.trials),
        row.verdict,
        format_bytes(row.size_bytes),
        row.run.key,
    )


def _tell_skipped(skipped: Sequence[Skipped]) -> None:
    for each in skipped:
        warn(f"skipped: {each.place}: {each.why}")


def _age_s(text: str | None, option: str) -> float | None:
    if text is None:
        return None
    try:
        return float(parse(text, "duration"))
    except UnitError as error:
        raise typer.BadParameter(f"{error.message}; {error.hint}", param_hint=option) from error
