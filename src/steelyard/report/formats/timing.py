"""A timing for other programs: JSON and CSV with hyperfine's names, Markdown, and rows to judge."""

from __future__ import annotations

import csv
import io
import json
import statistics
from collections.abc import Callable, Sequence
from typing import Any

from steelyard.judge.own_trials.verdicts import TrialsVerdict
from steelyard.records.results.timing import TimedVisit, Timing
from steelyard.report.formats.csv import without_formula
from steelyard.report.notes import json_text
from steelyard.report.tables.timing import timing_table
from steelyard.study.labels import Labels

_SUFFIX = {"s": "_s", "ns": "_ns", "B": "_bytes"}
Export = Callable[[Timing, TrialsVerdict | None], str]


def json_export(timing: Timing, found: TrialsVerdict | None) -> str:
    """``results`` as hyperfine writes them, and ``verdict`` as ``judge --json`` does.

    Without one, ``not_judged`` says why.
    """
    document = {
        "results": [_result(name, timing) for name in timing.subjects],
        "baseline": timing.baseline,
        "response": timing.primary,
        "seed": timing.seed,
        "shell_s": timing.shell_s,
        "verdict": None if found is None else json.loads(json_text(found, Labels())),
        "not_judged": timing.not_judged,
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def csv_export(timing: Timing, found: TrialsVerdict | None) -> str:
    """A row for each subject, the columns of hyperfine first."""
    verdicts = {} if found is None else {each.other: each for each in found.verdicts}
    rows = []
    for name in timing.subjects:
        result = _result(name, timing)
        verdict = verdicts.get(name)
        kept = {key: value for key, value in result.items() if not isinstance(value, list | dict)}
        what = "failed_operations" if "failures" in result else "failed_executions"
        kept[what] = timing.failures(name).total()
        kept["verdict"] = verdict.word.value if verdict else None
        for end in ("estimate_log", "low_log", "high_log"):
            kept[end] = getattr(verdict, end) if verdict else None
        rows.append(kept)
    return _csv(rows)


def markdown_export(timing: Timing, found: TrialsVerdict | None) -> str:
    """The table that the terminal shows."""
    table = timing_table(timing, found)
    rule = ["---:" if i in table.numeric else ":---" for i in range(len(table.head))]
    lines = [table.head, rule, *([_code(row[0]), *row[1:]] for row in table.rows)]
    return "".join(f"| {' | '.join(_cell(text) for text in line)} |\n" for line in lines)


def trials_export(timing: Timing, found: TrialsVerdict | None) -> str:  # noqa: ARG001 - one type
    """A row for each visit, as ``steelyard judge`` reads it."""
    columns = {f"{each.name}{_SUFFIX.get(each.unit, '')}": each.name for each in timing.responses}
    several = len(timing.subjects) > 2
    rows = [
        {"order": number, "system": visit.subject}
        | ({"block": (number - 1) // len(timing.subjects) + 1} if several else {})
        | {column: visit.values.get(name) for column, name in columns.items()}
        for number, visit in enumerate(timing.visits, start=1)
    ]
    return _csv(rows)


EXPORTS: dict[str, Export] = {
    "json": json_export,
    "csv": csv_export,
    "md": markdown_export,
    "trials": trials_export,
}


def _result(subject: str, timing: Timing) -> dict[str, Any]:
    """Over all executions of a command, or all visits of a server."""
    visits = timing.of(subject)
    found: dict[str, Any] = {"command": timing.subjects[subject], "name": subject}
    if not any(visit.executions for visit in visits):
        for response in timing.responses:
            values = [v.values[response.name] for v in visits if response.name in v.values]
            name = f"{response.name}{_SUFFIX.get(response.unit, '')}"
            found |= {f"{name}_{key}": value for key, value in _summary(values).items()}
        return found | _of_windows(subject, timing)
    return found | _of_executions(visits)


def _of_windows(name: str, timing: Timing) -> dict[str, Any]:
    visits = timing.of(name)
    return {
        "empty_windows": sum(visit.empty_windows for visit in visits),
        "operations": sum(visit.operations for visit in visits),
        "failures": dict(timing.failures(name)),
        "failed_connections": sum(visit.failed_connections for visit in visits),
    }


def _of_executions(visits: Sequence[TimedVisit]) -> dict[str, Any]:
    done = [each for visit in visits for each in visit.executions]
    times = [each.wall_s for each in done]
    return {
        **_summary(times),
        "user": statistics.fmean(each.user_s for each in done),
        "system": statistics.fmean(each.system_s for each in done),
        "min": min(times),
        "max": max(times),
        "times": times,
        "memory_usage_byte": [each.rss_bytes for each in done],
        "exit_codes": [each.exit_code for each in done],
        "visit_of": [number for number, v in enumerate(visits, start=1) for _ in v.executions],
    }


def _summary(values: Sequence[float]) -> dict[str, float | None]:
    return {
        "mean": statistics.fmean(values) if values else None,
        "stddev": statistics.stdev(values) if len(values) > 1 else None,
        "median": statistics.median(values) if values else None,
    }


def _csv(rows: Sequence[dict[str, Any]]) -> str:
    out = io.StringIO()
    columns = list(dict.fromkeys(key for row in rows for key in row))
    writer = csv.DictWriter(out, columns, lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow({key: without_formula(value) for key, value in row.items()})
    return out.getvalue()


def _code(text: str) -> str:
    return f"`{text}`" if text else ""


def _cell(text: str) -> str:
    return text.replace("|", r"\|")
