"""One comparison judged: open, or decided at one look and so for good.

The tests decide at the first look at which all that contradicts a verdict is rejected. What may
forbid to announce it is asked of the visits up to that look; where something does, the comparison
stays open and is asked again when the visits have grown by a quarter, and at the budget. A verdict
that was announced is never withdrawn: what is seen later stands beside it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from steelyard.inference.estimate import Estimate, estimate
from steelyard.inference.ratio_tests import Inference
from steelyard.inference.sequential import UNDECIDED, Decision, VerdictWord
from steelyard.inference.spending import FIRST_LOOK
from steelyard.judge.comparisons.families import Comparison
from steelyard.judge.comparisons.guardrails import CheckedGuardrail, check_guardrail
from steelyard.judge.comparisons.span import too_short
from steelyard.judge.comparisons.withholding import invalid_unequal, veto
from steelyard.judge.kinds.verdict_notes import GuardrailsOpen, InvalidUnequal, Withheld
from steelyard.judge.visits.series import Series, Visits, without_variation

ASKED_AGAIN = 1.25
"""A comparison whose decision is withheld is asked again after so many times the visits."""


@dataclass(frozen=True)
class Standing:
    """One comparison after some of its visits: what the tests decide, and what may be announced.

    ``veto`` is the reason why a decision of the tests is withheld. ``guardrails`` are those of the
    winner, once there is one; ``invalid`` says why invalid trials were not left out.
    """

    comparison: Comparison
    series: Series
    tests: Inference | None = None
    decision: Decision = UNDECIDED
    veto: Withheld | None = None
    guardrails: tuple[CheckedGuardrail, ...] = ()
    invalid: InvalidUnequal | None = None

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


@dataclass(frozen=True)
class Judged:
    """A comparison as all visits leave it.

    ``present`` has all visits, and the size is theirs. ``said`` has the visits up to the look that
    decided; while the comparison is open, those that were last asked, or all.
    """

    present: Standing
    said: Standing

    @property
    def comparison(self) -> Comparison:
        return self.present.comparison

    @property
    def series(self) -> Series:
        return self.present.series

    @property
    def tests(self) -> Inference | None:
        return self.present.tests

    @property
    def decision(self) -> Decision:
        return self.said.decision

    @property
    def words(self) -> tuple[VerdictWord, ...]:
        return self.said.words

    @property
    def withheld(self) -> Withheld | None:
        return self.said.withheld

    @property
    def word(self) -> VerdictWord:
        if self.words:
            return self.words[0]
        return VerdictWord.NOT_JUDGED if self.series.problems else VerdictWord.UNDECIDED

    @property
    def decided_at_visit(self) -> int | None:
        return self.said.series.visits[-1] if self.words else None

    def estimate(self) -> Estimate | None:
        return self.present.estimate()


def judge(comparison: Comparison, readings: Visits, margin_log: float) -> Judged:
    """The word on one comparison as the records stand: cheap enough to ask after each visit."""
    present = _tested(comparison, readings, margin_log)
    if present.tests is not None and present.tests.stream.once:
        checked = replace(present, guardrails=_guardrails(comparison, present.decision, readings))
        return Judged(checked, checked)
    said = present
    for each in _asked(present, readings, margin_log):
        said = each
        if said.words:
            break
    return Judged(present, said)


def _asked(present: Standing, readings: Visits, margin_log: float) -> Iterator[Standing]:
    """The looks at which the tests have decided and may be announced, with what stands against.

    None before the span of the study has passed; then all visits, with that reason.
    Where every visit counts, a longer series decides as its beginning did; where some are invalid
    or have no value, each look has to be judged as it was.
    """
    comparison, regular = present.comparison, _regular(present, readings)
    if regular and present.decision.at is None:
        return
    visits = present.series.visits
    short = too_short(comparison.span_s, visits, readings)
    if short is not None:
        yield replace(present, veto=short if present.decision.words else None)
        return
    first = present.decision.at if regular else FIRST_LOOK
    next_look = float(first or FIRST_LOOK)
    budget = None if present.tests is None else present.tests.stream.horizon
    for look, visit in enumerate(visits, start=1):
        if look < next_look and look != budget:
            continue
        if too_short(comparison.span_s, visits[:look], readings):
            continue
        known = readings.until(visit)
        decided = present.decision if regular else UNDECIDED
        standing = _tested(comparison, known, margin_log, decided)
        if standing.decision.words:
            yield _answered(standing, known, margin_log)
            next_look = ASKED_AGAIN * look


def _regular(present: Standing, readings: Visits) -> bool:
    """Whether nothing was left out of the visits, so that their beginning is as it was then."""
    if present.series.problems or present.comparison.scale != "log":
        return not present.series.problems
    return not any(invalid for invalid, _ in readings.invalid(present.comparison.pair).values())


def _tested(
    comparison: Comparison,
    readings: Visits,
    margin_log: float,
    decided: Decision = UNDECIDED,
) -> Standing:
    """What the tests decide, whatever may forbid to announce it.

    ``decided``: what they are known to decide if the readings hold every visit up to that look.
    """
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
        return Standing(comparison, series, invalid=invalid)
    tests = readings.tests(series, comparison.pair, exploratory=comparison.exploratory)
    known = decided.at == len(series.values)
    decision = decided if known else tests.decide(margin_log, comparison.share)
    return Standing(comparison, series, tests, decision, invalid=invalid)


def _answered(standing: Standing, readings: Visits, margin_log: float) -> Standing:
    comparison, decision = standing.comparison, standing.decision
    forbidden = veto(comparison, standing.series, decision, readings, margin_log)
    return replace(standing, veto=forbidden, guardrails=_guardrails(comparison, decision, readings))


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
