"""A run in the forms of programs that keep a history: Bencher, benchstat, github-action-benchmark.

They have a place for medians and for single values, and none for a verdict. What such a program
compares later are figures of different runs, which nothing has randomised against each other.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Literal, NamedTuple

from steelyard.judge.findings import RunFindings
from steelyard.report.view import View, views
from steelyard.report.vocabulary import response_of
from steelyard.study.model import Level

_NS_OF = {"ns": 1.0, "us": 1e3, "ms": 1e6, "s": 1e9}

_Better = Literal["lower", "higher"]
BETTER: dict[str, _Better] = {"smaller": "lower", "bigger": "higher"}
"""Directions by the words of github-action-benchmark."""


class _Row(NamedTuple):
    """A response of a cell that has values, or the largest load that keeps the targets of a search.

    ``place`` names workload, system and conditions. ``values`` are left out where some searches
    found none within what they try: the others alone would be too low, or too high.
    """

    place: dict[str, str]
    response: str
    unit: str
    direction: str | None
    median: float
    low: float | None
    high: float | None
    values: tuple[float, ...]

    @property
    def name(self) -> str:
        return "/".join(f"{key}={value}" for key, value in self.place.items())


def bmf_text(run: RunFindings) -> str:
    """Bencher Metric Format: for each cell its responses, as median and interval."""
    found: dict[str, dict[str, dict[str, float]]] = {}
    for row in _rows(run):
        ends = {"lower_value": row.low, "upper_value": row.high}
        known = {key: value for key, value in ends.items() if value is not None}
        measure = "-".join(filter(None, (row.response, _word(row.unit))))
        found.setdefault(row.name, {})[measure] = {"value": row.median, **known}
    return json.dumps(found, indent=2) + "\n"


def benchfmt_text(run: RunFindings) -> str:
    """The format of Go's benchmarks, which benchstat reads: a line for each trial.

    Times are in nanoseconds, as benchstat expects them; the number of iterations is always 1.
    """
    lines = [f"study: {_one_line(run.study)}", f"run: {_one_line(run.run)}", ""]
    for row in _rows(run):
        place = "/".join(f"{_word(key)}={_word(value)}" for key, value in row.place.items())
        factor = _NS_OF.get(row.unit)
        unit = "ns" if factor is not None else _word(row.unit) or "count"
        measure = f"{_word(row.response)}-{unit}"
        lines += [
            f"BenchmarkTrial/{place} 1 {value * (factor or 1.0)!r} {measure}"
            for value in row.values
        ]
    return "\n".join(lines) + "\n"


def action_text(run: RunFindings, better: _Better) -> str:
    """What github-action-benchmark reads as ``customSmallerIsBetter`` or ``customBiggerIsBetter``.

    Only the responses of that direction.
    """
    rows: list[dict[str, Any]] = [
        {"name": f"{row.name} {row.response}", "unit": row.unit, "value": row.median} | _range(row)
        for row in _rows(run)
        if row.direction == better
    ]
    return json.dumps(rows, indent=2) + "\n"


def _range(row: _Row) -> dict[str, str]:
    if row.low is None or row.high is None:
        return {}
    return {"range": f"{row.low:.6g}..{row.high:.6g}"}


def _rows(run: RunFindings) -> Iterator[_Row]:
    for view in views(run):
        for cell in view.own.cells:
            if cell.median is not None:
                response = response_of(view, cell.response)
                yield _Row(
                    _place(view, cell.cell.system, cell.cell.conditions),
                    response.name, response.unit, response.direction,
                    cell.median, cell.low, cell.high, cell.values,
                )  # fmt: skip
        for each in view.own.capacities:
            if each.median is not None:
                all_found = each.searches in {None, len(each.values)}
                yield _Row(
                    _place(view, each.system, each.conditions),
                    each.name, each.unit, "higher",
                    each.median, each.low, each.high, each.values if all_found else (),
                )  # fmt: skip


def _place(view: View, system: str, conditions: Mapping[str, Level]) -> dict[str, str]:
    workload = {"workload": view.own.name} if len(view.run.workloads) > 1 else {}
    levels = {factor: view.run.labels.level(of, factor) for factor, of in conditions.items()}
    return {**workload, "system": system, **levels}


def _word(text: str) -> str:
    """Without what separates fields and parts of a name."""
    return re.sub(r"[^\w.+%-]+", "_", text).strip("_")


def _one_line(text: str) -> str:
    return " ".join(text.split())
