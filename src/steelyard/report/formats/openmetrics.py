"""Medians, effects and verdicts as OpenMetrics text, for a monitoring system to keep.

One run is one exposition; each sample carries the study, the workload and the condition as labels.
Ratios are of other over baseline, in the raw response.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from steelyard.inference.sequential import VerdictWord
from steelyard.judge.findings import RunFindings, VerdictFinding
from steelyard.report.view import View, views
from steelyard.report.vocabulary import response_of
from steelyard.study.labels import Labels
from steelyard.study.model import Level

_Labels = dict[str, str]


class _Family(NamedTuple):
    """One metric: its type, what it is, and its samples."""

    name: str
    kind: str
    meaning: str
    samples: list[tuple[_Labels, float]]


def openmetrics_text(run: RunFindings) -> str:
    """The exposition; a family without samples is left out."""
    families = [family for family in _families(run) if family.samples]
    return "".join(line + "\n" for family in families for line in _lines(family)) + "# EOF\n"


def _families(run: RunFindings) -> Iterator[_Family]:
    study = {"study": run.study}
    of_run = {"run": run.run, "tool_version": run.tool_version, "study_sha256": run.study_sha256,
              "variant": run.variant or "", "stop": run.stop.reason}  # fmt: skip
    yield _Family("steelyard_run", "info", "The run that the figures are of.",
                  [(study | of_run, 1.0)])  # fmt: skip
    outcomes = Counter(attempt.outcome for attempt in run.attempts)
    yield _Family("steelyard_attempts", "gauge", "Attempts at trials, by outcome.",
                  [(study | {"outcome": o}, n) for o, n in outcomes.items()])  # fmt: skip
    of_each = [(study | {"workload": view.own.name}, view) for view in views(run)]
    cells = [sample for shared, view in of_each for sample in _cells(shared, view)]
    yield from _gauges(cells, {
        "response_median": "Median of a response over the trials of a cell.",
        "response_median_low": "Lower end of the interval of the median.",
        "response_median_high": "Upper end of the interval of the median.",
        "trials": "Trials of a cell with a value of the response.",
    })  # fmt: skip
    capacities = [sample for shared, view in of_each for sample in _capacities(shared, view)]
    yield from _gauges(capacities, {
        "capacity_median": "Median of the largest load that keeps the targets of a search.",
        "capacity_low": "Lower end of the interval of that median.",
        "capacity_high": "Upper end of the interval of that median.",
        "capacity_searches": "Searches that the median rests on.",
    })  # fmt: skip
    verdicts = [sample for shared, view in of_each for sample in _effects(shared, view)]
    yield from _gauges(verdicts, {
        "effect_ratio": "Ratio of a system to the baseline.",
        "effect_ratio_low": "Lower end of the interval of the ratio.",
        "effect_ratio_high": "Upper end of the interval of the ratio.",
        "effect_visits": "Visits that a comparison rests on.",
    })  # fmt: skip
    words = [sample for shared, view in of_each for sample in _words(shared, view)]
    yield _Family("steelyard_verdict", "stateset", "The word of a comparison.", words)


def _gauges(
    samples: list[tuple[str, _Labels, float | None]], meanings: Mapping[str, str]
) -> Iterator[_Family]:
    for name, meaning in meanings.items():
        own = [(labels, v) for of, labels, v in samples if of == name and v is not None]
        yield _Family(f"steelyard_{name}", "gauge", meaning, own)


def _cells(shared: _Labels, view: View) -> Iterator[tuple[str, _Labels, float | None]]:
    for cell in view.own.cells:
        labels = shared | {
            "response": cell.response,
            "unit": response_of(view, cell.response).unit,
            "system": cell.cell.system,
            **_conditions(cell.cell.conditions, view.run.labels),
        }
        yield "response_median", labels, cell.median
        yield "response_median_low", labels, cell.low
        yield "response_median_high", labels, cell.high
        yield "trials", labels, len(cell.values)


def _capacities(shared: _Labels, view: View) -> Iterator[tuple[str, _Labels, float | None]]:
    for found in view.own.capacities:
        labels = shared | {
            "response": found.name,
            "unit": found.unit,
            "system": found.system,
            **_conditions(found.conditions, view.run.labels),
        }
        yield "capacity_median", labels, found.median
        yield "capacity_low", labels, found.low
        yield "capacity_high", labels, found.high
        yield "capacity_searches", labels, found.searches or len(found.values)


def _compared(shared: _Labels, view: View) -> Iterator[tuple[_Labels, VerdictFinding]]:
    for verdict in (*view.own.verdicts, *view.own.capacity_verdicts):
        where = "overall" if verdict.conditions is None else "condition"
        yield (
            shared
            | {
                "response": verdict.response,
                "system": verdict.other,
                "baseline": verdict.baseline,
                "scope": where,
                **_conditions(verdict.conditions or {}, view.run.labels),
            },
            verdict,
        )


def _effects(shared: _Labels, view: View) -> Iterator[tuple[str, _Labels, float | None]]:
    for labels, verdict in _compared(shared, view):
        logs = (verdict.estimate_log, verdict.low_log, verdict.high_log)
        for name, log in zip(("", "_low", "_high"), logs, strict=True):
            yield f"effect_ratio{name}", labels, None if log is None else math.exp(log)
        yield "effect_visits", labels, verdict.n_baseline + verdict.n_other


def _words(shared: _Labels, view: View) -> Iterator[tuple[_Labels, float]]:
    """Every word with 1 for the one that holds, as a state set has it."""
    for labels, verdict in _compared(shared, view):
        for word in VerdictWord:
            yield labels | {"steelyard_verdict": word.value}, float(word is verdict.word)


def _conditions(conditions: Mapping[str, Level], labels: Labels) -> _Labels:
    """A label for each factor, under a name that the format allows; no two under the same."""
    found: _Labels = {}
    for factor, level in conditions.items():
        name = "condition_" + re.sub(r"[^a-zA-Z0-9_]", "_", factor)
        while name in found:
            name += "_"
        found[name] = labels.level(level, factor)
    return found


def _lines(family: _Family) -> Iterator[str]:
    yield f"# TYPE {family.name} {family.kind}"
    yield f"# HELP {family.name} {family.meaning}"
    suffix = "_info" if family.kind == "info" else ""
    for labels, value in family.samples:
        told = ",".join(f'{name}="{_escaped(text)}"' for name, text in labels.items())
        yield f"{family.name}{suffix}{{{told}}} {_number(value)}"


def _number(value: float) -> str:
    if math.isnan(value):
        return "NaN"
    return repr(value) if math.isfinite(value) else f"{value:+}".replace("inf", "Inf")


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("\n", "\\n").replace('"', '\\"')
