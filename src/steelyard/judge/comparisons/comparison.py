"""One comparison judged: word, ratio, interval, notes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from steelyard.inference.assumption import Inference
from steelyard.inference.confidence import Interval
from steelyard.inference.diagnostics import shape_of
from steelyard.inference.estimate import Estimate, estimate, visits_to_decide
from steelyard.inference.sequential import UNDECIDED, Decision, VerdictWord
from steelyard.inference.spending import FIRST_LOOK
from steelyard.judge.comparisons.families import Comparison
from steelyard.judge.comparisons.guardrails import CheckedGuardrail, check_guardrail
from steelyard.judge.comparisons.notes import notes_on
from steelyard.judge.comparisons.withholding import invalid_unequal, veto
from steelyard.judge.findings import VerdictFinding
from steelyard.judge.kinds.verdict_notes import (
    DecisionContradicted,
    EffectChanges,
    EffectChangesSign,
    GuardrailsOpen,
    InvalidUnequal,
    Withheld,
)
from steelyard.judge.visits.series import Series, Visits, without_variation


@dataclass(frozen=True)
class Judged:
    """The decision of the engine on a comparison, and what may forbid to announce it.

    ``veto`` is the reason why a decision of the tests is withheld. ``guardrails`` are those of the
    winner, once there is one; ``invalid`` says why invalid trials were not left out.
    """

    comparison: Comparison
    series: Series
    tests: Inference | None
    decision: Decision
    veto: Withheld | None
    guardrails: tuple[CheckedGuardrail, ...] = ()
    invalid: InvalidUnequal | None = None

    @property
    def word(self) -> VerdictWord:
        if self.series.problems:
            return VerdictWord.NOT_JUDGED
        return self.words[0] if self.words else VerdictWord.UNDECIDED

    @property
    def words(self) -> tuple[VerdictWord, ...]:
        """What may be announced: a difference only when every guardrail of the winner is held."""
        if self.veto is not None:
            return ()
        if any(guardrail.state == "broken" for guardrail in self.guardrails):
            return (VerdictWord.TRADE_OFF, *_alike(self.decision))
        if any(guardrail.forbids for guardrail in self.guardrails):
            return _alike(self.decision)
        return self.decision.words

    @property
    def withheld(self) -> Withheld | None:
        """Why a decision of the tests is not announced, if so."""
        if self.veto is not None:
            return self.veto
        missing = tuple(guardrail.finding() for guardrail in self.guardrails if guardrail.forbids)
        if not missing or any(guardrail.state == "broken" for guardrail in self.guardrails):
            return None
        pair, wins = self.comparison.pair, self.decision.words[0] is VerdictWord.FASTER
        return GuardrailsOpen(system=pair.other if wins else pair.baseline, guardrails=missing)

    def estimate(self) -> Estimate | None:
        if self.series.problems or not len(self.series.values):
            return None
        if self.tests is not None:
            return self.tests.estimate()
        return estimate(self.series.values, self.series.other)

    def forecast(self, margin_log: float) -> int | None:
        """About how many further visits; ``None`` when decided, or nothing is in sight.

        What is withheld, or waits for a guardrail, is one: more visits do not decide it.
        Nor is there a further look where there is only one.
        """
        found = self.estimate()
        if self.word is not VerdictWord.UNDECIDED or self.withheld or found is None:
            return None
        if self.tests is None or self.tests.stream.once:
            return None
        visits = len(self.series.values)
        return visits_to_decide(found, visits, margin_log, self.comparison.share)


def judge(comparison: Comparison, readings: Visits, margin_log: float) -> Judged:
    """The word on one comparison as the records stand: cheap enough to ask after each visit."""
    invalid = invalid_unequal(comparison, readings) if comparison.scale == "log" else None
    series = readings.series(
        comparison.pair,
        comparison.response,
        comparison.conditions,
        keep_failed=invalid is not None,
        scale=comparison.scale,
    )
    if comparison.scale == "log":
        series = without_variation(series)
    if series.problems or len(series.values) < FIRST_LOOK:
        return Judged(comparison, series, None, UNDECIDED, None, invalid=invalid)
    tests = readings.tests(series, comparison.pair, exploratory=comparison.exploratory)
    decision = tests.decide(margin_log, comparison.share)
    if not decision.words:
        return Judged(comparison, series, tests, decision, None, invalid=invalid)
    forbidden = None
    if not tests.stream.once:
        forbidden = veto(comparison, series, decision, readings, margin_log)
    guardrails = _guardrails(comparison, decision, readings)
    return Judged(comparison, series, tests, decision, forbidden, guardrails, invalid)


def _alike(decision: Decision) -> tuple[VerdictWord, ...]:
    return tuple(word for word in decision.words if word is VerdictWord.EQUIVALENT)


def _guardrails(
    comparison: Comparison, decision: Decision, readings: Visits
) -> tuple[CheckedGuardrail, ...]:
    """The guardrails of whoever the tests call faster; none without."""
    if not {VerdictWord.FASTER, VerdictWord.SLOWER} & set(decision.words):
        return ()
    return tuple(
        check_guardrail(
            spec,
            comparison.pair,
            comparison.conditions,
            readings,
            other_wins=VerdictWord.FASTER in decision.words,
            alpha=comparison.share,
        )
        for spec in comparison.guardrails
    )


def finding(judged: Judged, margin_log: float) -> VerdictFinding:
    """All findings of one comparison, in the raw response."""
    comparison, series = judged.comparison, judged.series
    sign = -1 if comparison.response.direction == "lower" else 1
    found = judged.estimate()
    known = series.defined()
    shape = shape_of(known.values, known.other)
    ends = _ends(judged.tests, margin_log, comparison.share, found, sign)
    empty: set[str] = ends.pop("empty")
    no_ratio = "" in empty or (bool(empty) and VerdictWord.EQUIVALENT in judged.words)
    if no_ratio and judged.words:
        judged = replace(judged, veto=EffectChanges())
    no_ratio |= isinstance(judged.veto, DecisionContradicted) or (
        isinstance(judged.veto, EffectChangesSign) and not _within(ends, found, sign)
    )
    if no_ratio:
        ends = dict.fromkeys(ends)
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
        interval_level=1 - comparison.share,
        n_baseline=series.n_baseline,
        n_other=series.n_other,
        decided_at_visit=_decided_at(judged),
        noise_log=None if found is None else found.noise_log,
        visits_to_decide=judged.forecast(margin_log),
        exploratory=comparison.exploratory,
        spread_ratio=None if series.problems else shape.spread_ratio,
        stall_rate_baseline=None if series.problems else shape.stall_rate_baseline,
        stall_rate_other=None if series.problems else shape.stall_rate_other,
        withheld=judged.withheld,
        not_judged=series.problems,
        no_ratio=no_ratio,
        guardrails=tuple(each.finding() for each in judged.guardrails),
        notes=tuple(
            notes_on(
                comparison,
                series,
                words=judged.words,
                withheld=judged.withheld,
                guardrails=judged.guardrails,
                invalid=judged.invalid,
                horizon=_horizon(judged.tests),
                welch_test=judged.tests is None or judged.tests.welch,
                found=found,
                shape=shape,
                margin_log=margin_log,
                empty=bool(empty),
            )
        ),
        **ends,
    )


def _horizon(tests: Inference | None) -> int | None:
    """The budget in visits; ``None`` where there is one look, after the last."""
    return None if tests is None or tests.stream.once else tests.stream.horizon


def _decided_at(judged: Judged) -> int | None:
    at = judged.decision.at
    return judged.series.visits[at - 1] if judged.words and at is not None else None


def _within(ends: Mapping[str, float | None], found: Estimate | None, sign: int) -> bool:
    """Whether the estimate lies in its own interval, as it does of a constant ratio."""
    low, high = ends["low_log"], ends["high_log"]
    effect_log = 0.0 if found is None else sign * found.ratio_log
    return (low is None or low <= effect_log) and (high is None or effect_log <= high)


def _ends(
    tests: Inference | None, margin_log: float, alpha: float, found: Estimate | None, sign: int
) -> dict[str, Any]:
    """Both intervals as fields of the finding; ``empty`` has those that allow no constant ratio."""
    empty: set[str] = set()
    ends: dict[str, Any] = {"empty": empty}
    both = [Interval(None, None)] * 2
    if tests is not None and found is not None:
        both = tests.intervals(margin_log, (alpha / 2, alpha), found.ratio_log)
    for name, interval in zip(("", "equivalence_"), both, strict=True):
        if interval.empty:
            empty.add(name)
        low, high = (None, None) if interval.empty else interval.signed(sign)
        ends |= {f"{name}low_log": low, f"{name}high_log": high}
    return ends
