"""From a cell to a job of the load engine; ``operations`` has one file for each protocol."""

from __future__ import annotations

from typing import Any

from steelyard.study.bind import BoundCell
from steelyard.study.model import LoadSpec, Study
from steelyard.workloads.operations import ftp, http, mail, network
from steelyard.workloads.operations.model import Driven, Row, Server, ns, tls

_SPARE_S = 30.0
COURSE_ROWS = 60
"""Rows that the course of a window has at least, so that a warm-up shows in short windows too."""
_STREAM_SETUP_S = 5.0  # a stream agrees on its window, and may look at latency without load first


def load_job(study: Study, bound: BoundCell, server: Server, seed: int) -> dict[str, Any]:
    """The job document (``schemas/load-job.schema.json``) that drives ``bound`` at ``server``."""
    row = OPERATIONS[bound.workload.use]
    load = bound.load or LoadSpec()
    driven = Driven(bound.workload.settings, server, _width(load, bound))
    trials = study.trials
    return {
        "target": row.target(driven),
        "mode": _mode(load, bound),
        "operation": row.operation(driven),
        "threads": study.generator.threads,
        "warm_up_ns": ns(trials.warm_up_s),
        "duration_ns": ns(trials.window_s),
        "operations": None,
        "drain_ns": ns(trials.drain_s),
        "timeout_ns": ns(trials.timeout_s),
        "seed": seed,
        "series_interval_ns": ns(min(study.sample.every_s, trials.window_s / COURSE_ROWS)),
        "tls": tls(driven),
    }


def longest_run_s(study: Study) -> float:
    """How long a load run may take before it counts as hung."""
    trials = study.trials
    declared_s = trials.warm_up_s + trials.window_s + trials.drain_s + 2 * trials.timeout_s
    return declared_s + _STREAM_SETUP_S + _SPARE_S


def _width(load: LoadSpec, bound: BoundCell) -> int:
    return load.connections if load.mode == "open" else bound.users or 1


def _mode(load: LoadSpec, bound: BoundCell) -> dict[str, Any]:
    if load.mode == "closed":
        return {"kind": "closed", "users": bound.users, "think_time_ns": ns(load.think_time_s)}
    return {
        "kind": "open",
        "rate_per_s": bound.rate_per_s,
        "arrival": load.arrival,
        "connections": load.connections,
    }


OPERATIONS: dict[str, Row] = http.ROWS | mail.ROWS | ftp.ROWS | network.ROWS
"""What a trial drives."""
