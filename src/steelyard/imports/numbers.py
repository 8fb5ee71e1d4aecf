"""From one part of a file to the numbers of its trials. Pure."""

from __future__ import annotations

import json
import math
import re
from statistics import median
from typing import NamedTuple

from steelyard.imports.documents import Row
from steelyard.imports.kind import ImportedMetric, Kind
from steelyard.imports.metrics import scaled, taken
from steelyard.imports.output import Found, NotThereError, Printed
from steelyard.records.missing import Missing, Reason, TooFewPrinted
from steelyard.study.declared.conditions import holds
from steelyard.study.declared.json_path import as_text, values_at
from steelyard.study.workload.metric import Look, Scale

Values = dict[str, float]
_COLUMNS = 4
_SHOWN = 40
"""Letters of what is no list of numbers: it may be a whole damaged file."""


class Numbers(NamedTuple):
    """Those of the trials of a row, and why each of the others is missing there."""

    trials: list[Values]
    missing: dict[str, Missing]


def trials_of(kind: Kind, part: Printed, whole: Printed) -> Numbers:
    """The numbers of a row of a file: of one trial, or of as many as there are numbers."""
    settings = {name: _setting(look, part, whole) for name, look in kind.settings.items()}
    columns: dict[str, list[float]] = {}
    missing: dict[str, Missing] = {}
    for name, metric in kind.metrics.items():
        if not holds(metric.when, settings):
            continue
        try:
            numbers = _numbers(kind, metric, part)
        except NotThereError as error:
            if name not in kind.optional or _is_misread(error.text):
                raise error.at(name) from error
            numbers = Reason(kind="not_printed")
        if isinstance(numbers, list):
            columns[name] = [_finite(value, name) for value in numbers]
        else:
            missing[name] = numbers
    if not columns:
        raise NotThereError(f"it holds none of the numbers that are read{_columns(part)}")
    lengths = {len(values) for values in columns.values()}
    if len(lengths) != 1:
        raise NotThereError("its numbers are not of the same trials")
    count = lengths.pop()
    trials = [{name: values[i] for name, values in columns.items()} for i in range(count)]
    return Numbers(trials, missing)


def _is_misread(text: str | None) -> bool:
    """Whether a number stands there that cannot be read, as with a decimal comma; ``-`` is none."""
    return re.search(r"[0-9]", text or "") is not None


def _columns(part: Printed) -> str:
    """What stands there instead, as names of columns in another language."""
    held = next(iter(part.documents.values()), None)
    first = held[0] if isinstance(held, list) and held else held
    if not isinstance(first, Row):
        return ""
    names = [str(name)[:_SHOWN] for name in first]
    more = ", ..." if len(names) > _COLUMNS else ""
    return f"; its columns: {', '.join(names[:_COLUMNS])}{more}"


def _setting(look: Look, part: Printed, whole: Printed) -> str:
    """What the row says, or else the file."""
    try:
        found = part.found(look)
    except NotThereError:
        found = whole.found(look)
    return found[0].text.lower()


def _numbers(kind: Kind, metric: ImportedMetric, part: Printed) -> list[float] | Missing:
    """One for each trial, or why there are none."""
    if metric.needs is not None:
        count = taken(part.found(metric.needs), metric.needs, 1.0)
        if count < metric.needs.at_least:
            return TooFewPrinted(needed=metric.needs.at_least, of=metric.needs.of)
    try:
        found = part.found(metric)
    except NotThereError:
        if metric.absent is None:
            raise
        return [metric.absent]
    if metric.separator is not None:
        found = [Found(text) for one in found for text in one.text.split(metric.separator)]
    if metric.unit_at is not None:
        unit = _unit_at(part.documents[metric.source], metric.unit_at)
        found = [Found(one.text, unit) for one in found]
    scale = kind.scales[metric.scale] if isinstance(metric.scale, str) else metric.scale
    values = (
        [_of_trial(one, metric, scale) for one in found]
        if kind.each
        else [taken(found, metric, scale)]
    )
    if metric.complement:
        values = [1 - value for value in values]
    if metric.per is None:
        return values
    divisor = taken(part.found(metric.per), metric.per, 1.0)
    return [value / divisor for value in values] if divisor else Reason(kind="divisor_zero")


def _of_trial(found: Found, metric: ImportedMetric, scale: Scale) -> float:
    """Of a list of numbers, such as those of one process, what the metric takes."""
    if not found.text.startswith("["):
        return scaled(found, scale)
    try:
        inner: list[object] = json.loads(found.text)
    except (ValueError, RecursionError) as error:
        raise NotThereError(f"`{found.text[:_SHOWN]}` is no list of numbers") from error
    return taken([Found(as_text(value), found.unit) for value in inner], metric, scale)


def _finite(value: float, name: str) -> float:
    if not math.isfinite(value):
        lost = "a number that a double can hold belongs there: was a digit or a unit lost?"
        raise NotThereError(f"{name} is not finite", remedy=lost)
    return value


def together(trials: list[Values]) -> Values:
    """Repetitions within one process are one trial: the median of each number."""
    shared = [name for name in trials[0] if all(name in trial for trial in trials)]
    return {name: median(trial[name] for trial in trials) for name in shared}


def _unit_at(item: object, path: str) -> str:
    try:
        values = values_at(item, path)
    except LookupError as error:
        raise NotThereError(f"nothing at `{path}`: there is no `{error}`") from error
    return as_text(values[0]) if values else ""
