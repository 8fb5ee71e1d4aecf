"""A run as a list of tests with results: what the forms for runners of tests have in common.

A claim of the study is a test: it fails when it is contradicted, and is open while it is undecided.
A study without claims is held to its primary comparisons: one fails when the other system is
slower, or traded speed for a guardrail metric. One more test says whether every trial gave a
result.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from steelyard.inference.sequential import VerdictWord
from steelyard.judge.analyses.claims.findings import ClaimWord
from steelyard.judge.findings import RunFindings, VerdictFinding
from steelyard.report.sentences.assumptions import OK, failure_lines, judged
from steelyard.report.sentences.claims import claim_line
from steelyard.report.sentences.verdict import condition_sentence, verdict_sentence
from steelyard.report.view import View, lines, views

Result = Literal["pass", "fail", "open"]

OF_CLAIMS: dict[ClaimWord, Result] = {
    ClaimWord.SUPPORTED: "pass",
    ClaimWord.CONTRADICTED: "fail",
    ClaimWord.UNDECIDED: "open",
    ClaimWord.NOT_JUDGED: "open",
}
OF_VERDICTS: dict[VerdictWord, Result] = {
    VerdictWord.FASTER: "pass",
    VerdictWord.EQUIVALENT: "pass",
    VerdictWord.SLOWER: "fail",
    VerdictWord.TRADE_OFF: "fail",
    VerdictWord.UNDECIDED: "open",
    VerdictWord.NOT_JUDGED: "open",
}

_TRIALS = "every trial gave a result"
_NOT_HELD = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True)
class Case:
    """One test: what it is called, how it ended, and the sentence that says why."""

    name: str
    result: Result
    word: str
    said: str


def cases_of(run: RunFindings) -> list[Case]:
    """All of a run, that of its trials last."""
    return [*(case for view in views(run) for case in _cases(view)), _trials(run)]


def _cases(view: View) -> Iterator[Case]:
    """The claims, or without any the comparisons that carry the guarantee."""
    for claim in view.own.claims:
        result = OF_CLAIMS[claim.word]
        yield Case(claim.id, result, claim.word.value, claim_line(claim, view))
    for verdict in () if view.own.claims else judged(view):
        result = OF_VERDICTS[verdict.word]
        yield Case(_name(verdict, view), result, verdict.word.value, _said(verdict, view))


def _name(verdict: VerdictFinding, view: View) -> str:
    where = view.run.labels.conditions(verdict.conditions or {}) or "overall"
    return view.titled(f"{verdict.response} of {verdict.other} against {verdict.baseline}, {where}")


def _said(verdict: VerdictFinding, view: View) -> str:
    if verdict.conditions is None:
        return str(verdict_sentence(verdict, view))
    return condition_sentence(verdict, view)


def _trials(run: RunFindings) -> Case:
    measured = {each.trial for each in run.attempts if each.outcome == OK}
    lost = {each.trial for each in run.attempts} - measured
    said = " ".join(lines(run, failure_lines)) or "Every attempt succeeded."
    if lost or any(each.damaged for each in run.disks):
        return Case(_TRIALS, "fail", "trials_failed", said)
    return Case(_TRIALS, "pass", "measured", said)


def printable(text: str) -> str:
    """Without what neither XML 1.0 nor YAML can hold: control characters that a tool printed."""
    return _NOT_HELD.sub("?", text)
