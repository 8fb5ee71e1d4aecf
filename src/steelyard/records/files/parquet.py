"""What reads and writes Parquet: not installed unless it is asked for, because it weighs 190 MB."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

from steelyard.errors import HostError


def parquet_is_read() -> bool:
    """Whether it is installed."""
    return find_spec("polars") is not None


def polars(extra: str = "parquet") -> Any:
    """The library.

    Raises:
        HostError: it is not installed; ``extra`` brings it.
    """
    try:
        import polars as library  # noqa: PLC0415, ICN001 - of an extra
    except ImportError as error:
        raise HostError(
            "polars, which reads and writes Parquet, is not installed",
            hint=f"pip install 'steelyard[{extra}]'",
            slug="no-parquet",
        ) from error
    return library
