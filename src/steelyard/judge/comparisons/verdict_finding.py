"""The finding of one comparison: word, ratio, interval, notes, all in the raw response."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from steelyard.inference.assumptions.diagnostics import Shape, change_of, shape_of
from steelyard.inference.assumptions.own_memory import LAGS, OwnMemory, own_memory
from steelyard.inference.confidence import UNBOUNDED, Interval, Size, with_estimate
from steelyard.inference.estimate import Estimate, raw_ratio_log
from steelyard.inference.noise.detrend import movements
from steelyard.inference.ratio_tests import Inference
from steelyard.inference.sequential import VerdictWord
from steelyard.judge.comparisons.comparison import Judged
from steelyard.judge.comparisons.forecast import forecast
from steelyard.judge.comparisons.interference_checks import interference_unequal
from steelyard.judge.comparisons.notes import cap_possible, notes_on
from steelyard.judge.comparisons.withholding import veto
from steelyard.judge.findings import DecidingLook, VerdictFinding
from steelyard.judge.kinds.verdict_notes import (
    EffectChanges,
    EstimateAdjusted,
    SpanDisagrees,
    VerdictNote,
    VisitsDepend,
    Withheld,
)
from steelyard.judge.visits.series import Visits


class SizeSoFar(NamedTuple):
    """Estimate and interval of all visits so far, in the raw response; that of *equivalent* where
    it is the word, and of the look that decided where those of all visits deny the word.
    """

    estimate_log: float
    low_log: float | None
    high_log: float | None


class _Sizes(NamedTuple):
    """What every two-sided verdict prints, and what *equivalent* does; good direction."""

    two_sided: Size
    equivalence: Size | None


def finding(judged: Judged, readings: Visits, margin_log: float) -> VerdictFinding:
    """All findings of one comparison, in the raw response.

    What would forbid a verdict now and did not when it was decided stands beside it.
    """
    comparison, series = judged.comparison, judged.series
    sign = _sign(judged)
    found = _estimate(judged)
    known = series.defined()
    shape = shape_of(known.values, known.other)
    sizes = _sizes(judged.tests, judged, margin_log, found)
    low, high = sizes.two_sided.present.signed(sign)
    inner = UNBOUNDED if sizes.equivalence is None else sizes.equivalence.present.signed(sign)
    memory = _own_memory(judged, found)
    return VerdictFinding(
        response=comparison.response.name,
        baseline=comparison.pair.baseline,
        other=comparison.pair.other,
        conditions=comparison.conditions,
        word=judged.word,
        words=judged.words or (judged.word,),
        margin_log=margin_log,
        alpha=comparison.alpha,
        family=comparison.family,
        estimate_log=None if found is None else sign * found.ratio_log,
        low_log=low,
        high_log=high,
        interval_level=1 - comparison.share,
        equivalence_low_log=inner.low,
        equivalence_high_log=inner.high,
        n_baseline=series.n_baseline,
        n_other=series.n_other,
        decided_at_visit=judged.decided_at_visit,
        deciding_look=_deciding_look(judged, sizes, margin_log, sign),
        span_s=_span_s(judged, readings),
        noise_log=None if found is None else found.noise_log,
        visits_to_decide=forecast(judged, readings, margin_log),
        exploratory=comparison.exploratory,
        spread_ratio=None if series.problems else shape.spread_ratio,
        stall_rate_baseline=None if series.problems else shape.stall_rate_baseline,
        stall_rate_other=None if series.problems else shape.stall_rate_other,
        memory_chance=None if memory is None else memory.chance,
        withheld=judged.withheld,
        withheld_visits=len(judged.said.series.visits) if judged.withheld else None,
        not_judged=series.problems,
        guardrails=tuple(each.finding() for each in judged.said.guardrails),
        notes=tuple(
            dict.fromkeys(
                _notes(
                    judged,
                    readings,
                    margin_log,
                    size=sizes.two_sided,
                    found=found,
                    shape=shape,
                    memory=memory,
                )
            )
        ),
    )


def _notes(
    judged: Judged,
    readings: Visits,
    margin_log: float,
    *,
    size: Size,
    found: Estimate | None,
    shape: Shape,
    memory: OwnMemory | None,
) -> Iterator[VerdictNote]:
    """What a reader has to know beside the verdict, the gravest first."""
    sign = _sign(judged)
    yield from _later(judged, readings, margin_log)
    yield from _disturbed(judged, readings)
    yield from _depend(judged, memory)
    yield from _adjusted(judged, size, found, sign)
    if not _on_several(judged):
        yield from filter(None, [cap_possible(judged, readings)])
    yield from notes_on(
        judged.comparison,
        judged.series,
        words=judged.words,
        withheld=judged.withheld,
        guardrails=judged.said.guardrails,
        invalid=judged.present.invalid,
        horizon=_horizon(judged.tests),
        found=found,
        shape=shape,
        margin_log=margin_log,
        changes=_changes(judged, size, found, sign),
    )


def _sign(judged: Judged) -> int:
    """From the good direction to the raw response."""
    return -1 if judged.comparison.response.direction == "lower" else 1


def size_so_far(judged: Judged, margin_log: float) -> SizeSoFar | None:
    """What the finding of this comparison would say of its size; ``None`` while there is none."""
    found = _estimate(judged)
    if found is None or judged.tests is None:
        return None
    sign = _sign(judged)
    sizes = _sizes(judged.tests, judged, margin_log, found)
    decided = _deciding_look(judged, sizes, margin_log, sign)
    if decided is not None:
        return SizeSoFar(decided.estimate_log, decided.low_log, decided.high_log)
    low, high = _size_of_the_word(judged, sizes).present.signed(sign)
    return SizeSoFar(sign * found.ratio_log, low, high)


def _estimate(judged: Judged) -> Estimate | None:
    """``None`` of a difference from visits in which nothing failed: it has no size."""
    without = any(judged.series.never) and judged.word is not VerdictWord.EQUIVALENT
    return None if without else judged.estimate()


def _on_several(judged: Judged) -> bool:
    """Whether it is of several machines: what visits say besides stands with each of them."""
    return judged.tests is not None and judged.tests.stream.machines > 1


def _later(judged: Judged, readings: Visits, margin_log: float) -> Iterator[Withheld]:
    """The gravest reason that would withhold the decision if it were asked of all visits."""
    if not judged.words or judged.said is judged.present or judged.present.series.problems:
        return
    if _on_several(judged):
        return
    comparison, decision = judged.comparison, judged.decision
    found = veto(comparison, judged.series, decision, readings, margin_log)
    if found is not None and not isinstance(found, EffectChanges | SpanDisagrees):
        yield found


def _disturbed(judged: Judged, readings: Visits) -> Iterator[Withheld]:
    """What would withhold a verdict of the machine where nothing is decided yet."""
    series, comparison = judged.present.series, judged.comparison
    if judged.words or judged.withheld or series.problems or comparison.exploratory:
        return
    if _on_several(judged):
        return
    found = interference_unequal(comparison.pair, series, readings)
    if found is not None:
        yield found


def _span_s(judged: Judged, readings: Visits) -> float | None:
    """The time in which the visits lie that the verdict is of."""
    visits = judged.said.series.visits
    return readings.span_s(visits[0], visits[-1]) if visits else None


def _own_memory(judged: Judged, found: Estimate | None) -> OwnMemory | None:
    """How the visits of one system depend on each other, of a verdict that is decided."""
    tests = judged.tests
    if tests is None or tests.stream.once or found is None or not judged.words:
        return None
    if _on_several(judged):
        return None
    return own_memory(tests.stream.values, tests.stream.pool, found.ratio_log)


def _depend(judged: Judged, seen: OwnMemory | None) -> Iterator[VisitsDepend]:
    """Where they do, beside a verdict that takes them as equal."""
    if seen is not None and seen.shows:
        pair = judged.comparison.pair
        yield VisitsDepend(
            baseline=pair.baseline,
            other=pair.other,
            correlation_baseline=seen.baseline,
            correlation_other=seen.other,
            correlation_between=seen.between,
            lags=LAGS,
            chance=seen.chance,
        )


def _adjusted(
    judged: Judged, size: Size, found: Estimate | None, sign: int
) -> Iterator[EstimateAdjusted]:
    """The ratio as measured, where what was weighed and removed moves the estimate far from it."""
    if judged.tests is None or found is None:
        return
    known, (low, high) = judged.series.defined(), size.present
    raw = raw_ratio_log(known.values, known.other)
    if low is None or high is None or abs(raw - found.ratio_log) <= (high - low) / 4:
        return
    covariate = judged.tests.stream.covariate
    yield EstimateAdjusted(
        raw_log=sign * raw,
        estimate_log=sign * found.ratio_log,
        trends=movements(judged.tests.stream.visits),
        covariates=0 if covariate is None else 1 if covariate.ndim == 1 else covariate.shape[-1],
    )


def _horizon(tests: Inference | None) -> int | None:
    """The budget in visits; ``None`` where there is one look, after the last."""
    if tests is None or tests.stream.once:
        return None
    return tests.stream.horizon * tests.stream.machines


def _sizes(
    tests: Inference | None, judged: Judged, margin_log: float, found: Estimate | None
) -> _Sizes:
    """The sizes that the word needs, of one look."""
    if tests is None or found is None:
        return _Sizes(Size(UNBOUNDED, UNBOUNDED), None)
    share = judged.comparison.share
    rates = (share / 2, share) if VerdictWord.EQUIVALENT in judged.words else (share / 2,)
    two_sided, *rest = tests.sizes(margin_log, rates, found.ratio_log)
    return _Sizes(two_sided, rest[0] if rest else None)


def _changes(judged: Judged, size: Size, found: Estimate | None, sign: int) -> EffectChanges | None:
    """An effect that no constant ratio describes, in the two parts that differ most."""
    if judged.tests is None or found is None or not size.changes(found.ratio_log):
        return None
    known = judged.series.defined()
    change = change_of(known.values, known.other)
    if change is None:
        return EffectChanges()
    return EffectChanges(
        last_visit_before=known.visits[change.at - 1],
        first_log=sign * change.first_log,
        second_log=sign * change.second_log,
    )


def _deciding_look(
    judged: Judged, now: _Sizes, margin_log: float, sign: int
) -> DecidingLook | None:
    """Estimate and interval at the look that decided, where those of all visits deny the word."""
    said = judged.said
    if not judged.words or _estimate(judged) is None or not _denies(judged, now, margin_log):
        return None
    found = said.estimate()
    then = _sizes(said.tests, judged, margin_log, found)
    if found is None or said.tests is None:
        return None
    low, high = _of_the_word(judged, then, found.ratio_log).signed(sign)
    return DecidingLook(
        n_baseline=said.series.n_baseline,
        n_other=said.series.n_other,
        estimate_log=sign * found.ratio_log,
        low_log=low,
        high_log=high,
    )


def _denies(judged: Judged, now: _Sizes, margin_log: float) -> bool:
    """Whether the interval of the present look allows what the word excludes."""
    word = judged.decision.words[0] if judged.words else None
    if judged.words[0] is VerdictWord.EQUIVALENT:
        low, high = UNBOUNDED if now.equivalence is None else now.equivalence.present
        return low is None or low < -margin_log or high is None or high > margin_log
    low, high = now.two_sided.present
    if word is VerdictWord.FASTER:
        return low is None or low < 0
    return high is None or high > 0


def _size_of_the_word(judged: Judged, sizes: _Sizes) -> Size:
    if judged.words[:1] == (VerdictWord.EQUIVALENT,) and sizes.equivalence is not None:
        return sizes.equivalence
    return sizes.two_sided


def _of_the_word(judged: Judged, sizes: _Sizes, estimate_log: float) -> Interval:
    """By the ratios that were rejected at any look, as the decision is."""
    size = _size_of_the_word(judged, sizes)
    if size.constant.empty:
        return size.present
    return with_estimate([size.constant], estimate_log)
