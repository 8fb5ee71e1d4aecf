"""What failed, in words: operations of trials that count, and attempts that failed."""

from __future__ import annotations

import math
from collections.abc import Iterator

from steelyard.judge.analyses.failures.findings import FailureContrastFinding, FailureFinding
from steelyard.judge.findings import RunFindings
from steelyard.report.effects import interval
from steelyard.report.figures import counted, percent, significant
from steelyard.report.notes.verdict import note_text
from steelyard.report.notes.warnings import failed_operations_text
from steelyard.report.view import View

_UNEQUAL = 0.05
_MOST_CAUSES = 2


def damage_lines(run: RunFindings) -> list[str]:
    """One sentence for each system of which disks were damaged."""
    return [
        f"{each.system}: damage in {len(each.damaged)} of {counted(each.checks, 'disk check')}."
        for each in run.disks
        if each.damaged
    ]


def failed_lines(view: View) -> list[str]:
    """One sentence for each system of which operations were counted, then what differs."""
    lines = [line for each in view.own.failures if (line := failed_line(each))]
    for contrast in view.own.failure_contrasts:
        lines += contrast_lines(contrast)
    return lines


def lost_lines(view: View) -> list[str]:
    """Of these sentences those of systems of which operations failed."""
    return [line for each in view.own.failures if each.failed and (line := failed_line(each))]


def failed_line(found: FailureFinding) -> str | None:
    """How many operations of one system failed, and how; ``None`` where none were counted."""
    if found.operations is None or found.failed is None:
        return None
    if found.below is not None:
        share = f"{significant(100 * found.below, 2)} %"
        return (
            f"{found.system}: none of {found.operations:,} operations failed (below {share}, "
            "95 % interval)."
        )
    share = f"{significant(100 * found.failed / found.operations, 2)} %"
    causes = "; ".join(map(failed_operations_text, found.causes[:_MOST_CAUSES]))
    more = len(found.causes) - _MOST_CAUSES
    rest = f"; and in {counted(more, 'other way')}" if more > 0 else ""
    return (
        f"{found.system}: {found.failed:,} of {found.operations:,} operations failed ({share})"
        f"{f': {causes}{rest}' if causes else ''}."
    )


def contrast_lines(found: FailureContrastFinding) -> Iterator[str]:
    """Whether one system fails more than another, where that was asked."""
    if found.word in {"fails_more", "fails_less"}:
        more = "more" if found.word == "fails_more" else "less"
        yield (
            f"{found.other} fails {more} than {found.baseline}{_odds(found)}, judged by visit; "
            "exploratory."
        )
    elif found.word == "undecided":
        yield (
            f"Whether {found.other} fails more or less than {found.baseline} is undecided"
            f"{f' ({note_text(found.note)})' if found.note else ''}."
        )
    if found.attempts_chance is not None and found.attempts_chance < _UNEQUAL:
        yield (
            f"Attempts end badly unequally on {found.baseline} and {found.other}; by chance alone "
            f"with probability {significant(found.attempts_chance, 2)} (Fisher's exact test)."
        )


def _odds(found: FailureContrastFinding) -> str:
    """Their ratio, where both have failures: of none against some it has no size."""
    if found.odds_log is None:
        return ""
    ends = interval(found.low_log, found.high_log, estimate_log=_LARGE)
    odds = significant(math.exp(found.odds_log), 2)
    return f": {odds} times the odds ({percent(found.interval_level)} interval {ends})"


_LARGE = math.log(10)
