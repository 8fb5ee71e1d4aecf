"""What version 1 stored, as version 2 stores it.

Warnings of version 1 held sentences: their kinds are kept, their figures are not. Why a value is
missing was a sentence as well, which is quoted. Undo events are the same in both versions.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

Document = dict[str, Any]
"""A JSON object as it was stored."""

_WARNINGS = {
    "neighbour_idle": "background_ended",
    "generator_near_ceiling": "generator_near_capacity",
}
_RESOURCES = {
    "the load generator": "generator",
    "the disk": "disk_busy_time",
    "the machine's CPU": "machine_cpu",
    "one core by the service": "one_core_of_service",
}
_PHASES = {"warm_up": "warmup", "hear_canary": "run_reference_kernel"}
_DIFFERENCE = re.compile(
    r"(\w+) (.*): (?:was not there|was '(.*)'), (?:is gone|is '(.*)')", re.DOTALL
)
_NOT_MEASURED = {"kind": "not_measured"}
_FORCED = "the run was hurried to its end, and nobody looked"


def record_of_1(record: Document) -> Document:
    """A trial record."""
    new = {**record, "schema_version": 2}
    new.pop("detail", None)
    new["phases_ns"] = {_PHASES.get(k, k): v for k, v in record["phases_ns"].items()}
    new["responses"] = _responses(record["responses"])
    new["gates"] = [_renamed(gate, seen="value") for gate in record.get("gates", ())]
    new["warnings"] = [
        {"kind": _WARNINGS.get(d["kind"], d["kind"]), "state": d["state"]}
        for d in new.pop("doubts", ())
    ]
    used = new.pop("limited_by", None)
    if used is not None:
        resource = _RESOURCES[used.partition(" (")[0]]
        new["bottleneck"] = {"resource": resource, "share": None}
    if record.get("calibration") is not None:
        new["calibration"] = _calibration(record["calibration"])
    new["instances"] = [_instance(each) for each in record.get("instances", ())]
    return new


def plan_of_1(plan: Document) -> Document:
    """A plan."""
    return {**_renamed(plan, coin="assignment"), "schema_version": 2}


def facts_of_1(facts: Document) -> Document:
    """The facts of a run."""
    return {**facts, "schema_version": 2}


def event_of_1(event: Document) -> Document:
    """An event of a ledger; one of version 2 comes back as it is."""
    migrate = _EVENTS.get(event.get("event", ""))
    return event if migrate is None else migrate(event)


def _renamed(document: Document, **names: str) -> Document:
    return {names.get(name, name): value for name, value in document.items()}


def _response(name: str) -> str:
    return re.sub(r"^canary\.", "reference_kernel.", name)


def _responses(found: Document) -> Document:
    return {_response(name): _with_kind(each, "missing") for name, each in found.items()}


def _instance(found: Document) -> Document:
    responses = _responses(found.get("responses", {}))
    return {**_renamed(found, beside="background"), "responses": responses}


def _with_kind(document: Document, name: str) -> Document:
    """The sentence of a field, where there is one, as a quoted reason."""
    said = document.get(name)
    if said is None:
        return document
    return {**document, name: {"kind": "told_by_version_1", "said": said}}


def _calibration(found: Document) -> Document:
    new = _renamed(found, ceiling_per_s="capacity_per_s", floor_ns="baseline_latency_ns")
    return _with_kind(new, "not_calibrated")


def _recorded(event: Document) -> Document:
    return {**_renamed(event, untold="not_listed"), "event": "environment_recorded"}


def _compared(event: Document) -> Document:
    if "untold" not in event:
        return event
    new = _renamed(event, untold="not_listed")
    new["forced_stop"] = [name for name, why in event["untold"].items() if why == _FORCED]
    new["not_listed"] = {n: w for n, w in event["untold"].items() if w != _FORCED}
    new["differences"] = [_difference(each) for each in event["differences"]]
    return new


def _difference(told: Document) -> Document:
    found = _DIFFERENCE.fullmatch(told["what"])
    kind, name, before, after = found.groups() if found else ("thing", told["what"], None, None)
    return {
        "machine": told["machine"], "kind": kind, "name": name, "before": before, "after": after,
    }  # fmt: skip


def _noise(event: Document) -> Document:
    rows = (_with_kind(row, "missing") for row in event["machines"])
    series = [{**row, "part": _response(row["part"])} for row in rows]
    return {"event": "noise_measured", "at_unix_ns": event["at_unix_ns"], "series": series}


def _calibrated(event: Document) -> Document:
    cells = []
    for each in event["cells"]:
        system, conditions = each["cell"]
        cells.append({**_calibration(each), "cell": {"system": system, "conditions": conditions}})
    return {**event, "event": "generator_calibrated", "cells": cells}


def _systems_left(event: Document) -> Document:
    return {**_renamed(event, racing="remaining"), "event": "systems_eliminated"}


def _workloads_left(event: Document) -> Document:
    return {**_renamed(event, measured="remaining"), "event": "workloads_eliminated"}


def _reason(told: Document) -> Document:
    return {
        "failed_visits": told.get("visits", ()),
        "missing_responses": told.get("missing", ()),
        "trials": told.get("trials", 0),
        "commonest": {
            "trials": told.get("so_often", 0), "outcome": None,
            "message": told.get("why"), "missing": None if "why" in told else _NOT_MEASURED,
        },
    }  # fmt: skip


def _system_given_up(event: Document) -> Document:
    kept = {name: event[name] for name in ("at_unix_ns", "system")}
    return {"event": "system_stopped", **kept, "reason": _reason(event)}


def _workload_given_up(event: Document) -> Document:
    new = _renamed(event, gone="stopped_on", systems="reasons")
    new["reasons"] = {name: _reason(told) for name, told in event["systems"].items()}
    return {**new, "event": "workload_stopped"}


def _extended(event: Document) -> Document:
    if "to" not in event:
        return event
    return _renamed(event, visits="visits_before", to="visits")


_EVENTS: dict[str, Callable[[Document], Document]] = {
    "environment_seen": _recorded,
    "environment_compared": _compared,
    "sounded": _noise,
    "calibrated": _calibrated,
    "systems_left": _systems_left,
    "workloads_left": _workloads_left,
    "system_given_up": _system_given_up,
    "workload_given_up": _workload_given_up,
    "budget_extended": _extended,
}
