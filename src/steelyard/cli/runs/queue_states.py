"""What the list of runs says of the queue."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from steelyard.cli.console import warn
from steelyard.errors import HostError
from steelyard.queue.slurm import Slurm
from steelyard.queue.submitting import Queued, queued
from steelyard.records.archive import Run
from steelyard.records.submission import folder_of, last_submission, started_by


def queue_states(runs: Sequence[Run]) -> dict[str, Queued]:
    """Of those that were submitted, by path; unknown where the queue cannot be asked, said once."""
    try:
        return queued(runs, Slurm())
    except HostError as error:
        warn(f"what is queued is not known: {error.message}")
    found = {run: last for run in runs if (last := last_submission(run)) is not None}
    return {
        str(run.path): Queued(last, "unknown", started=started_by(run, last.number))
        for run, last in found.items()
    }


def words_of(found: Queued) -> str:
    """``12 pending (Resources)``, ``12 running on n1``."""
    number = "?" if found.submission.job is None else str(found.submission.job)
    why = f" ({found.reason})" if found.reason and found.state in {"pending", "failed"} else ""
    where = f" on {found.where}" if found.where else ""
    return f"{number} {found.state}{why}{where}"


def document_of(run: Run, found: Queued) -> dict[str, Any]:
    """As JSON has it. ``log`` is there once the job has begun."""
    kept, job = found.submission, found.submission.job
    log = None if job is None else str(folder_of(run, kept.number).absolute() / f"{job}.log")
    return {
        "number": kept.number,
        "job": job,
        "state": found.state,
        "reason": found.reason,
        "nodes": found.where or ",".join(kept.placement.nodes) or None,
        "started_unix_ns": None if found.started is None else found.started.started_unix_ns,
        "time_limit_s": kept.time_limit_s,
        "log": log,
    }
