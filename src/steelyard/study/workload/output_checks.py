"""What is wrong in what a workload file says of the tool's output. Pure."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

from steelyard.study.declared.json_path import is_path
from steelyard.study.file.complaints import Mistake, choice_hint
from steelyard.study.file.source import Where
from steelyard.study.workload.entry import Workload
from steelyard.study.workload.metric import Look, Metric, Scale, Table
from steelyard.study.workload.placeholders import looks_of
from steelyard.study.workload.units import unit_mistake

STREAMS = ("stdout", "stderr")
VALUE, UNIT = "value", "unit"


def output_mistakes(entry: Workload) -> Iterator[Mistake]:
    """Sources, paths, patterns, tables and scales that cannot be."""
    for name in entry.writes:
        if name in STREAMS or name in entry.settings or name in entry.placeholders:
            hint = "give the file a name of its own, as `report`"
            yield Mistake(("writes", name), f"`{name}` means something else already", hint)
    for name, table in entry.tables.items():
        yield from _table(("tables", name), table, entry)
    for where, look in looks_of(entry):
        yield from _look(where, look, entry)
    for name, factors in entry.scales.items():
        yield from _factors(("scales", name), factors)
    for name, metric in entry.metrics.items():
        yield from _unit(("metrics", name, "unit"), metric)
        yield from _scale(("metrics", name), metric, entry)


def _look(where: Where, look: Look, entry: Workload) -> Iterator[Mistake]:
    ways = [key for key in ("json_paths", "pattern", "table") if getattr(look, key)]
    if len(ways) != 1:
        hint = "write `json: PATH`, `pattern: '...'` or `table: NAME`, exactly one of them"
        what = "nothing says" if not ways else "several keys say"
        yield Mistake(where, f"{what} where it stands", hint)
        return
    yield from _source(where, look.source, entry)
    if look.pattern is not None:
        yield from _pattern(where, look.pattern, presence=where[0] == "refuses")
    for path in look.json_paths:
        if not is_path(path):
            hint = "keys with dots between, as `jobs.0.read.iops`; quote a key that holds dots"
            yield Mistake((*where, "json"), f"`{path}` is no path", hint)
    if look.table is None:
        for key in ("row", "column"):
            if getattr(look, key) is not None:
                yield Mistake((*where, key), f"`{key}` is of a table", "add `table: NAME`")
    else:
        yield from _in_table(where, look, entry)


def _source(where: Where, source: str, entry: Workload) -> Iterator[Mistake]:
    if source not in (*STREAMS, *entry.writes):
        hint = choice_hint(source, (*STREAMS, *entry.writes), "sources")
        yield Mistake((*where, "from"), f"there is no output `{source}`", hint)


def _pattern(where: Where, pattern: str, *, presence: bool) -> Iterator[Mistake]:
    at = (*where, "pattern")
    try:
        compiled = re.compile(pattern, re.MULTILINE)
    except re.error as error:
        hint = "see the syntax of Python's `re`"
        yield Mistake(at, f"no regular expression: {error}", hint)
        return
    if VALUE not in compiled.groupindex and compiled.groups != 1 and not presence:
        hint = "put brackets around it, or name it: `(?P<value>[0-9.]+)`"
        message = f"{compiled.groups} groups, and none is called `value`"
        yield Mistake(at, message, hint)


def _table(where: Where, table: Table, entry: Workload) -> Iterator[Mistake]:
    yield from _source(where, table.source, entry)
    if table.header is not None:
        try:
            re.compile(table.header)
        except re.error as error:
            hint = "see the syntax of Python's `re`"
            yield Mistake((*where, "header"), f"no regular expression: {error}", hint)
    if len(set(table.columns)) < len(table.columns):
        hint = "give each column a name of its own"
        yield Mistake((*where, "columns"), "two columns have one name", hint)


def _in_table(where: Where, look: Look, entry: Workload) -> Iterator[Mistake]:
    table = entry.tables.get(look.table or "")
    if table is None:
        hint = choice_hint(look.table or "", entry.tables, "tables")
        yield Mistake((*where, "table"), f"there is no table `{look.table}`", hint)
        return
    if look.source != "stdout":
        hint = "write `from` of the table"
        yield Mistake((*where, "from"), "the table says where it stands", hint)
    wanted = {"column": look.column} | (
        {f"row.{name}": name for name in look.row} if isinstance(look.row, dict) else {}
    )
    for key, column in wanted.items():
        if column not in table.columns:
            hint = choice_hint(str(column), table.columns, "columns")
            message = "no column is named" if column is None else f"there is no column `{column}`"
            yield Mistake((*where, *key.split(".", 1)), message, hint)


def _unit(where: Where, metric: Metric) -> Iterator[Mistake]:
    scale = metric.scale if isinstance(metric.scale, float) and _is_factor(metric.scale) else None
    wrong = None if metric.unit is None else unit_mistake(metric.unit, scale)
    if wrong is not None:
        yield Mistake(where, *wrong)


def _is_factor(number: float) -> bool:
    return math.isfinite(number) and number > 0


def _factors(where: Where, factors: Scale) -> Iterator[Mistake]:
    """Factors that would make every value nothing, or turn good into bad."""
    if isinstance(factors, str):
        return
    named = factors.items() if isinstance(factors, dict) else [("", factors)]
    for unit, factor in named:
        if not _is_factor(factor):
            hint = "write what one of the printed unit is in the stored one, as `1000000`"
            at: Where = (*where, unit) if unit else where
            yield Mistake(at, f"`{factor:.12g}` multiplies nothing: a scale is above 0", hint)


def _scale(where: Where, metric: Metric, entry: Workload) -> Iterator[Mistake]:
    at = (*where, "scale")
    if isinstance(metric.scale, str) and metric.scale not in entry.scales:
        hint = choice_hint(metric.scale, entry.scales, "scales")
        yield Mistake(at, f"there is no scale `{metric.scale}`", hint)
        return
    yield from _factors(at, metric.scale)
    units = entry.scale_of(metric)
    has_unit = metric.pattern is not None and f"(?P<{UNIT}>" in metric.pattern
    if isinstance(units, dict) and not has_unit:
        hint = "name the printed unit in the pattern: `(?P<unit>us|ms)`; or write one number"
        yield Mistake(at, "nothing says which unit is printed", hint)
    elif has_unit and not isinstance(units, dict):
        hint = "write `scale: {us: 1000, ms: 1000000}`: the unit of the response in each"
        yield Mistake((*where, "pattern"), "nothing says what the printed unit means", hint)
