"""The tables that a query can ask: their columns, and the rows of a run in each.

Rows are those of the records, so that nothing is in a table that is not in the folder of a run;
``verdicts`` alone are computed, or those of an earlier report of the same records.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from steelyard.records.archive import IMPORT, Run
from steelyard.records.files.checksums import held_against_the_plan
from steelyard.records.files.parquet import polars
from steelyard.records.schema import TrialRecord
from steelyard.report.kept import found

pl = polars("query")
Row = tuple[Any, ...]
_TIME = pl.Datetime("us", "UTC")
_NS_PER_S = 1e9
OF_RUN: Mapping[str, Any] = {"origin": pl.String, "study": pl.String, "run": pl.String}
"""What a row of every table begins with."""
_OF_TRIAL: Mapping[str, Any] = {
    **OF_RUN, "trial": pl.Int64, "attempt": pl.Int64, "visit": pl.Int64, "system": pl.String,
    "conditions": pl.String, "outcome": pl.String,
}  # fmt: skip


@dataclass(frozen=True)
class Table:
    """``columns`` are polars' types by name; ``rows`` are those of one run without its first
    three columns.
    """

    columns: Mapping[str, Any]
    rows: Callable[[Run], Iterator[Row]]


def _runs(run: Run) -> Iterator[Row]:
    facts, made = run.facts(), run.commitment()
    yield (
        facts.variant, _time(facts.created_unix_ns), facts.seed, facts.tool_version,
        facts.study_sha256, made and made.digest, (run.path / IMPORT).is_file(),
    )  # fmt: skip


def _visits(run: Run) -> Iterator[Row]:
    if run.is_import:
        return
    for visit in run.plan().every_visit:
        yield visit.visit, visit.block, visit.system, len(visit.trials)


def _trials(run: Run) -> Iterator[Row]:
    for record in _records(run):
        yield (
            *_trial(record), _time(record.started_unix_ns), _time(record.finished_unix_ns),
            (record.finished_unix_ns - record.started_unix_ns) / _NS_PER_S,
            record.failure and record.failure.message,
            json.dumps(list(dict.fromkeys(each.kind for each in record.warnings))),
            record.bottleneck and record.bottleneck.resource, record.cpu_ratio,
        )  # fmt: skip


def _responses(run: Run) -> Iterator[Row]:
    for record in _records(run):
        trial = _trial(record)
        for name, each in record.responses.items():
            yield (*trial, name, each.value, each.unit, each.missing and each.missing.kind)


def _facts(run: Run) -> Iterator[Row]:
    for record in _records(run):
        trial = _trial(record)
        for machine, facts in record.facts.items():
            yield from ((*trial, machine, name, value) for name, value in facts.items())


def _verdicts(run: Run) -> Iterator[Row]:
    for own in found(run).findings.workloads:
        for each in own.verdicts:
            conditions = None if each.conditions is None else _json(each.conditions)
            yield (
                own.name, each.response, each.baseline, each.other, conditions, each.word.value,
                each.margin_log, each.alpha, each.estimate_log, each.low_log, each.high_log,
                each.n_baseline, each.n_other,
            )  # fmt: skip


def _records(run: Run) -> Iterator[TrialRecord]:
    if run.is_import:
        return iter(())
    return held_against_the_plan(run.path, run.plan(), run.each_record())


def _trial(record: TrialRecord) -> Row:
    cell = record.cell
    return (
        record.trial, record.attempt, record.visit, cell.system, _json(cell.conditions),
        record.outcome.value,
    )  # fmt: skip


def _json(conditions: Mapping[str, Any]) -> str:
    return json.dumps(conditions, sort_keys=True, ensure_ascii=False)


def _time(unix_ns: int) -> datetime:
    return datetime.fromtimestamp(unix_ns / _NS_PER_S, tz=UTC)


TABLES: Mapping[str, Table] = {
    "runs": Table(
        {**OF_RUN, "variant": pl.String, "created": _TIME, "seed": pl.Int64,
         "tool_version": pl.String, "study_sha256": pl.String, "commitment": pl.String,
         "imported": pl.Boolean},
        _runs,
    ),
    "visits": Table(
        {**OF_RUN, "visit": pl.Int64, "block": pl.Int64, "system": pl.String,
         "trials": pl.Int64},
        _visits,
    ),
    "trials": Table(
        {**_OF_TRIAL, "started": _TIME, "finished": _TIME, "duration_s": pl.Float64,
         "failure": pl.String, "warnings": pl.String, "bottleneck": pl.String,
         "cpu_ratio": pl.Float64},
        _trials,
    ),
    "responses": Table(
        {**_OF_TRIAL, "response": pl.String, "value": pl.Float64, "unit": pl.String,
         "missing": pl.String},
        _responses,
    ),
    "facts": Table(
        {**_OF_TRIAL, "machine": pl.String, "fact": pl.String, "value": pl.String},
        _facts,
    ),
    "verdicts": Table(
        {**OF_RUN, "workload": pl.String, "response": pl.String, "baseline": pl.String,
         "other": pl.String, "conditions": pl.String, "word": pl.String,
         "margin_log": pl.Float64, "alpha": pl.Float64, "estimate_log": pl.Float64,
         "low_log": pl.Float64, "high_log": pl.Float64, "n_baseline": pl.Int64,
         "n_other": pl.Int64},
        _verdicts,
    ),
}  # fmt: skip
