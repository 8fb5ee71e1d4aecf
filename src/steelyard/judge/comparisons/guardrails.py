"""Guardrails: what must not be worse where a system is called faster, by non-inferiority.

Intersection-union (Berger 1982): the word is given only when the primary response and every
guardrail allow it, each at its own level, and no rate is shared. A guardrail is *held* when worse
by the margin or more is rejected, *broken* when worse by less than the margin is rejected, else
*open*. Of a response that may be zero the margin is a difference of means, and the mean must allow
it besides the typical visit.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from steelyard.inference.means import mean_is_above
from steelyard.inference.ratio_tests import Inference
from steelyard.inference.spending import FIRST_LOOK
from steelyard.inference.welch import level_at
from steelyard.judge.kinds.verdict_notes import GuardrailFinding, NotJudged, TooFewVisits
from steelyard.judge.visits.pairs import Conditions, Pair, Scale
from steelyard.judge.visits.series import Visits
from steelyard.study.model import GuardrailSpec, ResponseSpec

State = Literal["held", "broken", "open", "not_measured"]


@dataclass(frozen=True)
class CheckedGuardrail:
    """One guardrail at one comparison. ``effect`` is that of the winner, larger is better."""

    spec: GuardrailSpec
    state: State
    effect: float | None
    reason: NotJudged | None = None

    @property
    def forbids(self) -> bool:
        """Whether no difference may be announced before this guardrail is known."""
        return self.state == "open" or (self.state == "not_measured" and self.spec.declared)

    def finding(self) -> GuardrailFinding:
        """The same in the raw response."""
        spec = self.spec
        sign = -1 if spec.direction == "lower" else 1
        return GuardrailFinding(
            response=spec.name,
            label=spec.label,
            unit=spec.unit,
            margin=spec.margin if spec.absolute else math.log1p(spec.margin),
            absolute=spec.absolute,
            state=self.state,
            effect=None if self.effect is None else sign * self.effect,
            reason=self.reason,
        )


def check_guardrail(
    spec: GuardrailSpec,
    pair: Pair,
    conditions: Conditions | None,
    readings: Visits,
    *,
    other_wins: bool,
    alpha: float,
) -> CheckedGuardrail:
    """How a guardrail stands for the winner of a pair, one-sided at level ``alpha`` each way."""
    response = ResponseSpec(
        name=spec.name, label=spec.label, unit=spec.unit, direction=spec.direction
    )
    scale: Scale = "plain" if spec.absolute else "log"
    series = readings.series(pair, response, conditions, scale=scale)
    if series.problems or len(series.values) < FIRST_LOOK:
        too_few = TooFewVisits(visits=len(series.values), needed=FIRST_LOOK)
        reason = series.problems[0] if series.problems else too_few
        return CheckedGuardrail(spec, "not_measured", None, reason)
    tests = readings.tests(series, pair)
    of_winner = tests if other_wins else tests.mirrored
    if not spec.absolute:
        found, margin = of_winner.estimate(), math.log1p(spec.margin)
        effect = found.ratio_log if found else None
        return CheckedGuardrail(spec, _state(of_winner, margin, alpha), effect)
    state, wins = _state(of_winner, spec.margin, alpha), series.other == other_wins
    winner, loser = series.values[wins], series.values[~wins]
    level = level_at(tests.stream, alpha)
    if state == "held" and not mean_is_above(winner, loser, -spec.margin, level):
        state = "open"
    return CheckedGuardrail(spec, state, float(winner.mean() - loser.mean()))


def _state(of_winner: Inference, margin: float, alpha: float) -> State:
    """Worse by the margin is ``-margin``: rejected from below, from above, or neither."""
    if of_winner.excluded(-margin, margin, alpha) is not None:
        return "held"
    if of_winner.mirrored.excluded(margin, margin, alpha) is not None:
        return "broken"
    return "open"
