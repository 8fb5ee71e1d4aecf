"""From a cell to a job of the load engine: one protocol, one function, one row."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from steelyard.study.bind import BoundCell
from steelyard.study.model import LoadSpec, Study

_NS = 1_000_000_000
_SPARE_S = 30.0
Settings = Mapping[str, Any]


def load_job(study: Study, bound: BoundCell, address: str, seed: int) -> dict[str, Any]:
    """The job document (``schemas/load-job.schema.json``) that drives ``bound`` at ``address``."""
    use, settings = bound.workload.use, bound.workload.settings
    scheme, operation = OPERATIONS[use]
    trials = study.trials
    path = str(settings.get("path", ""))
    return {
        "target": f"{scheme}://{address}{path}",
        "mode": _mode(bound.load or LoadSpec(), bound),
        "operation": operation(settings),
        "threads": study.generator.threads,
        "warm_up_ns": round(trials.warm_up_s * _NS),
        "duration_ns": round(trials.window_s * _NS),
        "operations": None,
        "drain_ns": round(trials.drain_s * _NS),
        "timeout_ns": round(trials.timeout_s * _NS),
        "seed": seed,
        "series_interval_ns": round(study.sample.every_s * _NS),
    }


def longest_run_s(study: Study) -> float:
    """How long a load run may take before it counts as hung."""
    trials = study.trials
    return trials.warm_up_s + trials.window_s + trials.drain_s + 2 * trials.timeout_s + _SPARE_S


def _mode(load: LoadSpec, bound: BoundCell) -> dict[str, Any]:
    if load.mode == "closed":
        think_time_ns = round(load.think_time_s * _NS)
        return {"kind": "closed", "users": bound.users, "think_time_ns": think_time_ns}
    return {
        "kind": "open",
        "rate_per_s": bound.rate_per_s,
        "arrival": load.arrival,
        "connections": load.connections,
    }


def _smtp(settings: Settings) -> dict[str, Any]:
    return {
        "protocol": "smtp",
        "sender": settings["sender"],
        "recipients": settings["recipients"],
        "body_bytes": settings["body"],
        "attachment_bytes": settings["attachment"],
        "messages_per_connection": settings["messages_per_connection"],
    }


def _http(settings: Settings) -> dict[str, Any]:
    headers = [header.partition(":")[::2] for header in settings["headers"]]
    return {
        "protocol": "http",
        "method": settings["method"],
        "headers": [[name.strip(), value.strip()] for name, value in headers],
        "body": settings["body"],
        "keep_alive": settings["keep_alive"],
    }


OPERATIONS: dict[str, tuple[str, Callable[[Settings], dict[str, Any]]]] = {
    "smtp": ("smtp", _smtp),
    "http": ("http", _http),
}
