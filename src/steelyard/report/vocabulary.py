"""The words of a comparison: which noun, which adjective, where, and in which order.

``faster`` and ``slower`` refer to the good direction of a response; the size of an effect refers
to the raw response (``38 % longer response time``).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from steelyard.inference.sequential import VerdictWord
from steelyard.judge.comparisons.families import Family
from steelyard.judge.findings import ResponseFinding, RunFindings, VerdictFinding
from steelyard.judge.visits.pairs import MACHINE
from steelyard.report.effects import AMOUNT, HEIGHT, LENGTH, Direction
from steelyard.report.view import View
from steelyard.study.model import Level

DECIDED = (VerdictWord.FASTER, VerdictWord.SLOWER)

_ERRORS = "errors"
_TIME_UNITS = {"ns", "us", "µs", "ms", "s", "min", "h"}
_LEVEL_UNITS = {"", "1", "%", "ratio", "share"}


def response_of(view: View, name: str) -> ResponseFinding:
    """What is known of a response; one that is not declared speaks for itself and of no good."""
    for response in view.own.responses:
        if response.name == name:
            return response
    return ResponseFinding(name=name, label=name, unit="", direction="none", primary=False)


def primary_response(view: View) -> ResponseFinding | None:
    """The response that carries the guarantee."""
    return next((r for r in view.own.responses if r.primary), None)


def compared_one(run: RunFindings) -> str:
    """What one of the compared is, at the head of a column: ``System``, ``settings.tuned``."""
    return "System" if run.compare == "system" else run.compare


def compared_all(run: RunFindings) -> str:
    """The compared together, inside a sentence: ``systems``, ``levels of settings.tuned``."""
    return "systems" if run.compare == "system" else f"levels of {run.compare}"


def direction_of(response: ResponseFinding) -> Direction:
    """How the response grows in words: times get longer, shares and rates higher, amounts more.

    A time that is better when it is higher is no duration that is waited for.
    """
    if response.unit in _TIME_UNITS:
        return HEIGHT if response.direction == "higher" else LENGTH
    words = noun_of(response).lower().split()
    is_rate = "rate" in (words[:1] + words[-1:])
    return HEIGHT if is_rate or response.unit in _LEVEL_UNITS else AMOUNT


def noun_of(response: ResponseFinding) -> str:
    """The label inside a sentence: ``response time, median`` is a ``median response time``."""
    return noun(response.label)


def compared_noun(response: ResponseFinding) -> str:
    """What the ratio of two systems is one of: errors are judged by their odds, not by shares."""
    return "odds of an error" if response.name == _ERRORS else noun_of(response)


def noun(label: str) -> str:
    """The same of a label alone."""
    head, _, rest = label.partition(", ")
    return f"{rest} {head}" if rest else head


def verdict_word(verdict: VerdictFinding, response: ResponseFinding) -> str:
    """The judge's word on a comparison in the words of its response.

    A verdict stays when later visits leave no estimate; its direction is that of the deciding look.
    """
    estimate_log = verdict.estimate_log
    if estimate_log is None and verdict.deciding_look is not None:
        estimate_log = verdict.deciding_look.estimate_log
    return said_word(verdict.word, estimate_log, response)


def said_word(word: VerdictWord, estimate_log: float | None, response: ResponseFinding) -> str:
    """The judge's word in the words of the response: ``slower``, ``uses more``, ``has less``.

    ``faster`` and ``slower`` are kept for speeds and times; other responses that have a good
    direction are used up (lower is better) or reached (higher is better); the rest only differ.
    """
    if word is VerdictWord.TRADE_OFF:
        return "trade-off"
    if word not in DECIDED:
        return word.value.replace("_", " ")
    if response.direction == "none":
        return "more" if (estimate_log or 0.0) > 0 else "less"
    good, bad = good_and_bad(response)
    return good if word is VerdictWord.FASTER else bad


def predicate(verdict: VerdictFinding, response: ResponseFinding) -> str:
    """The word with its verb: ``is slower``, ``uses more``, ``fails less``."""
    word = verdict_word(verdict, response)
    return word if response.name == _ERRORS or used_up(response) else f"is {word}"


def used_up(response: ResponseFinding) -> bool:
    """Whether systems use more or less of a response: a lower amount, not a time, is better."""
    of_another_kind = response.name == _ERRORS or response.unit in _TIME_UNITS
    return response.direction == "lower" and not of_another_kind


def good_and_bad(response: ResponseFinding) -> tuple[str, str]:
    """The words for a difference in the good direction and in the other."""
    if response.name == _ERRORS:
        return "fails less", "fails more"
    if response.unit in _TIME_UNITS:
        # "quicker" beside "longer" contradicts itself.
        return ("better", "worse") if response.direction == "higher" else ("quicker", "slower")
    if response.unit.endswith("/s") and response.direction == "higher":
        return "faster", "slower"
    return ("uses less", "uses more") if used_up(response) else ("better", "worse")


def place(conditions: dict[str, Level] | None, view: View, systems: Sequence[str] = ()) -> str:
    """Where a verdict holds, with the space before it: `` at 16 users``; empty without any.

    Of a pair of ``systems`` only the conditions that both can meet count.
    """
    met = met_by(view, systems)
    if met and MACHINE in met[0]:
        return _on_machines(conditions or {}, view, met)
    if conditions is None and len(met) > 1:
        whole = "all" if len(met) == len(view.own.conditions) else "their common"
        return f" over {whole} {len(met)} conditions"
    where = (met[0] if met else {}) if conditions is None else conditions
    text = view.run.labels.conditions(where)
    return f" at {text}" if text else ""


def machines_in(view: View) -> list[Level]:
    """The machines that the conditions name, in their order; none of a run on one."""
    return list(dict.fromkeys(each[MACHINE] for each in view.own.conditions if MACHINE in each))


def _on_machines(conditions: dict[str, Level], view: View, met: Sequence[dict[str, Level]]) -> str:
    """Of one machine, or of all of these, and at which other conditions, if one has several."""
    rest = {name: level for name, level in conditions.items() if name != MACHINE}
    text = view.run.labels.conditions(rest)
    at = f" at {text}" if text else ""
    if MACHINE in conditions:
        return f"{at} on {conditions[MACHINE]}"
    return f"{at} on all of these {len({each[MACHINE] for each in met})} machines"


def where_of(verdict: VerdictFinding, view: View) -> str:
    """The same of a verdict."""
    return place(verdict.conditions, view, (verdict.baseline, verdict.other))


def met_by(view: View, systems: Sequence[str]) -> list[dict[str, Level]]:
    """The conditions that exist for all of some systems."""
    missing = [cell.conditions for cell in view.own.not_applicable if cell.system in systems]
    return [each for each in view.own.conditions if each not in missing]


def ordered(verdicts: Iterable[VerdictFinding], view: View) -> list[VerdictFinding]:
    """The primary response first, each comparison over all conditions before its parts."""
    responses = [r.name for r in view.own.responses]
    conditions = [None, *view.own.conditions]

    def rank(verdict: VerdictFinding) -> tuple[bool, int, int, int, int]:
        return (
            verdict.exploratory,
            _index(responses, verdict.response),
            _index(list(view.run.systems), verdict.baseline),
            _index(list(view.run.systems), verdict.other),
            _index(conditions, verdict.conditions),
        )

    return sorted(verdicts, key=rank)


def family_text(family: Family) -> str:
    """Which comparisons share an error rate: ``throughput, each of 3 conditions``."""
    if family.scope == "exploratory":
        return f"{family.response}, exploratory: each comparison by itself"
    if family.scope == "aa_control":
        return f"{family.response}, A/A control of {family.baseline}"
    if family.scope == "section_means":
        return f"{family.response}, each of {family.places} means of the sections"
    if family.scope == "not_compared":
        return f"{family.response}, overall, the {family.pairs} pairs without the baseline"
    noun = "machines" if family.scope == "machines" else "conditions"
    where = "overall" if family.scope == "overall" else f"each of {family.places} {noun}"
    return f"{family.response}, {where}{_pairs(family)}"


def _pairs(family: Family) -> str:
    if family.pairs == 1:
        return ""
    if family.baseline is None:
        return f", each of {family.pairs} pairs"
    return f", each of {family.pairs} systems against {family.baseline}"


def _index(known: Sequence[object], wanted: object) -> int:
    return known.index(wanted) if wanted in known else len(known)
