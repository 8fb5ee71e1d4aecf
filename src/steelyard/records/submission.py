"""What a run keeps of the queue that it was given to: ``queue/1/``, ``queue/2/`` and so on.

Each submission has a number, one more than the one before it. ``submission.json`` is there before
the queue is asked, without the number of the job, which is known afterwards. ``started.json`` is
made by the job itself, and can be made once: a queue that starts a job again, or two jobs for one
submission, start one session. The highest number alone may start.
"""

from __future__ import annotations

import os
from pathlib import Path

from steelyard.errors import RecordError
from steelyard.plan.model import Frozen
from steelyard.records.archive import Run
from steelyard.records.files.documents import parsed, read_bytes
from steelyard.records.files.durable import file_appears, make_folders, sync_folder

FOLDER = "queue"
COMMENT = "steelyard:"
"""Begins the comment of every job of ours."""
_SUBMISSION, _STARTED = "submission.json", "started.json"
SCRIPT = "job.sh"


class Placement(Frozen):
    """Where the user wants a run, in the words of Slurm; ``nodes`` by name."""

    partition: str | None = None
    nodes: tuple[str, ...] = ()
    constraint: str | None = None
    gres: str | None = None
    account: str | None = None
    reservation: str | None = None


class Submission(Frozen):
    """One submission of a run. ``asked`` is the digest of what the user asked for, so that the
    same is found again; ``job`` is ``None`` as long as the queue has not said its number.
    """

    number: int
    asked: str
    placement: Placement
    time_limit_s: int
    submitted_unix_ns: int
    job: int | None = None
    cancelled: bool = False


class Started(Frozen):
    """Which job started the session of a submission, and where."""

    job: int
    node: str
    started_unix_ns: int
    restarts: int = 0


def folder_of(run: Run, number: int) -> Path:
    """Where script and log of a submission lie, too."""
    return run.path / FOLDER / str(number)


def comment_of(run: Run, number: int) -> str:
    """What the job carries, by which it is found again; unique on a cluster."""
    facts = run.facts()
    return f"{COMMENT}{facts.study_sha256[:16]}-{facts.created_unix_ns}:{number}"


def last_submission(run: Run) -> Submission | None:
    """The one with the highest number; ``None`` of a run that was given to no queue.

    Raises:
        RecordError: it is damaged.
    """
    numbers = [int(p.name) for p in (run.path / FOLDER).glob("*") if p.name.isdecimal()]
    if not numbers:
        return None
    path = folder_of(run, max(numbers)) / _SUBMISSION
    return parsed(read_bytes(path), path, Submission, lambda document: document)


def keep_submission(run: Run, submission: Submission) -> None:
    """Writes it, or writes it again with the number of its job."""
    folder = folder_of(run, submission.number)
    make_folders(folder)
    data = submission.model_dump_json(indent=1).encode() + b"\n"
    file_appears(folder / _SUBMISSION, data)


def started_by(run: Run, number: int) -> Started | None:
    """The job that started the session of a submission; ``None`` before any has.

    Raises:
        RecordError: the file is damaged.
    """
    path = folder_of(run, number) / _STARTED
    if not path.exists():
        return None
    return parsed(read_bytes(path), path, Started, lambda document: document)


def claim_start(run: Run, number: int, own: Started) -> None:
    """Returns once in the life of a submission, to one caller.

    The name is taken in one step, which holds on a shared file system as well.

    Raises:
        RecordError: it was started before, or is not the last submission of the run.
    """
    last = last_submission(run)
    if last is None or last.number != number:
        now = "none" if last is None else str(last.number)
        raise _refused(run, f"submission {number} of {run.path} is not the last, which is {now}")
    draft = folder_of(run, number) / f".{own.job}.{own.restarts}.{os.getpid()}"
    draft.write_bytes(own.model_dump_json(indent=1).encode() + b"\n")
    try:
        os.link(draft, draft.with_name(_STARTED))
    except FileExistsError as error:
        raise _refused(run, f"{run.path} was started before{_by(run, number)}") from error
    finally:
        draft.unlink()
    sync_folder(draft.parent)


def _by(run: Run, number: int) -> str:
    first = started_by(run, number)
    return "" if first is None else f", by job {first.job} on {first.node}"


def _refused(run: Run, message: str) -> RecordError:
    return RecordError(
        f"{message}; nothing was started",
        hint=f"to go on with it, say so: steelyard submit --resume {run.path}",
        slug="run-was-started",
    )
