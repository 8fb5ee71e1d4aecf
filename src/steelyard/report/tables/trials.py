"""Every trial with what it measured, and what speaks against it as short tags."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from steelyard.judge.findings import AttemptFinding, ResponseFinding
from steelyard.records.attempt_folder import attempt_key
from steelyard.report.figures import Scale, scale_for, significant
from steelyard.report.notes.warnings import kind_text, warning_text
from steelyard.report.view import NONE, View
from steelyard.report.vocabulary import compared_one
from steelyard.units import format_duration

MOST_ROWS = 1000
OK = "ok"


@dataclass(frozen=True)
class Tag:
    """A reason to distrust a trial: a word or two, and the whole sentence."""

    word: str
    sentence: str


@dataclass(frozen=True)
class TrialRow:
    """``values`` has each response as text and unrounded, in the unit of its head, or ``None``."""

    key: str
    visit: int
    system: str
    condition: str
    outcome: str
    values: tuple[tuple[str, float | None], ...]
    took: str
    took_s: float
    tags: tuple[Tag, ...]


@dataclass(frozen=True)
class TrialTable:
    """``left_out``: attempts beyond those that a page can hold."""

    head: tuple[str, ...]
    rows: tuple[TrialRow, ...]
    left_out: int


def trial_table(view: View) -> TrialTable:
    """Every attempt at a trial of a workload, the primary response first."""
    responses = sorted(view.own.responses, key=lambda response: not response.primary)
    columns = [column for each in responses if (column := _column(view, each)) is not None]
    attempts = _worst(view.attempts)
    return TrialTable(
        head=("Trial", "Visit", compared_one(view.run), "Condition", "Outcome",
              *(column.head for column in columns), "Wall time", "Warnings"),
        rows=tuple(_row(view, attempt, columns) for attempt in attempts),
        left_out=len(view.attempts) - len(attempts),
    )  # fmt: skip


def _worst(attempts: Sequence[AttemptFinding]) -> list[AttemptFinding]:
    """All; of very many those that failed, then those with most warnings, in the order measured."""
    ranked = sorted(attempts, key=lambda each: (each.outcome == OK, -len(each.warnings)))
    return sorted(ranked[:MOST_ROWS], key=lambda each: (each.trial, each.attempt))


@dataclass(frozen=True)
class _Column:
    head: str
    scale: Scale
    by_trial: dict[int, float]


def _column(view: View, response: ResponseFinding) -> _Column | None:
    """``None`` of a response that no trial has."""
    values = {
        trial: value
        for cell in view.own.cells
        if cell.response == response.name
        for trial, value in zip(cell.trials, cell.values, strict=True)
    }
    if not values:
        return None
    scale = scale_for(values.values(), response.unit)
    unit = f", {scale.unit}" if scale.unit else ""
    return _Column(f"{response.label}{unit}", scale, values)


def _row(view: View, attempt: AttemptFinding, columns: list[_Column]) -> TrialRow:
    good = attempt.outcome == OK
    return TrialRow(
        key=attempt_key(attempt.trial, attempt.attempt),
        visit=attempt.visit,
        system=attempt.cell.system,
        condition=view.run.labels.conditions(attempt.cell.conditions) or NONE,
        outcome=attempt.outcome.replace("_", " "),
        values=tuple(_value(each, attempt.trial if good else None) for each in columns),
        took=format_duration(attempt.wall_s),
        took_s=attempt.wall_s,
        tags=_tags(attempt),
    )


def _value(column: _Column, trial: int | None) -> tuple[str, float | None]:
    value = None if trial is None else column.by_trial.get(trial)
    return (NONE, None) if value is None else _shown(value / column.scale.divisor)


def _shown(value: float) -> tuple[str, float]:
    return significant(value), value


def _tags(attempt: AttemptFinding) -> tuple[Tag, ...]:
    """One for each kind of warning, with all sentences of the kind."""
    sentences: dict[str, list[str]] = {}
    for warning in attempt.warnings:
        sentences.setdefault(kind_text(warning.kind), []).append(warning_text(warning))
    return tuple(Tag(word, "; ".join(said)) for word, said in sentences.items())
