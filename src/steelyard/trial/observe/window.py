"""What the sampled counters say of the measuring window: rates, peaks, shares.

Pure. A rate is taken between the first and the last sample inside the window, so that nothing
before or after it leaks in and nothing is interpolated.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from steelyard.engine.messages import Samples
from steelyard.records.counters import Counters
from steelyard.records.missing import ColumnMissing, Missing, Quoted, TooFewSamples

_FEWEST = 2


def counters_of(samples: Samples) -> Counters:
    """``monotonic_ns``, ``read_ns`` and every counter."""
    return Counters(
        {
            "monotonic_ns": [*samples.monotonic_ns],
            "read_ns": [*samples.read_ns],
            **samples.columns,
        }
    )


@dataclass(frozen=True)
class WindowSamples:
    """The samples inside one window, ``start_ns..end_ns`` on the clock of their machine.

    ``length_s`` is that of the window, which its first and last sample need not fill. ``unsampled``
    says why there is no sample at all; ``missing`` is what the sampler says of counters.
    """

    counters: Counters
    missing: dict[str, str]
    length_s: float | None = None
    unsampled: Missing | None = None

    @staticmethod
    def none(why: Missing) -> WindowSamples:
        """Of a machine that was not sampled."""
        return WindowSamples(Counters({}), {}, unsampled=why)

    @staticmethod
    def cut(
        counters: Counters, missing: dict[str, str], start_ns: int, end_ns: int
    ) -> WindowSamples:
        inside = counters.between("monotonic_ns", start_ns, end_ns)
        return WindowSamples(inside, missing, (end_ns - start_ns) / 1e9)

    def why_missing(self, column: str) -> Missing | None:
        """Why there is no rate or peak for ``column``; ``None`` when there is one."""
        if self.unsampled is not None:
            return self.unsampled
        if column not in self.counters.columns:
            return self._reported(column, "column_not_sampled")
        if len(self.counters) < _FEWEST:
            return TooFewSamples(samples=len(self.counters), needed=_FEWEST)
        if None in self.counters[column]:
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
        return self._grown("monotonic_ns") / 1e9 if len(self.counters) else 0.0

    def rate_per_s(self, column: str) -> float | None:
        """Growth of a counter a second."""
        if self.why_missing(column) is not None:
            return None
        return self._grown(column) * 1e9 / self._grown("monotonic_ns")

    def peak(self, *columns: str) -> float | None:
        """Largest sampled value of a gauge, or of several together."""
        if any(self.why_missing(column) is not None for column in columns):
            return None
        together = sum(self.counters.floats(column) for column in columns)
        return float(np.max(together))

    def mean(self, column: str) -> float | None:
        """Of a gauge, over the samples that have a value."""
        if self.unsampled is not None or column not in self.counters.columns:
            return None
        known = [value for value in self.counters[column] if value is not None]
        return sum(known) / len(known) if known else None

    def share_above_zero(self, column: str) -> float | None:
        """In which share of the samples a gauge was not zero."""
        if self.why_missing(column) is not None:
            return None
        return float(np.mean(self.counters.floats(column) > 0))

    def _grown(self, column: str) -> float:
        first, last = self.counters[column][0], self.counters[column][-1]
        return float((last or 0) - (first or 0))


@dataclass(frozen=True)
class Sampled:
    """What was seen of one machine: one row a sample, with the reasons for what is not there."""

    counters: Counters
    missing: dict[str, str]
    rows_lost: int

    def window(self, start_ns: int, end_ns: int) -> WindowSamples:
        """The samples between two moments of the controller's clock."""
        inside = self.counters.between("controller_ns", start_ns, end_ns)
        return WindowSamples(inside, self.missing, (end_ns - start_ns) / 1e9)
