"""Published conclusions, and what the findings of our own studies say of them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from steelyard.judge.findings import RunFindings, VerdictFinding
from steelyard.report.figures import counted
from steelyard.report.sentences.claims import claim_line
from steelyard.report.sentences.consolidation import consolidation_lines
from steelyard.report.sentences.headline import badge_of
from steelyard.report.sentences.verdict import (
    condition_sentence,
    ends_of,
    verdict_reason,
    when_decided,
)
from steelyard.report.view import View, views
from steelyard.report.vocabulary import met_by
from steelyard.study.model import Level

_OPEN = frozenset({"undecided", "not_judged", "not_shown"})
_Ends = tuple[float | None, float | None]
_NO_ENDS: _Ends = (None, None)


class Outcome(StrEnum):
    """How a published conclusion stands to our own findings."""

    AGREES = "agrees"
    DIFFERS = "does not agree"
    OPEN = "not decided"
    NOT_RUN = "not run"
    CANNOT = "cannot be asked here"


@dataclass(frozen=True)
class Ask:
    """One way to ask for a conclusion: in which study, and which of its findings answers."""

    study: str
    variant: str | None = None
    claim: str | None = None
    workload: str | None = None
    response: str | None = None
    other: str | None = None
    at: Mapping[str, Level] = field(default_factory=dict)
    even: bool = False

    @property
    def asked(self) -> str:
        """The response, or the claim, that is looked at."""
        if self.claim is not None:
            return f"claim {self.claim}"
        return "shares of instances" if self.even else str(self.response)


@dataclass(frozen=True)
class Conclusion:
    """What was published. ``ratio`` is its size; ``here`` says why it may not be asked."""

    source: str
    says: str
    printed: bool = False
    carried_over: bool = False
    asks: tuple[Ask, ...] = ()
    agrees: frozenset[str] = frozenset()
    ratio: float | None = None
    here: str | None = None


@dataclass(frozen=True)
class Answer:
    """One finding, or one of each condition. ``intervals`` belong to ``words``."""

    text: str
    words: tuple[str, ...]
    intervals: tuple[_Ends, ...]
    systems: frozenset[str]


@dataclass(frozen=True)
class Held:
    """A conclusion held against the findings of ``example``, if any has an answer."""

    conclusion: Conclusion
    outcome: Outcome
    ask: Ask | None = None
    example: str | None = None
    text: str = ""
    emulated: bool = False
    within: bool = False
    """The published size is not excluded, although another word was found."""


def read_conclusions(path: Path) -> tuple[dict[str, str], list[Conclusion]]:
    """Titles of the sources, and all conclusions in their order."""
    document: dict[str, Any] = YAML(typ="safe").load(path)
    return document["sources"], [_conclusion(each) for each in document["conclusions"]]


def _conclusion(entry: Mapping[str, Any]) -> Conclusion:
    asks = tuple(Ask(**each) for each in entry.get("asks", ()))
    return Conclusion(**{**entry, "asks": asks, "agrees": frozenset(entry.get("agrees", ()))})


def held(conclusion: Conclusion, kept: Mapping[str, RunFindings], names: Mapping[str, str]) -> Held:
    """The answer of the first study that was run and has one.

    ``kept`` are findings by example; ``names`` are what studies are called, by their place.
    """
    for ask in conclusion.asks:
        for example, run in kept.items():
            if (run.study, run.variant) == (names[ask.study], ask.variant):
                found = answer(ask, run)
                if found is not None:
                    return _held(conclusion, ask, example, run, found)
    outcome = Outcome.NOT_RUN if conclusion.here is None else Outcome.CANNOT
    return Held(conclusion, outcome, next(iter(conclusion.asks), None))


def _held(conclusion: Conclusion, ask: Ask, example: str, run: RunFindings, found: Answer) -> Held:
    others = [
        ends
        for word, ends in zip(found.words, found.intervals, strict=True)
        if word not in conclusion.agrees and word not in _OPEN
    ]
    within = bool(others) and all(_may_be(conclusion.ratio, ends) for ends in others)
    if conclusion.agrees.issuperset(found.words):
        outcome = Outcome.AGREES
    else:
        outcome = Outcome.DIFFERS if others and not within else Outcome.OPEN
    emulated = _is_emulated(run, found.systems)
    return Held(conclusion, outcome, ask, example, found.text, emulated, within)


def _may_be(ratio: float | None, ends: _Ends) -> bool:
    """Whether an interval has ends and does not exclude the published size."""
    if ratio is None or ends == _NO_ENDS:
        return False
    low, high = ends
    log = math.log(ratio)
    return (low is None or low <= log) and (high is None or log <= high)


def _is_emulated(run: RunFindings, systems: frozenset[str]) -> bool:
    return any(
        fact.endswith("accelerator") and value == "tcg"
        for machine in run.machines
        if systems.intersection(machine.systems)
        for fact, value in machine.facts.items()
    )


def answer(ask: Ask, run: RunFindings) -> Answer | None:
    """What the findings of a run say; ``None`` where they do not speak of it."""
    for view in views(run):
        if ask.workload in (None, view.own.name):
            found = _answer(ask, view)
            if found is not None:
                return found
    return None


def _answer(ask: Ask, view: View) -> Answer | None:
    if ask.claim is not None:
        return _of_claim(ask.claim, view)
    return _of_shares(ask, view) if ask.even else _of_verdicts(ask, view)


def _of_claim(name: str, view: View) -> Answer | None:
    for claim in view.own.claims:
        if claim.id == name:
            systems = {name for part in claim.parts for name in (part.subject, part.other)}
            systems |= {claim.subject} if claim.subject else set()
            text = claim_line(claim, view)
            return Answer(text, (claim.word.value,), (_NO_ENDS,), frozenset(systems))
    return None


def _of_verdicts(ask: Ask, view: View) -> Answer | None:
    baseline = view.run.baseline
    found = [
        verdict
        for verdict in view.own.verdicts
        if (verdict.response, verdict.baseline, verdict.other)
        == (ask.response, baseline, ask.other)
        and _is_at(verdict, ask.at, view)
    ]
    if not found:
        return None
    return Answer(
        _said(found, view),
        tuple(verdict.word.value for verdict in found),
        tuple(ends_of(when_decided(verdict)) for verdict in found),
        frozenset({baseline, str(ask.other)}),
    )


def _is_at(verdict: VerdictFinding, at: Mapping[str, Level], view: View) -> bool:
    """Whether a verdict is of these conditions; that over all is where there is one only."""
    if not at:
        return verdict.conditions is None
    where = verdict.conditions
    if where is None:
        met = met_by(view, (verdict.baseline, verdict.other))
        where = met[0] if len(met) == 1 else {}
    return at.items() <= where.items()


def _said(found: Sequence[VerdictFinding], view: View) -> str:
    if len(found) == 1:
        (verdict,) = found
        before = "Exploratory. " if verdict.exploratory else ""
        behind = f" Reason: {verdict_reason(verdict)}." if verdict.withheld else ""
        return before + condition_sentence(verdict, view) + behind
    counts = Counter(badge_of(verdict, view) for verdict in found)
    words = ", ".join(f"{word} at {count}" for word, count in counts.items())
    return f"Of {counted(len(found), 'condition')}: {words}."


def _of_shares(ask: Ask, view: View) -> Answer | None:
    """Uneven where the interval of the slowest over the fastest excludes that they are equal."""
    for found in view.own.consolidation:
        if found.system == ask.other and ask.at.items() <= found.conditions.items():
            ratio = found.worst_over_best
            is_uneven = ratio is not None and ratio.high_log is not None and ratio.high_log < 0
            word = "uneven" if is_uneven else "not_shown"
            alone = view.with_own(consolidation=(found,), densities=())
            return Answer(
                " ".join(consolidation_lines(alone)),
                (word,),
                (_NO_ENDS,),
                frozenset({found.system}),
            )
    return None


def study_names(conclusions: Sequence[Conclusion], studies: Path) -> dict[str, str]:
    """What each study that is asked is called, by its place below ``studies``."""
    places = {ask.study for conclusion in conclusions for ask in conclusion.asks}
    return {place: _name(studies / place) for place in sorted(places)}


def _name(path: Path) -> str:
    file = path / "study.yaml" if path.is_dir() else path
    return str(YAML(typ="safe").load(file)["study"])


def counted_outcomes(found: Sequence[Held]) -> Iterator[str]:
    """``agrees 2`` and so on, without what was published of other workloads."""
    counts = Counter(each.outcome for each in found if not each.conclusion.carried_over)
    for outcome in Outcome:
        if counts[outcome]:
            yield f"{outcome} {counts[outcome]}"
