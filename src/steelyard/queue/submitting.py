"""A run is given to the queue, found there again, and taken off it.

The run keeps its submission before the queue is asked, and the job carries a comment that names
both. So an answer that was lost is found again by asking the queue, and nothing is queued twice.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from shlex import quote

from steelyard.errors import HostError, RecordError
from steelyard.queue.answers import LIVE, Job, QueueState
from steelyard.queue.batch import GRACE_S, BatchJob, script_of
from steelyard.queue.slurm import Slurm
from steelyard.records.archive import Run
from steelyard.records.files.durable import file_appears, make_folders
from steelyard.records.submission import (
    SCRIPT,
    Started,
    Submission,
    comment_of,
    folder_of,
    keep_submission,
    last_submission,
    started_by,
)

_POLL_S = 1.0
_MOST_CANCEL_S = GRACE_S + 60.0


@dataclass(frozen=True)
class Queued:
    """How the last submission of a run stands. ``reason`` and ``where`` are Slurm's own words."""

    submission: Submission
    state: QueueState
    reason: str | None = None
    where: str = ""
    started: Started | None = None

    @property
    def is_live(self) -> bool:
        """Whether the queue has it, or may have it."""
        return self.state in LIVE


def queued(runs: Iterable[Run], slurm: Slurm, *, keeps: bool = True) -> dict[str, Queued]:
    """Of each of these runs that was submitted, by its path; the queue is asked once.

    ``keeps``: the number of a job whose answer was lost is written down where it is found.

    Raises:
        HostError: the queue is away.
        RecordError: what a run keeps of it is damaged.
    """
    found = {run: last for run in runs if (last := last_submission(run)) is not None}
    if not found:
        return {}
    by_comment = {job.comment: job for job in slurm.jobs()}
    known = {run: by_comment.get(comment_of(run, each.number)) for run, each in found.items()}
    gone = [each.job for run, each in found.items() if known[run] is None and each.job is not None]
    accounted = {job.number: job for job in slurm.accounted(gone)} if gone else {}
    return {
        str(run.path): _standing(run, each, known[run] or accounted.get(each.job or 0), keeps=keeps)
        for run, each in found.items()
    }


def _standing(run: Run, submission: Submission, job: Job | None, *, keeps: bool) -> Queued:
    started = started_by(run, submission.number)
    state: QueueState = "unknown" if job is None else job.state
    if submission.cancelled and state in {"failed", "unknown"}:
        state = "cancelled"  # the session ended by our signal, which Slurm takes for a failure
    if job is None:
        return Queued(submission, state, None, started.node if started else "", started)
    if submission.job is None:
        submission = submission.model_copy(update={"job": job.number})
        if keeps:
            keep_submission(run, submission)
    return Queued(submission, state, job.reason, job.nodes, started)


def submit(
    run: Run, job: BatchJob, submission: Submission, command: Sequence[str], slurm: Slurm
) -> Submission:
    """Queues the job of a submission, whose files it keeps before.

    Raises:
        HostError: the queue refuses the job, or is away. Then it may have it all the same.
    """
    folder = folder_of(run, submission.number)
    make_folders(folder)
    script = script_of(command, run.path.absolute(), submission.number)
    file_appears(folder / SCRIPT, script.encode())
    keep_submission(run, submission)
    done = submission.model_copy(update={"job": slurm.queue(job.options(), script)})
    keep_submission(run, done)
    return done


def cancel(run: Run, slurm: Slurm, waits: Callable[[], None] = lambda: None) -> Queued:
    """Takes the job of a run off the queue, or has its session undo its changes and end.

    Returns when it has ended. ``waits`` is called once if that takes a while.

    Raises:
        HostError: the queue is away, or the job does not end.
        RecordError: no queue has the run.
    """
    until_s = time.monotonic() + _MOST_CANCEL_S
    asked: set[QueueState] = set()
    while True:
        now = queued([run], slurm).get(str(run.path))
        if now is None or not (now.is_live or asked):
            raise RecordError(
                f"no queue has {run.path}",
                hint="`steelyard runs` lists what was queued; Ctrl-C ends a session elsewhere",
                slug="not-queued",
            )
        if not now.is_live:
            return now
        if now.state not in asked:
            asked.add(now.state)
            _ask_to_end(run, now, slurm)
            if now.state == "running":
                waits()
        if time.monotonic() > until_s:
            number = now.submission.job
            raise HostError(
                f"job {number} of {run.path} has not ended in {_MOST_CANCEL_S:g} s",
                hint=f"end it by force (scancel {number}), then: "
                f"steelyard restore {quote(str(run.path))}",
                slug="job-does-not-end",
            )
        time.sleep(_POLL_S)


def _ask_to_end(run: Run, now: Queued, slurm: Slurm) -> None:
    keep_submission(run, now.submission.model_copy(update={"cancelled": True}))
    number = now.submission.job or 0  # what is live has one
    if now.state == "pending":
        slurm.drop_pending(number)
        return
    try:
        slurm.end_running(number)
    except HostError as error:
        if error.slug == "queue-is-away":
            raise  # else it has ended meanwhile, which the next look shows
