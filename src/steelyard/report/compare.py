"""Two finished runs side by side, in words only.

Runs were not randomised against each other: machine, day and neighbours may differ, so no test
is made between them and none may be read into this.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from steelyard.inference.sequential import VerdictWord
from steelyard.judge.findings import ResponseFinding, RunFindings, VerdictFinding
from steelyard.report.effects import signed_effect
from steelyard.report.figures import counted
from steelyard.report.sentences.verdict import ends_of, interval_words
from steelyard.report.view import View, views
from steelyard.report.vocabulary import compared_all, response_of, verdict_word

_Key = tuple[str, str, str, str]

OPPOSED = (
    frozenset({VerdictWord.FASTER, VerdictWord.SLOWER}),
    frozenset({VerdictWord.FASTER, VerdictWord.EQUIVALENT}),
    frozenset({VerdictWord.SLOWER, VerdictWord.EQUIVALENT}),
)
_OF_A_RUN = {"run", "study", "study_sha256", "variant", "tool_version", "systems"}
_DIGEST = re.compile(r"\b([0-9a-f]{12})[0-9a-f]{52}\b")
NO_TEST = (
    "These runs were not randomised against each other, so no test is made between them: what "
    "differs may come from the day, the machine or the order as well as from the systems."
)


def compare_lines(a: RunFindings, b: RunFindings, machines: Sequence[str] = ()) -> list[str]:
    """What both runs say, where they contradict each other, and how far they are comparable.

    ``machines`` says what is not the same of the machines that carried them.
    """
    lines = [f"Run {a.run} against run {b.run}.", NO_TEST, *_frame_lines(a, b, machines), ""]
    first, second = _by_key(a), _by_key(b)
    for key in dict.fromkeys([*first, *second]):
        lines += _pair_lines(key, (a, first.get(key)), (b, second.get(key)))
    contradictions = sum(_contradict(first[k], second[k]) for k in first if k in second)
    shared = len(first.keys() & second.keys())
    count = counted(shared, "comparison")
    return [*lines, "", f"{count} in both runs, {contradictions} of them contradictory."]


def compared_data(a: RunFindings, b: RunFindings, machines: Sequence[str] = ()) -> dict[str, Any]:
    """The same as data: each comparison with the finding of either run, null where it has none."""
    first, second = _by_key(a), _by_key(b)
    return {
        "runs": [each.model_dump(mode="json", include=_OF_A_RUN) for each in (a, b)],
        "note": NO_TEST,
        "differ": _frame_lines(a, b, machines),
        "pairs": [
            {
                **dict(zip(("response", "other", "baseline", "where"), key, strict=True)),
                "verdicts": [v and v.model_dump(mode="json") for v in (one, another)],
                "contradiction": bool(one and another and _contradict(one, another)),
            }
            for key in dict.fromkeys([*first, *second])
            for one, another in [(first.get(key), second.get(key))]
        ],
    }


def _frame_lines(a: RunFindings, b: RunFindings, machines: Sequence[str]) -> list[str]:
    lines = []
    if a.study != b.study:
        lines.append(f"They are runs of different studies: {a.study} and {b.study}.")
    if a.study_sha256 != b.study_sha256:
        lines.append(f"The study files differ: sha256 {a.study_sha256[:12]} and "
                     f"{b.study_sha256[:12]}.")  # fmt: skip
    if a.variant != b.variant:
        lines.append(f"The variants differ: {a.variant or 'none'} and {b.variant or 'none'}.")
    if a.tool_version != b.tool_version:
        lines.append(f"Made by different versions: {a.tool_version} and {b.tool_version}.")
    if (a.compare, set(a.systems)) != (b.compare, set(b.systems)):
        lines.append(
            f"The {_compared(a, b)} differ: {', '.join(a.systems)} and {', '.join(b.systems)}."
        )
    lines += [f"Not the same {each}." for each in machines]
    return [*lines, *_tested_lines(a, b), *_fact_lines(a, b)]


def _tested_lines(a: RunFindings, b: RunFindings) -> Iterator[str]:
    """Of the systems of both runs, which program is not the same: then the runs test two things."""
    for system in (name for name in a.systems if name in b.systems):
        one, another = a.tested.get(system, {}), b.tested.get(system, {})
        for fact in sorted(one.keys() | another.keys()):
            if one.get(fact) != another.get(fact):
                values = " and ".join(_shown(of.get(fact)) for of in (one, another))
                yield f"NOT THE SAME was tested as {system}: {fact} {values}."


def _shown(values: tuple[str, ...] | None) -> str:
    """Digests by their first digits."""
    return "not recorded" if values is None else _DIGEST.sub(r"\1…", ", ".join(values))


def _fact_lines(a: RunFindings, b: RunFindings) -> list[str]:
    """Facts that differ within each run are all that findings hold of the machines."""
    facts_a = {d.fact: d.values for d in a.differences}
    facts_b = {d.fact: d.values for d in b.differences}
    changed = [f for f in dict.fromkeys([*facts_a, *facts_b]) if facts_a.get(f) != facts_b.get(f)]
    if not changed:
        return []
    between = f"Facts that differ between the {_compared(a, b)}"
    return [f"{between} are not the same in both: {', '.join(changed)}."]


def _compared(a: RunFindings, b: RunFindings) -> str:
    return compared_all(a) if a.compare == b.compare else "compared systems"


def _by_key(run: RunFindings) -> dict[_Key, VerdictFinding]:
    return {
        (v.response, v.other, v.baseline, _where(v, view)): v
        for view in views(run)
        for v in view.own.verdicts
    }  # one comparison is judged once per run


def _where(verdict: VerdictFinding, view: View) -> str:
    if verdict.conditions is None:
        return "over all conditions" + (f" of {view.heading}" if view.heading else "")
    return view.run.labels.conditions(verdict.conditions) or "all trials"


def _known(run: RunFindings, name: str) -> ResponseFinding:
    """A response of any workload."""
    of_each = views(run)
    having = (view for view in of_each if any(r.name == name for r in view.own.responses))
    return response_of(next(having, of_each[0]), name)


def _pair_lines(
    key: _Key,
    a: tuple[RunFindings, VerdictFinding | None],
    b: tuple[RunFindings, VerdictFinding | None],
) -> list[str]:
    response, other, baseline, where = key
    label = _known(a[0] if a[1] else b[0], response).label
    lines = [f"{label} of {other} against {baseline}, {where}:"]
    lines += [f"  {run.run}: {_said(run, verdict)}" for run, verdict in (a, b)]
    if a[1] is not None and b[1] is not None and _contradict(a[1], b[1]):
        same = f"the same {_compared(a[0], b[0])}"
        lines.append(f"  CONTRADICTION: these verdicts cannot both hold for {same}.")
    return lines


def _said(run: RunFindings, verdict: VerdictFinding | None) -> str:
    if verdict is None:
        return "not in this run"
    response = _known(run, verdict.response)
    word = verdict_word(verdict, response)
    count = counted(verdict.n_baseline + verdict.n_other, "visit")
    mark = ", exploratory" if verdict.exploratory else ""
    if verdict.estimate_log is None:
        return f"{word}, {count}{mark}"
    size = signed_effect(verdict.estimate_log, beside=ends_of(verdict))
    return f"{word}, {size} ({interval_words(verdict, response)}), {count}{mark}"


Words = tuple[Iterable[VerdictWord], VerdictWord]
"""All words that hold of a comparison, and the one that is its verdict."""


def contradict(a: Words, b: Words) -> bool:
    """Opposed words, unless one run said both (faster, yet within the margin)."""
    if set(a[0]) & set(b[0]):
        return False
    return frozenset({a[1], b[1]}) in OPPOSED


def _contradict(a: VerdictFinding, b: VerdictFinding) -> bool:
    return contradict((a.words, a.word), (b.words, b.word))
