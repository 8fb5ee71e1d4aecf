"""The folders of attempts packed into a few files; deleted after what was packed was read back."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from steelyard.errors import RecordError
from steelyard.records.archive import Run
from steelyard.records.attempt_folder import is_samples
from steelyard.records.deletion import bytes_on_disk, held
from steelyard.records.files.checksums import (
    SUMS,
    checked,
    held_against_the_plan,
    sums_of,
)
from steelyard.records.files.durable import (
    NEW,
    clear_unfinished,
    file_appears,
    make_folders,
    sync_folder,
)
from steelyard.records.files.packed import (
    PACKED,
    packed_bytes,
    packed_files,
    packed_places,
    read_all_packed,
)

MOST_BYTES = 256 * 2**20
"""Of the files that go into one, so that reading one takes bounded memory."""


@dataclass(frozen=True)
class Compacted:
    """What came of it."""

    attempts: int
    bytes_before: int
    bytes_after: int


def compact(run: Run, most_bytes: int = MOST_BYTES) -> Compacted:
    """Packs all attempts that have a folder; a run that has none is left as it is.

    A crash leaves attempts in their folder, in ``packed/``, or in both with the same bytes: each is
    a whole run, and the next call goes on.

    Raises:
        RecordError: the run is in use or damaged, or what was packed is not what was read.
        OSError: the disk is full; nothing was deleted that is not packed.
    """
    with held(run):
        run.facts()  # a damaged run stays as it is, and one of a later version
        run.refuse_changed_files()
        for _ in held_against_the_plan(run.path, run.plan(), run.each_record()):
            pass
        before = bytes_on_disk([run.path])
        done = 0
        make_folders(run.path / PACKED)
        clear_unfinished(run.path / "trials")
        _delete_packed(run.path)
        for attempts in _parts(run, most_bytes):
            _refuse_unlike(attempts, _written(run.path, attempts))
            for key in attempts:
                _delete(run.path / "trials" / key)
            done += len(attempts)
        return Compacted(done, before, bytes_on_disk([run.path]))


_Attempts = dict[str, dict[str, bytes]]


def _parts(run: Run, most_bytes: int) -> Iterator[_Attempts]:
    """Attempts with all their files, so many at a time as go into one file."""
    part: _Attempts = {}
    size = 0
    for key in run.attempt_keys():
        folder = run.path / "trials" / key
        if not folder.is_dir():
            continue
        files = {path.name: path.read_bytes() for path in sorted(folder.iterdir())}
        _refuse_damaged(folder, files)
        more = sum(map(len, files.values()))
        if part and size + more > most_bytes:
            yield part
            part, size = {}, 0
        part[key] = files
        size += more
    if part:
        yield part


def _refuse_damaged(folder: Path, files: Mapping[str, bytes]) -> None:
    """Samples may be damaged: a report leaves them out."""
    sums = sums_of(files[SUMS], folder / SUMS) if SUMS in files else {}
    for name, data in files.items():
        if name in sums and not is_samples(name):
            checked(folder, name, data, sums)


def _written(run: Path, attempts: _Attempts) -> Path:
    there = packed_files(run)
    number = int(there[-1].stem) + 1 if there else 1
    path = run / PACKED / f"{number:04d}.parquet"
    file_appears(path, packed_bytes(attempts))
    return path


def _refuse_unlike(attempts: _Attempts, path: Path) -> None:
    """Reads back from the disk what was packed."""
    if read_all_packed(path) != attempts:
        path.unlink()
        raise RecordError(
            f"{path} is not what was packed",
            hint="nothing was deleted; check the disk and its free space",
            slug="record-is-damaged",
        )


def _delete_packed(run: Path) -> None:
    """Folders that a crash left after they were packed.

    Raises:
        RecordError: one is not what was packed.
    """
    places = packed_places(run)
    for key in sorted(key for key in places if (run / "trials" / key).is_dir()):
        folder = run / "trials" / key
        files = {path.name: path.read_bytes() for path in folder.iterdir()}
        if read_all_packed(places[key])[key] != files:
            raise RecordError(
                f"{folder} is not what is packed of it in {places[key]}",
                hint="nothing was deleted; restore the run from a backup",
                slug="record-is-damaged",
            )
        _delete(folder)


def _delete(folder: Path) -> None:
    """It loses its name first: half of a folder is no attempt."""
    hidden = folder.with_name(NEW + folder.name)
    folder.rename(hidden)
    sync_folder(folder.parent)
    shutil.rmtree(hidden)
