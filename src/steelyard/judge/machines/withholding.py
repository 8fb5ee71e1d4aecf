"""What forbids a verdict on all of these machines: what forbids it on one, with its name."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from steelyard.inference.noise.robust import Floats
from steelyard.inference.ratio_tests import Inference
from steelyard.inference.sequential import Decision, VerdictWord
from steelyard.judge.comparisons.comparison import Standing
from steelyard.judge.comparisons.families import Comparison
from steelyard.judge.comparisons.guardrails import CheckedGuardrail, check_guardrail
from steelyard.judge.comparisons.interference_checks import (
    generator_saturated,
    interference_explains_mean,
)
from steelyard.judge.comparisons.withholding import (
    carry_over_decides,
    carry_over_found,
    coarse,
    contradicts,
    unreliable,
)
from steelyard.judge.kinds.verdict_notes import (
    FailedAttemptsDecide,
    Withheld,
)
from steelyard.judge.machines.looks import Look
from steelyard.judge.visits.series import Series


@dataclass(frozen=True)
class Objection:
    """Why a decision is withheld, and on which machine that shows."""

    reason: Withheld
    machine: str | None


def objection_to(
    present: Standing, look: Look, tests: Inference, margin_log: float
) -> Objection | None:
    """The gravest reason against a decision that was made by this look."""
    return next(_objections(present, look, tests, margin_log), None)


def _objections(
    present: Standing, look: Look, tests: Inference, margin_log: float
) -> Iterator[Objection]:
    """In the order of one machine, each asked only if none before it holds."""
    comparison, decision = present.comparison, present.decision
    pair, words = comparison.pair, decision.words
    on = {name: (own, look.on[name].until(own.visits[-1])) for name, own in look.series.items()}
    for name, (own, readings) in on.items():
        yield from _on(name, unreliable(pair, own, readings))
        yield from _on(name, _carry_over_found(comparison, look, name, decision, margin_log))
    found = tests.estimate()
    if found is not None:
        yield from _on(None, contradicts(found.ratio_log, decision, margin_log))
    for name, (own, readings) in on.items():
        yield from _on(name, coarse(own, decision, margin_log))
        yield from _on(name, generator_saturated(comparison, own, readings, words))
    yield from _on(*(interference_explains_mean(pair, on, words) or (None, None)))
    if _failed_attempts_decide(present, look, margin_log):
        yield Objection(FailedAttemptsDecide(), None)
    for name in on:
        yield from _on(name, _left_decides(comparison, look, name, decision, margin_log))


def _on(machine: str | None, reason: Withheld | None) -> Iterator[Objection]:
    if reason is not None:
        yield Objection(reason, machine)


def _failed_attempts_decide(present: Standing, look: Look, margin_log: float) -> bool:
    """Whether the decision depends on leaving out failed attempts."""
    comparison = present.comparison
    on = {name: look.on[name].until(own.visits[-1]) for name, own in look.series.items()}
    kept = Look.of(comparison, on, keep_failed=True)
    if all(_alike(own, kept.series[name]) for name, own in look.series.items()):
        return False
    kept = kept.first(kept.least)
    return kept.tests().decide(margin_log, comparison.share).words != present.decision.words


def _alike(one: Series, another: Series) -> bool:
    return one.visits == another.visits and bool((one.values == another.values).all())


def guardrails(present: Standing, look: Look) -> tuple[CheckedGuardrail, ...]:
    """Those of the winner, each as it stands on the machine where it stands worst."""
    comparison, words = present.comparison, present.decision.words
    if not {VerdictWord.FASTER, VerdictWord.SLOWER} & set(words):
        return ()
    checked = (
        [
            check_guardrail(
                spec,
                comparison.pair,
                comparison.conditions,
                look.on[name].until(own.visits[-1]),
                other_wins=VerdictWord.FASTER in words,
                alpha=comparison.share,
            )
            for name, own in look.series.items()
        ]
        for spec in comparison.guardrails
    )
    return tuple(
        max(each, key=lambda one: (one.state == "broken", one.forbids)) for each in checked
    )


def _carry_over_found(
    comparison: Comparison, look: Look, machine: str, decision: Decision, margin_log: float
) -> Withheld | None:
    """Carry-over on one machine that may have made the decision on all."""
    again = _again(comparison, look, machine, margin_log)

    def stands(values: Floats) -> bool:
        return again(values).words == decision.words

    return carry_over_found(comparison.pair, look.series[machine], margin_log, stands)


def _left_decides(
    comparison: Comparison, look: Look, machine: str, decision: Decision, margin_log: float
) -> Withheld | None:
    """A decision that would be another without the plausible carry-over on one machine."""
    again = _again(comparison, look, machine, margin_log)
    return carry_over_decides(look.series[machine], decision, again)


def _again(
    comparison: Comparison, look: Look, machine: str, margin_log: float
) -> Callable[[Floats], Decision]:
    """Decides on other values of the visits on one machine that have one."""

    def again(values: Floats) -> Decision:
        changed = look.series[machine].with_defined(values).values
        return look.with_values(machine, changed).tests().decide(margin_log, comparison.share)

    return again
