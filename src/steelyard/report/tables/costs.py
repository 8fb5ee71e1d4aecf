"""What instances cost the machine that carries them, and where they ran: two tables, flat rows."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from steelyard.judge.analyses.costs.findings import (
    CoresFinding,
    CostFinding,
    OverheadFinding,
    PlacementFinding,
    ThreadsFinding,
)
from steelyard.report import notes as reasons
from steelyard.report.figures import fixed, span
from steelyard.report.view import NONE, Table, View
from steelyard.study.labels import Labels

COSTS = "What instances cost the machine that carries them"
PLACES = "Where instances ran"
_FIGURES = ("inside", "outside", "vcpu", "wait", "stolen", "hidden")
_DECIMALS = 2
_MEANING = (
    "Cores: the middle visit, from the least to the greatest. Inside is what a guest takes for "
    "busy; outside what its host paid, emulation included, and of that what the guest's "
    "processors had. The unseen wait is time in which these waited for a processor and the guest "
    "did not see it. The ratio is outside over inside with its interval; least and greatest visit."
)


def cost_table(view: View) -> Table:
    """One row for each instance of a cell: cores inside and outside, and their ratio."""
    head = ("Condition", "System", "Instance", "Inside", "Outside", "Its processors",
            "Unseen wait", "Ratio", "Visits")  # fmt: skip
    rows = tuple(_costs(found, view.run.labels) for found in view.own.costs)
    notes = tuple(
        dict.fromkeys(_note(found, view.run.labels) for found in view.own.costs if found.missing)
    )
    shown = rows if any(found.visits for found in view.own.costs) else ()
    return Table(COSTS, head, shown, frozenset({2, 3, 4, 5, 6, 7, 8}), (_MEANING, *notes))


def _note(found: CostFinding, labels: Labels) -> str:
    return f"{found.cell.system}: {'; '.join(reasons.texts(found.missing, labels))}."


def _costs(found: CostFinding, labels: Labels) -> tuple[str, ...]:
    return (
        labels.conditions(found.cell.conditions) or "all trials",
        found.cell.system,
        str(found.instance),
        _cores(found.inside),
        _cores(found.outside),
        _cores(found.vcpu),
        _cores(found.hidden),
        _times(found.overhead),
        str(found.visits),
    )


def _cores(found: CoresFinding | None) -> str:
    if found is None:
        return NONE
    if found.least == found.greatest:
        return fixed(found.median, _DECIMALS)
    ends = span(fixed(found.least, _DECIMALS), fixed(found.greatest, _DECIMALS))
    return f"{fixed(found.median, _DECIMALS)} ({ends})"


def _times(found: OverheadFinding | None) -> str:
    if found is None:
        return NONE
    if found.low_log is None or found.high_log is None:
        return _ratio(found.log)
    spread = _between(found.least_log, found.greatest_log)
    return f"{_ratio(found.log)} ({_between(found.low_log, found.high_log)}; {spread})"


def _between(low_log: float, high_log: float) -> str:
    return span(_ratio(low_log), _ratio(high_log))


def _ratio(log: float) -> str:
    return fixed(math.exp(log), _DECIMALS)


def placement_table(view: View) -> Table:
    """One row for what may run in the same places, of each instance."""
    head = ("System", "Instance", "Declared", "Where", "Threads", "Count", "May run on",
            "Last seen on", "Moved", "Trials")  # fmt: skip
    rows = tuple(
        _placed(found, threads) for found in view.own.placements for threads in found.threads
    )
    note = "Seen once after each window: a thread may have moved within one without being seen."
    return Table(PLACES, head, rows, frozenset({1, 5, 9}), (note,) if rows else ())


def _placed(found: PlacementFinding, threads: ThreadsFinding) -> tuple[str, ...]:
    return (
        found.system,
        str(found.instance),
        _declared(found) or "nothing",
        "outside" if threads.machine == "host" else "inside",
        f"{threads.process}: {', '.join(threads.names)}",
        str(threads.threads),
        " or ".join(threads.allowed_cpus),
        ", ".join(str(cpu) for cpu in threads.last_cpus),
        {True: "yes", False: "no", None: NONE}[threads.moved],
        str(found.trials),
    )


def _declared(found: PlacementFinding) -> str:
    return ", ".join(f"{name} {cpus}" for name, cpus in found.declared.items())


def cost_rows(view: View) -> Iterator[dict[str, Any]]:
    """Flat: a row for each figure of each instance of a cell, and for each placement."""
    for found in view.own.costs:
        shared = {
            "kind": "cost",
            "system": found.cell.system,
            "instance": found.instance,
            "n": found.visits,
            "note": "; ".join(reasons.texts(found.missing, view.run.labels)),
            "conditions": found.cell.conditions,
        }
        for name in _FIGURES:
            cores: CoresFinding | None = getattr(found, name)
            told = {} if cores is None else cores.model_dump()
            yield shared | told | {"response": f"cost.{name}", "unit": "cores"}
        yield shared | _flat_overhead(found)
    for placed in view.own.placements:
        for threads in placed.threads:
            yield {
                "kind": "placement",
                "system": placed.system,
                "instance": placed.instance,
                "n": placed.trials,
                "value": threads.threads,
                "word": " ".join(threads.allowed_cpus),
                "words": " ".join(str(cpu) for cpu in threads.last_cpus),
                "note": "; ".join(_told(placed, threads)),
                "conditions": {},
            }


def _flat_overhead(found: CostFinding) -> dict[str, Any]:
    row = {"response": "cost.overhead", "unit": "ratio", "interval_level": found.interval_level}
    if found.overhead is None:
        return row
    return row | {
        "estimate_log": found.overhead.log,
        "low_log": found.overhead.low_log,
        "high_log": found.overhead.high_log,
        "least": math.exp(found.overhead.least_log),
        "greatest": math.exp(found.overhead.greatest_log),
    }


def _told(found: PlacementFinding, threads: ThreadsFinding) -> Iterator[str]:
    yield f"{threads.machine}: {threads.process}: {', '.join(threads.names)}"
    yield f"declared {_declared(found) or 'nothing'}"
    if threads.moved:
        yield "moved"
