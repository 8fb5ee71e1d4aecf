"""The sentence for a system that is ahead and worse in a guardrail of the study."""

from __future__ import annotations

from steelyard.inference.sequential import VerdictWord
from steelyard.judge.findings import ResponseFinding, VerdictFinding
from steelyard.judge.kinds.verdict_notes import GuardrailFinding
from steelyard.report.effects import signed_effect
from steelyard.report.figures import counted, fixed, significant
from steelyard.report.notes.verdict import guardrail_margin
from steelyard.report.vocabulary import noun, predicate

_ERRORS = "errors"
_TIME_UNITS = ("ns", "us", "ms", "s")


def trade_off(verdict: VerdictFinding, response: ResponseFinding, size: str) -> str:
    """``b is faster than a while failing more (+2.1 points): 12.0 % more throughput``."""
    log = verdict.estimate_log or 0.0
    other_wins = (log > 0) == (response.direction == "higher")
    winner, loser = verdict.other, verdict.baseline
    if not other_wins:
        winner, loser = loser, winner
    ahead = verdict.model_copy(update={"word": VerdictWord.FASTER, "words": (VerdictWord.FASTER,)})
    price = " and ".join(
        _price(guardrail) for guardrail in verdict.guardrails if guardrail.state == "broken"
    )
    of_whom = size if other_wins else f"{verdict.other} has {size}"
    return f"{winner} {predicate(ahead, response)} than {loser} while {price}: {of_whom}"


def _price(guardrail: GuardrailFinding) -> str:
    size = "" if guardrail.effect is None else f" ({_size(guardrail, guardrail.effect)})"
    if guardrail.response == _ERRORS:
        return f"failing more{size}"
    is_longer = guardrail.unit in _TIME_UNITS and (guardrail.effect or 0.0) >= 0
    worse = "longer" if is_longer else "worse"
    return f"its {noun(guardrail.label)} is {worse}{size}"


def _size(guardrail: GuardrailFinding, effect: float) -> str:
    if not guardrail.absolute:
        return signed_effect(effect)
    if guardrail.unit == "ratio":
        return f"{fixed(100 * effect, 2, signed=True)} points of all operations"
    return f"{'+' if effect > 0 else ''}{significant(effect)} {guardrail.unit}"


def guardrail_lines(verdicts: list[VerdictFinding]) -> list[str]:
    """Which guardrails held, one line for each over all differences that were found."""
    held: dict[tuple[str, str], int] = {}
    for verdict in verdicts:
        for guardrail in verdict.guardrails:
            if guardrail.state == "held":
                key = (guardrail.label, guardrail_margin(guardrail))
                held[key] = held.get(key, 0) + 1
    return [
        f"Guardrail held: {noun(label)} of the faster system, not worse by {margin} or more "
        f"({counted(count, 'comparison')})."
        for (label, margin), count in held.items()
    ]
