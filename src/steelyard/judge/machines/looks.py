"""All machines after so many visits of a pair on each, and their visits as one series."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from steelyard.inference import machines
from steelyard.inference.noise.robust import Floats
from steelyard.inference.ratio_tests import Inference
from steelyard.inference.stream import Stream
from steelyard.judge.comparisons.families import Comparison
from steelyard.judge.comparisons.withholding import invalid_unequal
from steelyard.judge.visits.series import Series, Visits, without_variation


@dataclass(frozen=True)
class Look:
    """All machines after so many visits of the pair on each; ``on`` is what they are read from."""

    on: Mapping[str, Visits]
    series: Mapping[str, Series]
    streams: Mapping[str, Stream]

    @classmethod
    def of(
        cls, comparison: Comparison, on: Mapping[str, Visits], *, keep_failed: bool = False
    ) -> Look:
        """All visits; attempts that failed are kept where leaving them out would favour one."""
        series = {
            name: without_variation(
                own.series(
                    comparison.pair,
                    comparison.response,
                    comparison.conditions,
                    keep_failed=keep_failed or invalid_unequal(comparison, own) is not None,
                )
            )
            for name, own in on.items()
        }
        streams = {
            name: on[name].tests(each, comparison.pair, exploratory=comparison.exploratory).stream
            for name, each in series.items()
            if not each.problems and len(each.values)
        }
        return cls(on, series, streams)

    @property
    def least(self) -> int:
        """So many visits there are on each machine."""
        return min(len(each.values) for each in self.series.values())

    def tests(self) -> Inference:
        return Inference.of(machines.together([*self.streams.values()]))

    def first(self, visits: int) -> Look:
        return Look(
            self.on,
            {name: _first(each, visits) for name, each in self.series.items()},
            {name: _first_of(each, visits) for name, each in self.streams.items()},
        )

    def with_values(self, machine: str, values: Floats) -> Look:
        changed = replace(self.streams[machine], values=values)
        return replace(self, streams={**self.streams, machine: changed})


def in_turn(series: Mapping[str, Series]) -> Series:
    """The visits of all machines, each number as often as there are machines.

    Values are what a visit differs from its arm on its machine, beside the mean effect: spreads
    are then those within machines. No visit follows another here: that is asked on each machine.
    """
    count = min(len(each.values) for each in series.values())
    known = [_first(each, count) for each in series.values()]
    gaps = [_gap(each) for each in known]
    mean = float(np.mean([gap for gap in gaps if gap is not None] or [0.0]))
    turns = tuple(range(1, count + 1))
    several = len(known)
    return Series(
        visits=tuple(visit for visit in turns for _ in range(several)),
        slots=tuple(range(count * several)),
        other=np.stack([each.other for each in known], axis=1).ravel(),
        values=np.stack([_aligned(each, mean) for each in known], axis=1).ravel(),
        problems=(),
        before=(None,) * (count * several),
    )


def _gap(series: Series) -> float | None:
    if not series.n_other or not series.n_baseline:
        return None
    return float(series.values[series.other].mean() - series.values[~series.other].mean())


def _aligned(series: Series, mean_log: float) -> Floats:
    """Residuals of each arm of a machine, the other arm beside the mean effect of all machines."""
    found = series.values.copy()
    for arm, level in ((series.other, mean_log), (~series.other, 0.0)):
        if arm.any():
            found[arm] += level - found[arm].mean()
    return found


def _first(series: Series, count: int) -> Series:
    return replace(
        series,
        visits=series.visits[:count],
        slots=series.slots[:count],
        other=series.other[:count],
        values=series.values[:count],
        before=series.before[:count],
        covariate=None if series.covariate is None else series.covariate[:count],
    )


def _first_of(stream: Stream, count: int) -> Stream:
    return replace(
        stream,
        values=stream.values[:count],
        other=stream.other[:count],
        pool=stream.pool.first(count),
        covariate=None if stream.covariate is None else stream.covariate[:count],
    )
