"""A timing as a table: a row for each subject, its medians, and its change against the first."""

from __future__ import annotations

from steelyard.inference.sequential import VerdictWord
from steelyard.judge.findings import VerdictFinding
from steelyard.judge.own_trials.verdicts import TrialsVerdict
from steelyard.records.results.timing import Quantity, Timing
from steelyard.report.effects import interval, signed_effect
from steelyard.report.figures import percent, quantity, scale_for
from steelyard.report.sentences.verdict import ends_of, excludes_zero, interval_level
from steelyard.report.view import NONE, Table
from steelyard.report.vocabulary import verdict_word


def timing_table(timing: Timing, found: TrialsVerdict | None) -> Table:
    """Medians over the visits; the change is that of the response that is judged."""
    shown = [each for each in timing.responses if _is_measured(timing, each)]
    columns = {each.label: _column(timing, each) for each in shown} | _failed(timing)
    head = ("", *columns, f"{timing.response.label} vs. first", "")
    rows = tuple(
        (name, *(column[name] for column in columns.values()), *_change(name, timing, found))
        for name in timing.subjects
    )
    return Table("Medians over visits", head, rows, frozenset(range(1, len(columns) + 1)))


def lines_of(table: Table) -> list[str]:
    """The table for a terminal."""
    grid = [table.head, *table.rows]
    widths = [max(len(row[i]) for row in grid) for i in range(len(table.head))]
    return ["  ".join(_aligned(row, widths, table)).rstrip() for row in grid]


def _aligned(row: tuple[str, ...], widths: list[int], table: Table) -> list[str]:
    return [
        text.rjust(width) if column in table.numeric else text.ljust(width)
        for column, (text, width) in enumerate(zip(row, widths, strict=True))
    ]


def _is_measured(timing: Timing, response: Quantity) -> bool:
    return any(timing.median(name, response.name) is not None for name in timing.subjects)


def _failed(timing: Timing) -> dict[str, dict[str, str]]:
    """A column of what failed, where anything did."""
    failed = {name: timing.failures(name).total() for name in timing.subjects}
    if not any(failed.values()):
        return {}
    column = {name: f"{n:,} of {timing.attempted(name):,}" for name, n in failed.items()}
    return {"failed": column}


def _column(timing: Timing, response: Quantity) -> dict[str, str]:
    """All medians of one response in one scale."""
    medians = {name: timing.median(name, response.name) for name in timing.subjects}
    known = [value for value in medians.values() if value is not None]
    scale = scale_for(known, response.unit)
    return {
        name: NONE if value is None else quantity(value, response.unit, scale)
        for name, value in medians.items()
    }


def _change(name: str, timing: Timing, found: TrialsVerdict | None) -> tuple[str, str]:
    if name == timing.baseline:
        return NONE, "baseline"
    verdict = None if found is None else found.of(name)
    if found is None or verdict is None or verdict.estimate_log is None:
        return NONE, "not judged"
    return _size(verdict), verdict_word(verdict, found.response)


def _size(verdict: VerdictFinding) -> str:
    if verdict.estimate_log is None:
        return NONE
    ends = ends_of(verdict)
    level = percent(interval_level(verdict))
    within = interval(
        *ends,
        estimate_log=verdict.estimate_log,
        direction=None,
        excludes_zero=excludes_zero(verdict.word),
    )
    return f"{signed_effect(verdict.estimate_log, beside=ends)} ({level}: {within})"


def is_decided(found: TrialsVerdict | None) -> bool:
    """Whether no comparison is open."""
    return found is not None and all(
        verdict.word is not VerdictWord.UNDECIDED for verdict in found.verdicts
    )
