"""A search for the best candidate as a table: a row for each candidate, the best first."""

from __future__ import annotations

from steelyard.records.results.timing import Quantity
from steelyard.records.results.tuning import Candidate, Outcome, Standing, Tuning
from steelyard.report.effects import signed_effect
from steelyard.report.figures import counted
from steelyard.report.view import NONE, Table

_WORDS = {
    Standing.BEST: "best",
    Standing.WORSE: "worse",
    Standing.ALIKE: "not distinguished",
    Standing.OPEN: "may be better",
    Standing.FAILED: "failed",
}


def tuning_table(found: Tuning, quantity: Quantity) -> Table:
    """Estimates are those of the elimination, over the baseline."""
    head = ("", f"{quantity.label} vs. {found.baseline}", "visits", "", "dropped")
    is_judged = found.outcome is not Outcome.NOT_JUDGED
    rows = tuple(_row(each, found.baseline, is_judged=is_judged) for each in found.candidates)
    return Table("Candidates", head, rows, frozenset({1, 2}))


def _row(each: Candidate, baseline: str, *, is_judged: bool) -> tuple[str, ...]:
    word = _WORDS[each.standing]
    change = NONE if each.estimate_log is None else signed_effect(each.estimate_log)
    return (
        each.name,
        "baseline" if each.name == baseline else change,
        str(each.visits),
        word if is_judged or each.standing is Standing.FAILED else "not judged",
        _left(each),
    )


def _left(each: Candidate) -> str:
    if each.dropped_after is None:
        return each.failure or ""
    return f"after {counted(each.dropped_after, 'block')}, against {each.dropped_against}"
