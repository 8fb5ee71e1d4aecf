"""What the list of runs says of the queue."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from steelyard.cli.console import shown, warn
from steelyard.errors import HostError, RecordError
from steelyard.queue.slurm import Slurm
from steelyard.queue.submitting import Queued, queued
from steelyard.records.archive import Run
from steelyard.records.submission import (
    Submission,
    comment_of,
    folder_of,
    last_submission,
    started_by,
)


def queue_states(runs: Sequence[Run]) -> dict[str, Queued]:
    """Of those that were submitted, by path; unknown where the queue cannot be asked, said once."""
    submitted = _submitted(
        runs, lambda run, error: warn(f"what is queued of {shown(run.path)}: {error.message}")
    )
    try:
        return queued(submitted, Slurm())
    except HostError as error:
        warn(f"what is queued is not known: {error.message}")
    return _unknown(submitted)


def standing_of(paths: Sequence[Path]) -> dict[str, dict[str, Any]]:
    """The same for whoever may only read: nothing is written, nothing is said.

    As JSON has it, in words as well, without the path of the log.
    """
    submitted = _submitted([Run(path) for path in paths], lambda *_: None)
    try:
        found = queued(submitted, Slurm(), keeps=False)
    except HostError:
        found = _unknown(submitted)
    standing = {}
    for path, each in found.items():
        document = {**document_of(Run(Path(path)), each), "said": words_of(each)}
        del document["log"]
        standing[path] = document
    return standing


def _submitted(
    runs: Sequence[Run], damaged: Callable[[Run, RecordError], None]
) -> dict[Run, Submission]:
    """The last submission of each; one that is ``damaged`` keeps no other from being listed."""
    found = {}
    for run in runs:
        try:
            last = last_submission(run)
            if last is not None:
                started_by(run, last.number)
                comment_of(run, last.number)
                found[run] = last
        except RecordError as error:
            damaged(run, error)
    return found


def _unknown(submitted: Mapping[Run, Submission]) -> dict[str, Queued]:
    return {
        str(run.path): Queued(last, "unknown", started=started_by(run, last.number))
        for run, last in submitted.items()
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
