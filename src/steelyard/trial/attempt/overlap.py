"""How much of their work several instances did at the same time. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from steelyard.records.warnings import TrialWarning, WarningKind

_LEAST_SHARE = 0.9
"""Two that halve each other's speed look up to a tenth faster if they work alone for a tenth."""


def overlap_warnings(works: Sequence[tuple[int, int] | None]) -> list[TrialWarning]:
    """That one worked without the others for more than a tenth of its own time.

    ``works`` are the start and the end of what each instance measured, in ns of one clock. What
    several do together is the sum of what each did in its own time; it is theirs at the same time
    only as far as those times overlap.
    """
    known = [each for each in works if each is not None]
    if len(known) < 2 or len(known) < len(works):
        return []
    longest_ns = max(ended - began for began, ended in known)
    together_ns = max(0, min(ended for _, ended in known) - max(began for began, _ in known))
    if together_ns >= _LEAST_SHARE * longest_ns:
        return []
    figures = {"together_ns": together_ns, "longest_ns": longest_ns}
    return [TrialWarning(kind=WarningKind.INSTANCES_APART, figures={**figures})]
