"""Simulated studies on several machines, each with a random order and a noise of its own.

Where the effects of the machines have the mean 0, a difference on all of these is false, however
far they are apart. Where machines are drawn from many whose mean effect is 0, a difference on
others like them is false.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from tests.calibration.batched import MARGIN
from tests.calibration.cells import big_stick, generator_of
from tests.calibration.gate import ALPHA
from tests.calibration.noises import Values, named
from tests.calibration.tally import Tally

from steelyard.inference import machines
from steelyard.inference.confidence import Interval
from steelyard.inference.exact import Pool
from steelyard.inference.randomisation import big_stick as simulated
from steelyard.inference.ratio_tests import Inference
from steelyard.inference.sequential import Decision, VerdictWord
from steelyard.inference.stream import Stream

PATHS = 1_000
VISITS = 24
_DIFFERENCES = {VerdictWord.FASTER, VerdictWord.SLOWER}
_ALIKE, _UNEVEN = (1.0, 1.0, 1.0), (0.5, 1.0, 3.0)
_NONE, _APART, _FAR = (0.0, 0.0, 0.0), (0.05, 0.0, -0.05), (0.3, -0.1, -0.2)


@dataclass(frozen=True)
class Laboratory:
    """A population of studies on machines whose noise is that of ``noise`` times ``scales``.

    ``effects`` are those of the machines, as logarithms. ``sampled``: each study draws its machines
    from many, whose effects have this standard deviation about 0.
    """

    noise: str
    scales: tuple[float, ...]
    effects: tuple[float, ...] = ()
    sampled: float = 0.0
    visits: int = VISITS
    paths: int = PATHS

    @property
    def name(self) -> str:
        parts = [f"machines: {self.noise}", f"scales {self.scales}"]
        parts += [f"sampled {self.sampled:g}"] if self.sampled else [f"effects {self.effects}"]
        parts += [f"{self.visits} visits"] if self.visits != VISITS else []
        return ", ".join(parts)

    def studies(self, batch: int, count: int) -> Iterator[tuple[Stream, Values]]:
        """Each measured to the end of its budget, and the true effects of its machines."""
        rng = generator_of(self.name, batch)
        orders = [simulated(self.paths, self.visits, rng) for _ in self.scales]
        for _ in range(count):
            effects = np.array(self.effects)
            if self.sampled:
                effects = rng.normal(0.0, self.sampled, len(self.scales))
            streams = []
            for scale, effect, drawn in zip(self.scales, effects, orders, strict=True):
                signs = big_stick(1, self.visits, rng)[:, 0]
                values = scale * named(self.noise)(rng, self.visits) + effect * (signs > 0)
                streams.append(Stream(values, signs > 0, Pool(signs, drawn), self.visits))
            yield machines.together(streams), effects


CASES = (
    Laboratory("independent 2 %", _ALIKE, _NONE),
    Laboratory("independent 2 %", _ALIKE, _APART),
    Laboratory("independent 2 %", _UNEVEN, _APART),
    Laboratory("independent 2 %", _UNEVEN, _APART[::-1]),
    Laboratory("independent 2 %", _ALIKE, _FAR),
    Laboratory("t with 3 df, 2 %", _ALIKE, _APART),
    Laboratory("drift 2 % a visit", _ALIKE, _APART),
    Laboratory("AR(1) 0.9", _ALIKE, _APART),
    Laboratory("bimodal 6 %", _UNEVEN, _APART),
    Laboratory("independent 2 %", (1.0,) * 6, sampled=0.03),
    Laboratory("AR(1) 0.9", (1.0,) * 9, sampled=0.03),
)


def false_on_all(case: Laboratory, batch: int, studies: int) -> int:
    """Studies that call systems different on all of these, whose mean effect is 0."""
    decided = (_decided(stream) for stream, _ in case.studies(batch, studies))
    return sum(bool(_DIFFERENCES & set(each.words)) for each in decided)


def told_apart(case: Laboratory, batch: int, studies: int) -> Tally:
    """Studies with a false difference on all of these, whose interval misses the mean, with any
    deviation outside its interval, and with a false difference on others like them.
    """
    counts: Counter[str] = Counter()
    for stream, effects in case.studies(batch, studies):
        mean = float(effects.mean())
        if not case.sampled:
            counts["wrong"] += bool(_DIFFERENCES & set(_decided(stream).words))
        counts["missed"] += not _holds(_interval(stream), mean)
        deviations = machines.deviations(stream, ALPHA) or []
        counts["deviations missed"] += not all(
            _holds(each.interval, float(effect) - mean)
            for each, effect in zip(deviations, effects, strict=True)
        )
        others = machines.others_like_them(stream, ALPHA)
        counts["others wrong"] += others is not None and not _holds(others.mean, 0.0)
    return Tally(studies, counts)


def _decided(stream: Stream) -> Decision:
    return Inference.of(stream).decide(MARGIN, ALPHA)


def _interval(stream: Stream) -> Interval:
    tests = Inference.of(stream)
    found = tests.estimate()
    assert found is not None
    return tests.sizes(MARGIN, [ALPHA / 2], found.ratio_log)[0].present


def _holds(interval: Interval, value: float) -> bool:
    low, high = interval
    return (low is None or low <= value) and (high is None or value <= high)
