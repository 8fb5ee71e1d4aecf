"""``SHA256SUMS`` beside what it is of, so that a file that was changed, cut or swapped is named.

Folders of earlier versions have none and are read without. Anybody can check one, without
steelyard: ``sha256sum -c SHA256SUMS``.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from steelyard.errors import RecordError
from steelyard.plan.model import Plan
from steelyard.records.events import AttemptFinished, AttemptStarted, Event
from steelyard.records.files.documents import RESTORE, read_bytes
from steelyard.records.files.durable import write_file
from steelyard.records.schema import TrialRecord

SUMS = "SHA256SUMS"

Sums = Mapping[str, str]
"""The digest of each file by its name."""


def write_files(folder: Path, files: Mapping[str, bytes]) -> None:
    """Writes and syncs files and their checksums inside a folder that no one else sees yet."""
    for name, data in files.items():
        write_file(folder / name, data)
    lines = [f"{hashlib.sha256(data).hexdigest()}  {name}\n" for name, data in files.items()]
    write_file(folder / SUMS, "".join(lines).encode())


def read_sums(folder: Path) -> Sums | None:
    """What is beside the files of a folder; ``None`` for one of an earlier version.

    Raises:
        RecordError: it is damaged itself.
    """
    path = folder / SUMS
    if not path.exists():
        return None
    return sums_of(path.read_bytes(), path)


def sums_of(data: bytes, path: Path) -> Sums:
    """The same of the bytes of such a list; ``path`` is named.

    Raises:
        RecordError: it is none.
    """
    lines = data.decode(errors="replace").splitlines()
    pairs = [line.split("  ", 1) for line in lines]
    if not pairs or any(len(pair) != 2 or len(pair[0]) != 64 for pair in pairs):
        raise RecordError(f"{path} is no list of checksums", hint=RESTORE, slug="record-is-damaged")
    return {name: digest for digest, name in pairs}


def read_checked(folder: Path, name: str, sums: Sums | None) -> bytes:
    """A file as it was written.

    Raises:
        RecordError: it is missing, or is not what was written.
    """
    return checked(folder, name, read_bytes(folder / name), sums)


def checked(
    folder: Path, name: str, data: bytes, sums: Sums | None, digest: str | None = None
) -> bytes:
    """The bytes of a file, if they are those that were written; ``digest`` is theirs, where it has
    been computed already.

    Raises:
        RecordError: they are not.
    """
    if sums is not None and sums.get(name) != (digest or hashlib.sha256(data).hexdigest()):
        raise RecordError(
            f"{folder / name} is not what was written: its checksum in {SUMS} does not fit",
            hint=RESTORE,
            slug="record-is-damaged",
        )
    return data


def refuse_unlike_the_ledger(
    run: Path, before: Sequence[Event], keys: Iterable[str], now: Callable[[], Sequence[Event]]
) -> None:
    """Holds the attempts on the disk against what the ledger said ``before`` they were listed; of a
    run that goes on further ones have been started meanwhile, as it says ``now``.

    Raises:
        RecordError: one is missing that was finished, or one is there that was never started.
    """
    there = set(keys)
    for key in dict.fromkeys(_key(e) for e in before if isinstance(e, AttemptFinished)):
        if key not in there:
            raise _unlike(f"{run / 'trials' / key} is missing: the ledger says that it is finished")
    unknown = there - _started(before)
    if unknown:
        unknown -= _started(now())
    for key in sorted(unknown):
        raise _unlike(
            f"{run / 'trials' / key} is not in the ledger: lines of {run / 'ledger.jsonl'} "
            "are missing, or the folder is of another run"
        )


def _started(events: Iterable[Event]) -> set[str]:
    return {_key(event) for event in events if isinstance(event, AttemptStarted)}


def held_against_the_plan(
    run: Path, plan: Plan, records: Iterable[TrialRecord]
) -> Iterator[TrialRecord]:
    """The same records; the plan drew for each trial where it belongs.

    Raises:
        RecordError: at one that is at another place than its trial, as those of another run are.
    """
    planned = {
        trial.trial: (visit.visit, trial.cell)
        for visit in plan.every_visit
        for trial in visit.trials
    }
    for record in records:
        if planned.get(record.trial) != (record.visit, record.cell):
            key = f"{record.trial:04d}-{record.attempt}"
            raise _unlike(
                f"{run / 'trials' / key} is not of trial {record.trial} of {run / 'plan.json'}: it "
                "is of another run, or the plan is"
            )
        yield record


def _key(event: AttemptFinished | AttemptStarted) -> str:
    return f"{event.trial:04d}-{event.attempt}"


def _unlike(what: str) -> RecordError:
    return RecordError(
        what,
        hint="the run is not whole; restore it from a backup or start a new one",
        slug="record-is-damaged",
    )
