"""Sampled counters: a table of whole numbers, one row a sample, one column a counter.

Stored as compressed JSON, which every language reads; runs of earlier checkouts have Parquet, which
``pip install 'steelyard[parquet]'`` reads (``docs/decisions/064-a-small-environment.md``).
"""

from __future__ import annotations

import gzip
import io
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter

from steelyard.records.files.parquet import polars

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

ENDING = ".json.gz"
EARLIER_ENDING = ".parquet"
_MOST_BYTES = 2**30
"""Of what a file may become when it is unpacked."""
_FLAGS, _LAST_FLAGS = slice(3, 4), b"\x1f"
"""Of a gzip file: beyond them are reserved flags, which zlib refuses and isal passes over."""
_UNREADABLE = "it is no gzip file, or is damaged, cut, or larger than any samples"
"""One for all: each library has its own words."""

Column = list[int | None]
"""``None`` where the kernel has no value."""
_COLUMNS = TypeAdapter(dict[str, Column])


@dataclass(frozen=True)
class Counters:
    """Columns by name, all of the same length."""

    columns: Mapping[str, Column]

    def __len__(self) -> int:
        """How many samples."""
        return len(next(iter(self.columns.values()), ()))

    def __getitem__(self, column: str) -> Column:
        return self.columns[column]

    def floats(self, column: str) -> npt.NDArray[np.float64]:
        """Not a number where the counter has no value."""
        import numpy as np  # noqa: PLC0415 - slow to load; who opens a run computes nothing

        if column not in self._floats:
            self._floats[column] = np.array(self.columns[column], dtype=np.float64)
        return self._floats[column]

    @cached_property
    def _floats(self) -> dict[str, npt.NDArray[np.float64]]:
        """Those that were asked for: several resources are computed of the same columns."""
        return {}

    def rows(self) -> Iterator[tuple[int | None, ...]]:
        """Sample by sample."""
        return zip(*self.columns.values(), strict=True)

    def beside(self, **columns: Column) -> Counters:
        """The same with more columns, or with others of these names."""
        return Counters({**self.columns, **columns})

    def between(self, column: str, low: int, high: int) -> Counters:
        """The samples whose ``column`` lies between these, both included."""
        inside = [v is not None and low <= v <= high for v in self.columns[column]]
        kept = [place for place, found in enumerate(inside) if found]
        return Counters({name: [v[place] for place in kept] for name, v in self.columns.items()})


def stored(counters: Counters) -> bytes:
    """As a file; the same counters are always the same bytes."""
    return gzip.compress(_COLUMNS.dump_json(dict(counters.columns)), compresslevel=6, mtime=0)


def counters_of(data: bytes, name: str) -> Counters:
    """The counters in a file of this name.

    Raises:
        ValueError: it is damaged.
        HostError: it is Parquet, and what reads that is not installed.
    """
    if name.endswith(EARLIER_ENDING):
        return _of_parquet(data)
    columns = _COLUMNS.validate_json(_unpacked(data), strict=True)
    if len({len(column) for column in columns.values()}) > 1:
        raise ValueError("its columns differ in length")
    return Counters(columns)


def _unpacked(data: bytes) -> bytes:
    library = deflate()
    unpacking = library.decompressobj(wbits=31)
    try:
        text: bytes = unpacking.decompress(data, _MOST_BYTES)
    except library.error as error:
        raise ValueError(_UNREADABLE) from error
    if not unpacking.eof or data[_FLAGS] > _LAST_FLAGS:
        raise ValueError(_UNREADABLE)
    return text


@cache
def deflate() -> Any:
    """``isal``, which unpacks several times as fast; ``zlib`` on processors that it is not for."""
    try:
        return import_module("isal.isal_zlib")
    except ImportError:
        return import_module("zlib")


def _of_parquet(data: bytes) -> Counters:
    pl = polars()
    try:
        frame = pl.read_parquet(io.BytesIO(data))
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise ValueError(str(error)) from error
    return Counters({name: frame[name].to_list() for name in frame.columns})
