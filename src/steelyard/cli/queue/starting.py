"""What a job does on its node before the session: it checks what has changed, and claims it."""

from __future__ import annotations

import os
import platform
import time
from pathlib import Path

import typer

from steelyard.engine.locate import check_version, find_engine
from steelyard.errors import HostError
from steelyard.queue.eligibility import refuse_other_clock
from steelyard.queue.slurm import Slurm
from steelyard.records.archive import Run, open_run
from steelyard.records.submission import Started, claim_start


def claim_queued(path: Path, number: int) -> Run:
    """Returns to the one job that may start this submission.

    Raises:
        RecordError: it was started before, or another submission came after it.
        HostError: the clock of the node differs from that of the queue.
        EngineError: the engine of the node is of another version.
        typer.BadParameter: this is no job.
    """
    job = os.environ.get("SLURM_JOB_ID", "")
    if not job.isdecimal():
        raise typer.BadParameter(
            "only the job of a queue starts a submission", param_hint="--queued"
        )
    run = open_run(path)
    refuse_other_clock(time.time(), _queue_clock())
    check_version(find_engine())
    own = Started(
        job=int(job),
        node=os.environ.get("SLURMD_NODENAME") or platform.node(),
        started_unix_ns=time.time_ns(),
        restarts=int(os.environ.get("SLURM_RESTART_COUNT") or 0),
    )
    claim_start(run, number, own)
    return run


def _queue_clock() -> float | None:
    """A queue that has gone away meanwhile keeps no job from its work."""
    try:
        return Slurm().clock_unix_s()
    except HostError:
        return None
