"""Attempts in a few Parquet files, in place of a folder each: every file of them, byte for byte.

``packed/0001.parquet`` has a row for each file: ``attempt``, ``name``, ``sha256``, ``data``. Rows
are in the order of name, then attempt, so that what is alike lies together: facts that are the
same in every trial, and the descriptions of columns that samples begin with, take next to nothing.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from steelyard.errors import RecordError
from steelyard.records.files.documents import RESTORE
from steelyard.records.files.parquet import polars

PACKED = "packed"
_TEXTS, _BYTES = ("attempt", "name", "sha256"), "data"
_LEVEL = 9
_PAGE_BYTES = 8 * 2**20
_GROUP_ROWS = 1000


class PackedFile(NamedTuple):
    """Bytes that have this digest."""

    data: bytes
    sha256: str


Files = Mapping[str, PackedFile | None]
"""Files of an attempt by name; ``None`` where the bytes were not asked for."""


def packed_files(run: Path) -> list[Path]:
    """Those of a run, in the order in which they were written."""
    return sorted((run / PACKED).glob("[0-9]*.parquet"))


def packed_bytes(attempts: Mapping[str, Mapping[str, bytes]]) -> bytes:
    """One file of ``packed/`` with these attempts, each with its files by name."""
    rows = sorted(
        (name, key, data) for key, files in attempts.items() for name, data in files.items()
    )
    pl = polars()
    frame = pl.DataFrame(
        {
            "attempt": [key for _, key, _ in rows],
            "name": [name for name, _, _ in rows],
            "sha256": [hashlib.sha256(data).hexdigest() for _, _, data in rows],
            "data": [data for _, _, data in rows],
        },
        schema=_schema(),
    )
    stored = io.BytesIO()
    frame.write_parquet(
        stored,
        compression="zstd",
        compression_level=_LEVEL,
        data_page_size=_PAGE_BYTES,
        row_group_size=_GROUP_ROWS,
    )
    return stored.getvalue()


def packed_places(run: Path) -> dict[str, Path]:
    """Which file of ``packed/`` holds an attempt, by its key.

    Raises:
        RecordError: a file cannot be read.
        HostError: what reads it is not installed.
    """
    paths = packed_files(run)
    pl: Any = polars() if paths else None
    return {
        key: path
        for path in paths
        for key in _collected(path, pl.scan_parquet(path).select("attempt").unique())["attempt"]
    }


def read_packed(path: Path, wanted: Iterable[str]) -> dict[str, Files]:
    """The attempts of one file, with the bytes of files whose names begin as one of ``wanted``.

    Of what is not wanted nothing but the names is read.

    Raises:
        RecordError: it cannot be read, or is not what was written.
        HostError: what reads it is not installed.
    """
    pl = polars()
    rows = _collected(path, pl.scan_parquet(path).select("attempt", "name"))
    names = rows.group_by("attempt").agg("name").iter_rows()
    attempts: dict[str, dict[str, PackedFile | None]] = {
        key: dict.fromkeys(of) for key, of in names
    }
    for begin in wanted:
        of_name = pl.col("name").str.starts_with(begin)
        found = _collected(path, pl.scan_parquet(path).filter(of_name))
        for key, name, digest, data in found.iter_rows():
            if hashlib.sha256(data).hexdigest() != digest:
                raise _damaged(path, f"{key}/{name} is not what was written")
            attempts[key][name] = PackedFile(data, digest)
    return dict(attempts)


def read_all_packed(path: Path) -> dict[str, dict[str, bytes]]:
    """All bytes of one file, by attempt and name.

    Raises:
        RecordError: it cannot be read, or is not what was written.
        HostError: what reads it is not installed.
    """
    return {
        key: {name: each.data for name, each in files.items() if each is not None}
        for key, files in read_packed(path, [""]).items()
    }


def _collected(path: Path, frame: Any) -> Any:
    errors = polars().exceptions
    try:
        found = frame.collect()
    except (errors.PolarsError, OSError, errors.PanicException) as error:
        raise _damaged(path, f"it cannot be read: {str(error).splitlines()[0]}") from error
    known = _schema()
    if any(known.get(name) != kind for name, kind in found.schema.items()):
        raise _damaged(path, "its columns are not those of attempts")
    return found


def _schema() -> dict[str, Any]:
    pl = polars()
    return {**dict.fromkeys(_TEXTS, pl.String), _BYTES: pl.Binary}


def _damaged(path: Path, what: str) -> RecordError:
    return RecordError(f"{path}: {what}", hint=RESTORE, slug="record-is-damaged")
