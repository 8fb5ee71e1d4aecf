"""Deleting a run, or what of it no verdict and no table reads; never one that is in use."""

from __future__ import annotations

import fcntl
import os
import shutil
import stat
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from steelyard.errors import RecordError
from steelyard.records.archive import Run
from steelyard.records.files.checksums import SUMS, read_sums
from steelyard.records.files.durable import NEW, file_appears, sync_folder

SCRATCH = "scratch"
_KEPT_BESIDE_LOADS = {"record.json", SUMS}
_BLOCK_BYTES = 512
"""The unit of ``st_blocks``, whatever the filesystem."""


def bytes_on_disk(paths: Iterable[Path]) -> int:
    """What files and folders with all in them take on the disk; links are not followed."""
    return sum(_status_bytes(each) for path in paths for each in _with_all_in_it(path))


def spare_files(run: Run) -> list[Path]:
    """What verdicts and tables of a report do not read: samples, raw output, scratch files."""
    if run.has_machines:
        return [path for part in run.parts() for path in spare_files(part)]
    found = [run.path / SCRATCH] if (run.path / SCRATCH).is_dir() else []
    trials = run.path / "trials"
    for attempt in sorted(trials.iterdir()) if _is_folder(trials) else ():
        if _is_folder(attempt):
            found += [each for each in sorted(attempt.iterdir()) if not _is_read(each)]
    return found


def delete_spare(run: Run) -> int:
    """Deletes them; how many bytes that frees.

    The list of checksums is shortened first: the rest is a whole run, whatever happens between.

    Raises:
        RecordError: the run is in use, or its checksums are damaged.
    """
    with held(run):
        spare = spare_files(run)
        freed = bytes_on_disk(spare)
        for folder in dict.fromkeys(path.parent for path in spare if path.name != SCRATCH):
            _shorten_sums(folder)
        for path in spare:
            shutil.rmtree(path) if _is_folder(path) else path.unlink()
        return freed


def delete_whole(run: Run) -> int:
    """Deletes a run with all in its folder; how many bytes that frees.

    Its folder loses its name first: what a crash leaves is cleared by the next run of the study.

    Raises:
        RecordError: the run is in use.
    """
    with held(run):
        freed = bytes_on_disk([run.path])
        hidden = run.path.with_name(NEW + run.name)
        run.path.rename(hidden)
        sync_folder(hidden.parent)
        shutil.rmtree(hidden)
        return freed


@contextmanager
def held(run: Run) -> Iterator[None]:
    """While nothing else writes the run, nor that of one of its machines: their controller holds
    the same locks.

    Raises:
        RecordError: it is being written.
    """
    with ExitStack() as stack:
        for part in run.parts():
            stack.enter_context(_held(part))
        yield


@contextmanager
def _held(run: Run) -> Iterator[None]:
    try:
        ledger = os.open(run.ledger_path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except FileNotFoundError:  # what another tool measured has none
        yield
        return
    try:
        fcntl.flock(ledger, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise RecordError(
            f"{run.path} is being written by another steelyard",
            hint="wait until it has ended, or end it with Ctrl-C; nothing was done",
            slug="run-is-in-use",
        ) from error
    else:
        yield
    finally:
        os.close(ledger)


def _is_read(path: Path) -> bool:
    name = path.name
    return name in _KEPT_BESIDE_LOADS or (name.startswith("load") and name.endswith(".json"))


def _shorten_sums(attempt: Path) -> None:
    sums = read_sums(attempt)
    if sums is not None:
        kept = {name: digest for name, digest in sums.items() if _is_read(attempt / name)}
        lines = [f"{digest}  {name}\n" for name, digest in kept.items()]
        file_appears(attempt / SUMS, "".join(lines).encode())


def _is_folder(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink()


def _with_all_in_it(path: Path) -> Iterator[Path]:
    yield path
    if _is_folder(path):
        for folder, folders, files in os.walk(path):
            yield from (Path(folder, name) for name in (*folders, *files))


def _status_bytes(path: Path) -> int:
    try:
        status = path.lstat()
    except FileNotFoundError:  # a running session removes its scratch files
        return 0
    shared = stat.S_ISREG(status.st_mode) and status.st_nlink > 1
    return status.st_blocks * _BLOCK_BYTES // (status.st_nlink if shared else 1)
