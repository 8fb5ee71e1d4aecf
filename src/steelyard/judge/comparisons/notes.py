"""What must be read beside a verdict: the notes on one comparison, the gravest first."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from statistics import median

import numpy as np

from steelyard.inference.assumptions.carry_over import carry_over
from steelyard.inference.assumptions.diagnostics import Shape
from steelyard.inference.estimate import Estimate, visits_to_decide
from steelyard.inference.sequential import VerdictWord
from steelyard.inference.spending import FIRST_LOOK
from steelyard.judge.comparisons.comparison import Judged
from steelyard.judge.comparisons.families import Comparison
from steelyard.judge.comparisons.guardrails import CheckedGuardrail
from steelyard.judge.kinds.verdict_notes import (
    CapPossible,
    CarryOverFound,
    CarryOverPossible,
    EffectChanges,
    GuardrailNotChecked,
    InvalidUnequal,
    MarginBelowResolution,
    NeverFailed,
    OneConstant,
    SpreadsDiffer,
    StallsDiffer,
    StoppedEarly,
    TooFewVisits,
    ValuesUndefined,
    VerdictNote,
    Withheld,
)
from steelyard.judge.visits.pairs import Pair
from steelyard.judge.visits.series import Series, Visits
from steelyard.study.declared.responses import is_of_event

_EXAGGERATED_BELOW_SDS = 2.5
_IDLE = 0.5
_ALIKE_LOG = 0.01
_DIFFERENCES = (VerdictWord.FASTER, VerdictWord.SLOWER)


def notes_on(
    comparison: Comparison,
    series: Series,
    *,
    words: tuple[VerdictWord, ...],
    withheld: Withheld | None,
    guardrails: tuple[CheckedGuardrail, ...] = (),
    invalid: InvalidUnequal | None = None,
    horizon: int | None,
    found: Estimate | None,
    shape: Shape,
    margin_log: float,
    changes: EffectChanges | None,
) -> Iterator[VerdictNote]:
    """All but the reason why a decision is ``withheld``."""
    if series.problems:
        return
    if invalid is not None:
        yield invalid
    yield from _undefined(comparison, series)
    yield from _never_failed(comparison, series)
    yield from _not_checked(guardrails)
    if len(series.visits) < FIRST_LOOK:
        yield TooFewVisits(visits=len(series.visits), needed=FIRST_LOOK)
    if changes is not None and not isinstance(withheld, EffectChanges):
        yield changes
    yield from _shape(shape, series, comparison.pair)
    yield from _carry_over(comparison.pair, series, margin_log, withheld)
    if withheld is None:
        yield from _below_resolution(comparison, words, found, margin_log, horizon)
    yield from _stopped_early(series, words, horizon, found)


def _undefined(comparison: Comparison, series: Series) -> Iterator[ValuesUndefined]:
    """Visits beyond all values, which have a rank and no ratio."""
    of_baseline, of_other = series.n_undefined
    if of_baseline or of_other:
        yield ValuesUndefined(
            label=comparison.response.label,
            baseline=comparison.pair.baseline,
            other=comparison.pair.other,
            undefined_baseline=of_baseline,
            visits_baseline=series.n_baseline,
            undefined_other=of_other,
            visits_other=series.n_other,
            why="not_recovered" if is_of_event(comparison.response.name) else "operations_failed",
        )


def _never_failed(comparison: Comparison, series: Series) -> Iterator[NeverFailed]:
    pair = comparison.pair
    names = zip((pair.baseline, pair.other), series.never, strict=True)
    systems = tuple(name for name, never in names if never)
    if systems:
        yield NeverFailed(label=comparison.response.label, systems=systems)


def _not_checked(guardrails: tuple[CheckedGuardrail, ...]) -> Iterator[GuardrailNotChecked]:
    for guardrail in guardrails:
        if guardrail.reason is not None and not guardrail.spec.declared:
            yield GuardrailNotChecked(label=guardrail.spec.label, reason=guardrail.reason)


def _shape(
    shape: Shape, series: Series, pair: Pair
) -> Iterator[SpreadsDiffer | OneConstant | StallsDiffer]:
    ratio = shape.spread_ratio
    if ratio is not None and shape.spreads_differ:
        yield SpreadsDiffer(
            wider=pair.other if ratio > 1 else pair.baseline,
            ratio=max(ratio, 1 / ratio),
            chance=shape.spread_chance,
            visits_baseline=series.n_baseline,
            visits_other=series.n_other,
        )
    if shape.one_is_constant:
        yield OneConstant(
            visits_baseline=series.n_baseline,
            visits_other=series.n_other,
        )
    if shape.stalls_differ:
        yield StallsDiffer(
            baseline=pair.baseline,
            other=pair.other,
            stall_rate_baseline=shape.stall_rate_baseline or 0.0,
            stall_rate_other=shape.stall_rate_other or 0.0,
        )


def _carry_over(
    pair: Pair, series: Series, margin_log: float, withheld: Withheld | None
) -> Iterator[CarryOverFound | CarryOverPossible]:
    """Carry-over that shows, also while nothing is decided that it would forbid."""
    known = series.defined()
    left = carry_over(known.values, known.other, known.slots, known.before)
    if left is None or not left.shows:
        return
    felt_by = pair.other if left.in_other else pair.baseline
    if not left.forbids(margin_log):
        yield CarryOverPossible(system=felt_by, low_log=left.low_log, high_log=left.high_log)
    elif not isinstance(withheld, CarryOverFound):
        yield CarryOverFound(system=felt_by, low_log=left.low_log, high_log=left.high_log)


def _below_resolution(
    comparison: Comparison,
    words: tuple[VerdictWord, ...],
    found: Estimate | None,
    margin_log: float,
    horizon: int | None,
) -> Iterator[MarginBelowResolution]:
    """A margin that no budget of this size can reach with this noise."""
    if words or found is None or horizon is None or not found.standard_error_log:
        return
    equal = Estimate(0.0, found.noise_log * 2 / math.sqrt(horizon), found.noise_log)
    more = visits_to_decide(equal, horizon, margin_log, comparison.share)
    if more is None or more > horizon:
        yield MarginBelowResolution(
            margin_log=margin_log, noise_log=found.noise_log, visits=horizon
        )


def _stopped_early(
    series: Series, words: tuple[VerdictWord, ...], horizon: int | None, found: Estimate | None
) -> Iterator[StoppedEarly]:
    if horizon is None or found is None or len(series.visits) >= horizon:
        return
    small = abs(found.ratio_log) < _EXAGGERATED_BELOW_SDS * found.noise_log
    if small and any(word in _DIFFERENCES for word in words):
        yield StoppedEarly(visits=len(series.visits), budget_visits=horizon)


def cap_possible(judged: Judged, readings: Visits) -> CapPossible | None:
    """A rate limit, the speed of a link or the pace of the generator: equal beside idle CPUs."""
    found, series = judged.estimate(), judged.series.defined()
    if judged.comparison.response.name != "throughput" or found is None:
        return None
    if VerdictWord.EQUIVALENT not in judged.words or abs(found.ratio_log) > _ALIKE_LOG:
        return None
    spread = max(float(np.std(series.values[arm])) for arm in (series.other, ~series.other))
    used = [readings.cpu_ratio(visit) for visit in series.visits]
    one, another = (_middle([u for u, m in zip(used, arm, strict=True) if m]) for arm in
                    (~series.other, series.other))  # fmt: skip
    if one is None or another is None or max(one, another) > _IDLE or spread > _ALIKE_LOG:
        return None
    return CapPossible(cpu_baseline=one, cpu_other=another, spread_log=spread)


def _middle(used: Sequence[float | None]) -> float | None:
    known = [each for each in used if each is not None]
    return median(known) if known and len(known) == len(used) else None
