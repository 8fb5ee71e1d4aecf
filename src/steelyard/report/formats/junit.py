"""The verdicts as a JUnit file, which the servers of pipelines show as tests.

A claim of the study is a test: it fails when it is contradicted, and is skipped while it is open. A
study without claims is held to its primary comparisons: one fails when the other system is slower,
or traded speed for a guardrail metric. One more test says whether every trial gave a result.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
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

Outcome = Literal["passed", "failure", "skipped"]

_NOT_IN_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_OF_CLAIMS: dict[ClaimWord, Outcome] = {
    ClaimWord.SUPPORTED: "passed",
    ClaimWord.CONTRADICTED: "failure",
}
_OF_VERDICTS: dict[VerdictWord, Outcome] = {
    VerdictWord.FASTER: "passed",
    VerdictWord.EQUIVALENT: "passed",
    VerdictWord.SLOWER: "failure",
    VerdictWord.TRADE_OFF: "failure",
}


@dataclass(frozen=True)
class _Case:
    """One test: what it is called, how it ended, and the sentence that says why."""

    name: str
    outcome: Outcome
    word: str
    said: str


def junit_text(run: RunFindings) -> str:
    """One suite for the study; times are those of the whole run, given once."""
    cases = [*(case for view in views(run) for case in _cases(view)), _trials(run)]
    shared = _counted(cases) | {"time": f"{run.stop.spent_s:.3f}"}
    root = ET.Element("testsuites", {"name": "steelyard", **shared})
    suite = ET.SubElement(root, "testsuite", {"name": _plain(run.study), **shared})
    for case in cases:
        element = ET.SubElement(suite, "testcase", _named(run, case))
        if case.outcome != "passed":
            kind = {"type": case.word} if case.outcome == "failure" else {}
            ET.SubElement(element, case.outcome, {"message": _plain(case.said), **kind})
        ET.SubElement(element, "system-out").text = _plain(case.said)
    ET.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ET.tostring(root, encoding="unicode")}\n'


def _counted(cases: list[_Case]) -> dict[str, str]:
    outcomes = [case.outcome for case in cases]
    return {
        "tests": str(len(cases)),
        "failures": str(outcomes.count("failure")),
        "errors": "0",
        "skipped": str(outcomes.count("skipped")),
    }


def _named(run: RunFindings, case: _Case) -> dict[str, str]:
    return {"classname": _plain(run.study), "name": _plain(case.name)}


def _plain(text: str) -> str:
    """Without what XML 1.0 cannot hold: what a tool printed may have control characters in it."""
    return _NOT_IN_XML.sub("?", text)


def _cases(view: View) -> Iterator[_Case]:
    """The claims, or without any the comparisons that carry the guarantee."""
    for claim in view.own.claims:
        outcome = _OF_CLAIMS.get(claim.word, "skipped")
        yield _Case(claim.id, outcome, claim.word.value, claim_line(claim, view))
    for verdict in () if view.own.claims else judged(view):
        outcome = _OF_VERDICTS.get(verdict.word, "skipped")
        yield _Case(_name(verdict, view), outcome, verdict.word.value, _said(verdict, view))


def _name(verdict: VerdictFinding, view: View) -> str:
    where = view.run.labels.conditions(verdict.conditions or {}) or "overall"
    return view.titled(f"{verdict.response} of {verdict.other} against {verdict.baseline}, {where}")


def _said(verdict: VerdictFinding, view: View) -> str:
    if verdict.conditions is None:
        return str(verdict_sentence(verdict, view))
    return condition_sentence(verdict, view)


def _trials(run: RunFindings) -> _Case:
    measured = {each.trial for each in run.attempts if each.outcome == OK}
    lost = {each.trial for each in run.attempts} - measured
    said = " ".join(lines(run, failure_lines)) or "Every attempt succeeded."
    return _Case(
        "every trial gave a result", "failure" if lost else "passed", "trials_failed", said
    )
