"""What ``steelyard run`` prints: the verdicts at the end, and the short form while it runs."""

from __future__ import annotations

from collections.abc import Mapping

from steelyard.judge.findings import Findings, VerdictFinding, VerdictWord
from steelyard.report.trust import failure_lines, judged, sure_lines
from steelyard.report.words import Sentence, condition_sentence, ordered, verdict_sentence


def exploratory_lines(findings: Findings) -> list[str]:
    """The sentences of all other responses, each marked exploratory."""
    rest = [v for v in findings.verdicts if v not in judged(findings)]
    marked = [v.model_copy(update={"exploratory": True}) for v in rest]
    return [str(verdict_sentence(v, findings)) for v in ordered(marked, findings)]


def verdict_lines(findings: Findings) -> list[str]:
    """All that is said at the end of a run: the answer, how sure, what failed."""
    variant = f" (variant {findings.variant})" if findings.variant else ""
    lines = [f"{findings.question}{variant}", ""]
    lines += _indented(findings)
    lines += ["", "How sure:"] + [f"  {line}" for line in sure_lines(findings)]
    failures = failure_lines(findings)
    lines += ["", *failures] if failures else []
    return lines


def _indented(findings: Findings) -> list[str]:
    groups = answer(findings)
    if not groups:
        return ["Nothing was judged: no comparison of a primary response was found."]
    lines = []
    for main, parts in groups:
        lines.append(str(main))
        lines += [f"  {part}" for part in parts]
    return lines


def answer(findings: Findings) -> list[tuple[Sentence, list[str]]]:
    """Per compared system: its main sentence, and the short ones of each condition.

    Without a verdict over all conditions every condition gets a whole sentence of its own.
    """
    groups: list[tuple[Sentence, list[str]]] = []
    told: set[str] = set()
    for verdict in ordered(judged(findings), findings):
        if verdict.conditions is not None and verdict.other in told:
            groups[-1][1].append(condition_sentence(verdict, findings))
            continue
        groups.append((verdict_sentence(verdict, findings), []))
        if verdict.conditions is None:
            told.add(verdict.other)
    return groups


def progress_words(label: str, words: Mapping[str, VerdictWord], more_visits: int | None) -> str:
    """The live line: ``throughput: 16 users slower, 1 user undecided; about 6 more visits``.

    ``words`` maps a condition as people say it (empty for the verdict over all) to the word so far.
    """
    said = [
        f"{condition or 'overall'} {word.value.replace('_', ' ')}"
        for condition, word in words.items()
    ]
    text = f"{label}: {', '.join(said) or 'nothing judged yet'}"
    return text if more_visits is None else f"{text}; about {more_visits} more visits"


def short_word(verdict: VerdictFinding) -> str:
    """The verdict as one word for a table: ``slower``, ``not judged``."""
    return verdict.word.value.replace("_", " ")
