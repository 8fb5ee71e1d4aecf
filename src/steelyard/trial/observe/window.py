"""What the sampled counters say of the measuring window: rates, peaks, shares.

Pure. A rate is taken between the first and the last sample inside the window, so that nothing
before or after it leaks in and nothing is interpolated.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import polars as pl

from steelyard.engine.messages import Samples
from steelyard.records.missing import ColumnMissing, Missing, Quoted, TooFewSamples

_FEWEST = 2


def samples_frame(samples: Samples) -> pl.DataFrame:
    """One row a sample: ``monotonic_ns``, ``read_ns`` and every counter, null where unknown."""
    columns: dict[str, list[int] | list[int | None]] = {
        "monotonic_ns": samples.monotonic_ns,
        "read_ns": samples.read_ns,
        **samples.columns,
    }
    series = [pl.Series(name, values, dtype=pl.Int64) for name, values in columns.items()]
    return pl.DataFrame(series)


@dataclass(frozen=True)
class WindowSamples:
    """The samples inside one window, ``start_ns..end_ns`` on the clock of their machine.

    ``length_s`` is that of the window, which its first and last sample need not fill. ``unsampled``
    says why there is no sample at all; ``missing`` is what the sampler says of counters.
    """

    frame: pl.DataFrame
    missing: dict[str, str]
    length_s: float | None = None
    unsampled: Missing | None = None

    @staticmethod
    def none(why: Missing) -> WindowSamples:
        """Of a machine that was not sampled."""
        return WindowSamples(pl.DataFrame(), {}, unsampled=why)

    @staticmethod
    def cut(
        frame: pl.DataFrame, missing: dict[str, str], start_ns: int, end_ns: int
    ) -> WindowSamples:
        inside = pl.col("monotonic_ns").is_between(start_ns, end_ns)
        return WindowSamples(frame.filter(inside), missing, (end_ns - start_ns) / 1e9)

    def why_missing(self, column: str) -> Missing | None:
        """Why there is no rate or peak for ``column``; ``None`` when there is one."""
        if self.unsampled is not None:
            return self.unsampled
        if column not in self.frame.columns:
            return self._reported(column, "column_not_sampled")
        if self.frame.height < _FEWEST:
            return TooFewSamples(samples=self.frame.height, needed=_FEWEST)
        if self.frame[column].null_count():
            return self._reported(column, "column_not_reported")
        return None

    def _reported(
        self, column: str, kind: Literal["column_not_sampled", "column_not_reported"]
    ) -> Missing:
        if column in self.missing:
            return Quoted(kind="sampler_reported", said=self.missing[column])
        return ColumnMissing(kind=kind, column=column)

    @property
    def span_s(self) -> float:
        """From the first sample in the window to the last."""
        clock = self.frame["monotonic_ns"]
        return float(clock[-1] - clock[0]) / 1e9 if len(clock) else 0.0

    def rate_per_s(self, column: str) -> float | None:
        """Growth of a counter a second."""
        if self.why_missing(column) is not None:
            return None
        counter, clock = self.frame[column], self.frame["monotonic_ns"]
        return float(counter[-1] - counter[0]) * 1e9 / float(clock[-1] - clock[0])

    def peak(self, *columns: str) -> float | None:
        """Largest sampled value of a gauge, or of several together."""
        if any(self.why_missing(column) is not None for column in columns):
            return None
        return float(self.frame.select(pl.sum_horizontal(columns)).to_numpy().max())


@dataclass(frozen=True)
class Sampled:
    """What was seen of one machine: one row a sample, with the reasons for what is not there."""

    frame: pl.DataFrame
    missing: dict[str, str]
    rows_lost: int

    def window(self, start_ns: int, end_ns: int) -> WindowSamples:
        """The samples between two moments of the controller's clock."""
        inside = pl.col("controller_ns").is_between(start_ns, end_ns)
        length_s = (end_ns - start_ns) / 1e9
        return WindowSamples(self.frame.filter(inside), self.missing, length_s)
