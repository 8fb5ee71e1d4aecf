"""From what a tool printed to the responses of a trial. Pure.

A metric is a number, or missing with a reason; never 0 because nothing was there. What the file
says must be in the output and is not makes the whole output one that cannot be parsed.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from statistics import fmean, median

from steelyard.imports.output import Found, NotThereError, Printed
from steelyard.records.missing import (
    MissingKind,
    NotMeasuredWith,
    Quoted,
    Reading,
    Reason,
    TooFewPrinted,
)
from steelyard.records.schema import Measured
from steelyard.study.declared.conditions import holds
from steelyard.study.declared.placeholders import Value, fill
from steelyard.study.declared.responses import Response
from steelyard.study.declared.setting import Settings
from steelyard.study.workload.entry import Workload, response_of
from steelyard.study.workload.metric import Look, Metric, Refusal, Scale, Take

_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?", re.ASCII)
_WITH_COMMA = re.compile(r"[+-]?[0-9]+(?:,[0-9]+)+", re.ASCII)
_COMMA = (
    "a plain number such as 1234.5 belongs there: a comma is no decimal point, and parts no "
    "thousands; make the file in a locale of English, or replace them"
)
_NO_NUMBER = (
    "a plain number such as 1234.5 belongs there, without unit or separators of thousands; a trial "
    "that gave none is to be repeated"
)
_TAKE: dict[Take, Callable[[Sequence[float]], float]] = {
    "first": lambda values: values[0],
    "last": lambda values: values[-1],
    "sum": math.fsum,
    "mean": fmean,
    "median": median,
    "largest": max,
    "least": min,
    "p90": lambda values: nearest_rank(values, 90),
    "p95": lambda values: nearest_rank(values, 95),
    "p99": lambda values: nearest_rank(values, 99),
    "span": lambda values: max(values) - min(values),
}


class OutputError(Exception):
    """The output is not what the file says; ``missing`` are the metrics, each with the reason."""

    def __init__(self, missing: Mapping[str, str]) -> None:
        super().__init__("; ".join(f"`{name}`: {why}" for name, why in missing.items()))
        self.missing = dict(missing)


def read_metrics(
    entry: Workload,
    settings: Settings,
    values: Mapping[str, Value],
    texts: Mapping[str, str],
    standard: Mapping[str, Response],
    *,
    unread: Mapping[str, str | None] | None = None,
) -> dict[str, Measured]:
    """Every metric of a workload, from the ``texts`` that its tool wrote, by source.

    ``values`` fill the placeholders of the file, ``standard`` says what standard responses are,
    ``unread`` why some of the texts cannot be used.

    Raises:
        OutputError: the output cannot be parsed; nothing of it is to be used.
    """
    printed = Printed(texts, entry.tables, lambda text: fill(text, values), unread or {})
    units = {
        name: response_of(metric, standard.get(name)) for name, metric in entry.metrics.items()
    }
    measured, reasons = {}, dict[str, str]()
    try:
        because = refused_reason(entry.refuses, printed)
        refused = None if because is None else Quoted(kind="tool_reported", said=because)
    except NotThereError as error:
        refused, reasons["refuses"] = None, str(error)
    for name, metric in entry.metrics.items():
        unit = units[name].unit.replace("{operation}", entry.operation)
        try:
            read: Reading = refused or _metric(metric, entry, settings, printed)
        except NotThereError as error:
            reasons[name] = str(error)
            continue
        if read == 0 and not units[name].may_be_zero:
            read = Reason(kind="zero_printed")
        if isinstance(read, MissingKind):
            measured[name] = Measured(value=None, unit=unit, missing=read)
        else:
            measured[name] = Measured(value=read, unit=unit)
    if reasons:
        raise OutputError(reasons)
    return measured


def refused_reason(refuses: Iterable[Refusal], printed: Printed) -> str | None:
    """Why nothing of the output is to be used, if so; a pattern need not be there.

    Raises:
        NotThereError: a path or a table is not there.
    """
    for refusal in refuses:
        try:
            texts = [found.text for found in printed.found(refusal)]
        except NotThereError:
            if refusal.pattern is None:
                raise
            continue
        if refusal.equals is not None:
            texts = [text for text in texts if text == refusal.equals]
        if refusal.differs is not None:
            texts = [text for text in texts if text != refusal.differs]
        if texts:
            return refusal.because
    return None


def _metric(metric: Metric, entry: Workload, settings: Settings, printed: Printed) -> Reading:
    if not holds(metric.when, settings):
        of = ", ".join(f"{name}: {settings.get(name)}" for name in metric.when)
        return NotMeasuredWith(settings=of)
    if metric.needs is not None:
        needs = metric.needs
        if _number(printed, needs) < needs.at_least:
            return TooFewPrinted(needed=needs.at_least, of=needs.of)
    value = _said(metric, entry, printed)
    if metric.complement and isinstance(value, float):
        value = 1 - value
    if metric.per is None or isinstance(value, MissingKind):
        return value
    divisor = _number(printed, metric.per)
    return value / divisor if divisor else Reason(kind="divisor_zero")


def _said(metric: Metric, entry: Workload, printed: Printed) -> Reading:
    """The number where the metric stands, or what it is where the tool says nothing of it."""
    try:
        found = printed.found(metric)
    except NotThereError:
        if metric.absent is None:
            raise
        return metric.absent
    for one in found:
        if one.text in metric.no_value:
            return Quoted(kind="tool_reported", said=metric.no_value[one.text])
    return taken(found, metric, entry.scale_of(metric))


def _number(printed: Printed, look: Look) -> float:
    return taken(printed.found(look), look, 1.0)


def taken(found: Sequence[Found], look: Look, scale: Scale) -> float:
    """One number of those that were found.

    Raises:
        NotThereError: there are several where one is expected, none in a list, or one is no number.
    """
    if look.take == "count":
        return len(found) * (scale if isinstance(scale, float) else 1.0)
    if look.take == "span":
        found = [_in_seconds(one) for one in found]
    numbers = [scaled(one, scale) for one in found]
    if not numbers:
        raise NotThereError("the list of them is empty")
    if look.take == "only":
        if len(numbers) > 1:
            raise NotThereError(f"{len(numbers)} of them, where one is expected")
        return numbers[0]
    return _TAKE[look.take](numbers)


def _in_seconds(found: Found) -> Found:
    """A moment such as `2026-11-25T22:37:12.5Z` as seconds; a number as it is."""
    if _NUMBER.fullmatch(found.text) is not None:
        return found
    try:
        moment = datetime.fromisoformat(found.text)
    except ValueError as error:
        raise NotThereError(f"`{found.text}` is neither a number nor a moment") from error
    return Found(f"{moment.timestamp():.9f}", found.unit)


def nearest_rank(values: Sequence[float], percent: int) -> float:
    """The least value that so many percent of all do not exceed."""
    return sorted(values)[-(-percent * len(values) // 100) - 1]


def scaled(found: Found, scale: Scale) -> float:
    """A number as printed, in the unit of its response.

    Raises:
        NotThereError: it is none, or its unit is not known.
    """
    if _NUMBER.fullmatch(found.text) is None:
        said = f"`{found.text}`" if found.text else "an empty text"
        remedy = _COMMA if _WITH_COMMA.fullmatch(found.text) else _NO_NUMBER
        raise NotThereError(f"{said} is no number", text=found.text, remedy=remedy)
    value = float(found.text)
    if isinstance(scale, Mapping):
        if (found.unit or "") not in scale:
            raise NotThereError(f"the unit `{found.unit or ''}` is not known")
        return value * scale[found.unit or ""]
    return value * float(scale)
