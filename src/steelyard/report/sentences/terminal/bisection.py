"""What a bisection found, in few lines."""

from __future__ import annotations

from collections.abc import Iterator

from steelyard.records.results.bisection import Bisection, Change, Outcome, Step
from steelyard.report import notes
from steelyard.report.effects import interval, signed_effect
from steelyard.report.figures import counted, listed, percent
from steelyard.study.labels import Labels


def bisection_lines(found: Bisection) -> list[str]:
    """The answer, its size, what bounds it."""
    return [*_answer(found), *_skipped(found), _basis(found)]


def step_line(step: Step) -> str:
    """``v2 to v3: slower, +5.1 % (95 %: +2.2 to +8.0 %); v3 to v5: undecided (24 visits)``."""
    changes = "; ".join(map(change_text, step.changes))
    return f"{changes} ({counted(step.visits, 'visit')})"


def change_text(change: Change) -> str:
    """One change with its size, and what stands against a verdict."""
    word = change.word.replace("_", " ")
    return f"{change.before} to {change.after}: {word}{_size(change)}{_why(change)}"


def _why(change: Change) -> str:
    reasons = "; ".join(notes.text(each, Labels()) for each in change.why)
    return f": {reasons}" if reasons else ""


def _size(change: Change) -> str:
    if change.estimate_log is None:
        return ""
    ends = change.low_log, change.high_log
    size = signed_effect(change.estimate_log, beside=ends)
    level = "" if change.interval_level is None else f"{percent(change.interval_level)}: "
    within = interval(*ends, estimate_log=change.estimate_log, direction=None)
    return f", {size} ({level}{within})"


def _answer(found: Bisection) -> Iterator[str]:
    if found.outcome is Outcome.FOUND and found.change is not None:
        several = len(found.candidates) > 1
        named = "one of " + listed(found.candidates) if several else found.culprit
        yield f"culprit: {named}"
        yield change_text(found.change)
    elif found.outcome is Outcome.NO_CHANGE:
        yield f"no change: {found.last_before} and {found.culprit} are equivalent by the margin"
    elif found.change is None:
        why = _why(found.steps[-1].changes[0]) if found.steps else ""
        yield f"undecided: no change from {found.last_before} to {found.culprit} was shown{why}"
    else:
        yield (
            f"undecided: a change lies after {found.last_before} and at or before {found.culprit}, "
            f"among {counted(len(found.candidates), 'level')}; a larger --budget may narrow it"
        )


def _skipped(found: Bisection) -> Iterator[str]:
    if found.skipped:
        yield f"skipped, because they could not be prepared: {listed(found.skipped)}"


def _basis(found: Bisection) -> str:
    return (
        f"{counted(len(found.steps), 'step')}, {counted(found.visits, 'visit')} in random order; a "
        f"level without a change is named in at most {percent(found.alpha)} of such searches"
    )
