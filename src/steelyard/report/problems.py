"""What a run found to be wrong, one item for each: slower, traded away, contradicted, failed, left.

Chosen from the findings alone. A study with claims is held to these, as by runners of tests. What
is open is no problem, and neither is what says nothing of a system: attempts that were invalid, and
those that ended with the session.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Literal

from steelyard.inference.sequential import VerdictWord
from steelyard.judge.analyses.claims.findings import (
    ClaimFinding,
    ClaimPartFinding,
    ClaimWord,
)
from steelyard.judge.findings import AttemptFinding, RunFindings, VerdictFinding
from steelyard.judge.kinds.caveats import CleanupIncomplete
from steelyard.records.message_text import commonest
from steelyard.records.schema import Outcome
from steelyard.report import notes
from steelyard.report.figures import counted
from steelyard.report.sentences.assumptions import judged
from steelyard.report.sentences.claims import claim_line
from steelyard.report.sentences.failures import contrast_lines, failed_line
from steelyard.report.sentences.verdict import (
    condition_sentence,
    ends_of,
    verdict_sentence,
    when_decided,
)
from steelyard.report.view import View, views
from steelyard.report.vocabulary import ordered, response_of
from steelyard.study.model import Level

ProblemKind = Literal[
    "slower",
    "trade_off",
    "contradicted",
    "damaged",
    "operations_failed",
    "attempts_failed",
    "not_restored",
]
_WORDS: dict[VerdictWord, ProblemKind] = {
    VerdictWord.SLOWER: "slower",
    VerdictWord.TRADE_OFF: "trade_off",
}
_OF_NO_SYSTEM = {
    Outcome.OK,
    Outcome.INVALID,
    Outcome.INTERRUPTED,
    Outcome.CONTROLLER_LOST,
}


@dataclass(frozen=True)
class Effect:
    """How much, at some conditions (``None``: over all): the ratio of other over baseline.

    An end of the interval that is not bounded is ``None``.
    """

    conditions: dict[str, str] | None
    ratio: float | None
    low: float | None
    high: float | None
    interval_level: float
    visits: int


@dataclass(frozen=True)
class Problem:
    """One item of a list of bugs. ``said`` are sentences of the report, the gravest first."""

    kind: ProblemKind
    title: str
    said: tuple[str, ...]
    workload: str | None = None
    system: str | None = None
    against: str | None = None
    response: str | None = None
    effects: tuple[Effect, ...] = field(default=())


def problems(run: RunFindings) -> list[Problem]:
    """All of a run, comparisons first; none where nothing is wrong."""
    return [*(each for view in views(run) for each in _of_workload(view)), *_left(run)]


def _of_workload(view: View) -> Iterator[Problem]:
    if not view.own.claims:
        yield from _worse(view)
    yield from (_contradicted(claim, view) for claim in view.own.claims
                if claim.word is ClaimWord.CONTRADICTED)  # fmt: skip
    yield from _operations(view)
    yield from _attempts(view)


def _worse(view: View) -> Iterator[Problem]:
    """One for each pair and word: over all conditions where that was found, then each of them."""
    found: dict[tuple[str, str, ProblemKind], list[VerdictFinding]] = defaultdict(list)
    for verdict in ordered(judged(view), view):
        has_good = response_of(view, verdict.response).direction != "none"
        if verdict.word in _WORDS and has_good:
            found[verdict.baseline, verdict.other, _WORDS[verdict.word]].append(verdict)
    for (baseline, other, kind), verdicts in found.items():
        sentence = verdict_sentence(verdicts[0], view)
        yield Problem(
            kind,
            view.titled(sentence.head if kind == "slower" else sentence.head.partition(":")[0]),
            (str(sentence), *(condition_sentence(each, view) for each in verdicts[1:])),
            workload=view.own.name,
            system=other,
            against=baseline,
            response=verdicts[0].response,
            effects=tuple(_effect(when_decided(each), view) for each in verdicts),
        )


def _effect(verdict: VerdictFinding, view: View) -> Effect:
    low, high = ends_of(verdict)
    return Effect(
        None if verdict.conditions is None else _named(verdict.conditions, view),
        _ratio(verdict.estimate_log),
        _ratio(low),
        _ratio(high),
        verdict.interval_level,
        verdict.n_baseline + verdict.n_other,
    )


def _named(conditions: dict[str, Level], view: View) -> dict[str, str]:
    return {name: view.run.labels.level(level, name) for name, level in conditions.items()}


def _ratio(log: float | None) -> float | None:
    return None if log is None else math.exp(log)


def _contradicted(claim: ClaimFinding, view: View) -> Problem:
    """It does not hold; of several systems that it is on, the first is named that breaks it."""
    parts = [part for part in claim.parts if part.word is ClaimWord.CONTRADICTED]
    return Problem(
        "contradicted",
        view.titled(f"claim {claim.id} is contradicted"),
        (claim_line(claim, view),),
        workload=view.own.name,
        system=parts[0].subject if parts else claim.subject,
        against=parts[0].other if parts else None,
        response=claim.response,
        effects=tuple(_effect_of_part(each, claim, view) for each in parts),
    )


def _effect_of_part(part: ClaimPartFinding, claim: ClaimFinding, view: View) -> Effect:
    ratios = (_ratio(part.estimate_log), _ratio(part.low_log), _ratio(part.high_log))
    visits = part.n_subject + part.n_other
    return Effect(_named(claim.conditions, view), *ratios, part.interval_level, visits)


def _operations(view: View) -> Iterator[Problem]:
    """Of trials that count."""
    for each in view.own.failures:
        line = failed_line(each)
        if each.failed and line:
            contrasts = [c for c in view.own.failure_contrasts if c.other == each.system]
            compared = (line for contrast in contrasts for line in contrast_lines(contrast))
            yield Problem(
                "operations_failed",
                view.titled(f"{each.system}: {counted(each.failed, 'operation')} failed"),
                (line, *compared),
                workload=view.own.name,
                system=each.system,
            )


def _attempts(view: View) -> Iterator[Problem]:
    """One for each system and way to fail, the commonest first."""
    found: dict[tuple[str, str], list[AttemptFinding]] = defaultdict(list)
    for attempt in view.attempts:
        if attempt.outcome not in _OF_NO_SYSTEM:
            found[attempt.cell.system, attempt.outcome].append(attempt)
    of_each = sorted(found.items(), key=lambda each: -len(each[1]))
    for (system, outcome), failed in of_each:
        whole = [each for each in view.attempts if each.cell.system == system]
        words = outcome.replace("_", " ")
        yield Problem(
            "damaged" if outcome == Outcome.DAMAGED else "attempts_failed",
            view.titled(f"{system}: {words} in {len(failed)} of {counted(len(whole), 'attempt')}"),
            tuple(_failed(failed, view)),
            workload=view.own.name,
            system=system,
        )


def _failed(failed: list[AttemptFinding], view: View) -> Iterator[str]:
    said, hints = commonest([each.message or "" for each in failed]), _hints(failed)
    if said:
        yield f"What it said: {said}"
    yield from (f"What to do: {hint}" for hint in hints)
    of_trials = {each.trial for each in failed}
    good = {each.trial for each in view.attempts if each.outcome == Outcome.OK}
    lost = len(of_trials - good)
    yield f"Without a result in the end: {lost} of {counted(len(of_trials), 'trial')} concerned."
    places = {view.run.labels.conditions(each.cell.conditions) for each in failed} - {""}
    if places:
        yield f"Seen at: {'; '.join(sorted(places))}."


def _hints(failed: Iterable[AttemptFinding]) -> list[str]:
    return list(dict.fromkeys(each.hint for each in failed if each.hint))[:1]


def _left(run: RunFindings) -> Iterator[Problem]:
    """Machines that are not as they were found."""
    caveats = [*run.caveats, *(each for own in run.workloads for each in own.caveats)]
    for each in caveats:
        if isinstance(each, CleanupIncomplete):
            title = f"{counted(each.count, 'difference')} left on the machines after the run"
            if each.pending:
                title = f"{counted(each.pending, 'change')} of the run not undone"
            yield Problem("not_restored", title, (f"{notes.text(each, run.labels)}.",))
            return
