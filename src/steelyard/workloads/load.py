"""From a cell to a job of the load engine; ``operations`` has one file for each protocol."""

from __future__ import annotations

import math
from dataclasses import replace

from steelyard.study.bind import BoundCell
from steelyard.study.declared.setting import Settings
from steelyard.study.ending import counted
from steelyard.study.model import LoadSpec, StudyDesign, WorkloadSpec
from steelyard.study.workload.settings import SharedSettings
from steelyard.workloads.operations import ftp, http, mail, network
from steelyard.workloads.operations.model import Document, Maker, Server, ns

_SPARE_S = 30.0
_MOST_PROBES = 1000
COURSE_ROWS = 60
"""Rows that the course of a window has at least, so that a warm-up shows in short windows too."""
EVENT_ROWS = 600
"""The same of a window with events, in which a dip may be short: as many as the engine keeps."""
_STREAM_SETUP_S = 5.0  # a stream agrees on its window, and may look at latency without load first


def load_job(study: StudyDesign, bound: BoundCell, server: Server, seed: int) -> Document:
    """The job document (``schemas/load-job.schema.json``) that drives ``bound`` at ``server``."""
    load, settings = bound.load or LoadSpec(), bound.workload.settings
    operation = OPERATIONS[bound.workload.use](settings, server, _width(load, bound))
    ending = counted(settings)
    per_user = None if ending is None else ending.operations_per_user
    trials = study.trials
    rows = EVENT_ROWS if study.events else COURSE_ROWS
    return {
        "target": operation.target,
        "mode": _mode(load, bound),
        "operation": operation.document,
        "threads": study.generator.threads,
        "warmup_ns": ns(trials.warmup_s),
        "duration_ns": ns(trials.window_s) if ending is None else None,
        "operations": None if ending is None else ending.operations,
        **({} if per_user is None else {"operations_per_user": per_user}),
        "drain_ns": ns(trials.drain_s),
        "timeout_ns": ns(timeout_s(study, bound.workload)),
        "seed": seed,
        "series_interval_ns": ns(min(study.sample.every_s, trials.window_s / rows)),
        "tls": _tls(settings, server),
    }


def probe_job(study: StudyDesign, bound: BoundCell, server: Server, seed: int) -> Document:
    """The job of the latency probe during the load of ``bound``: by the clock, on few connections.

    Probes do not wait for each other: there are connections for all that can be under way until
    the first of them has timed out. Beside a load that ends by itself it has no end of its own.
    """
    probe = study.latency_probe
    if probe is None:
        raise ValueError("the study has no probe")
    width = math.ceil(study.trials.timeout_s / probe.every_s) + 1
    looking = replace(
        bound,
        workload=WorkloadSpec(use=probe.use, settings=probe.settings),
        load=LoadSpec(mode="open", arrival="constant", connections=min(width, _MOST_PROBES)),
        users=None,
        rate_per_s=1 / probe.every_s,
    )
    job = load_job(study, looking, server, seed) | {"threads": 1}
    if counted(bound.workload.settings) is not None:
        job["duration_ns"] = ns(longest_run_s(study, bound.workload))
    return job


def timeout_s(study: StudyDesign, workload: WorkloadSpec) -> float:
    """The deadline of one operation: the workload's own, or that of the trials."""
    own_s = SharedSettings.of(workload.settings).timeout
    return study.trials.timeout_s if own_s is None else own_s


def longest_run_s(study: StudyDesign, workload: WorkloadSpec) -> float:
    """How long a load run may take before it counts as hung."""
    trials = study.trials
    if counted(workload.settings) is not None:
        return trials.warmup_s + trials.command_s
    waiting_s = 2 * timeout_s(study, workload)
    declared_s = trials.warmup_s + trials.window_s + trials.drain_s + waiting_s
    return declared_s + _STREAM_SETUP_S + _SPARE_S


def _width(load: LoadSpec, bound: BoundCell) -> int:
    return load.connections if load.mode == "open" else bound.users or 1


def _mode(load: LoadSpec, bound: BoundCell) -> Document:
    if load.mode == "closed":
        return {"kind": "closed", "users": bound.users, "think_time_ns": ns(load.think_time_s)}
    return {
        "kind": "open",
        "rate_per_s": bound.rate_per_s,
        "arrival": load.arrival,
        "connections": load.connections,
    }


def _tls(settings: Settings, server: Server) -> Document:
    """How TLS is spoken; certificates are verified unless the study says otherwise."""
    return {
        "insecure": SharedSettings.of(settings).certificate == "any",
        "ca_file": server.authority,
        "server_name": None,
        "resume": False,
    }


OPERATIONS: dict[str, Maker] = http.MAKERS | mail.MAKERS | ftp.MAKERS | network.MAKERS
"""What makes the operation of each workload that the engine drives."""
