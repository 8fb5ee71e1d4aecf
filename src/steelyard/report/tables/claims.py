"""Claims of the study in words: what was claimed, what the data say, and by how much."""

from __future__ import annotations

from steelyard.judge.analyses.claims.findings import ClaimWord
from steelyard.report.effects import signed_effect
from steelyard.report.figures import percent
from steelyard.report.sentences.claims import claim_family, part_ends, peak_text
from steelyard.report.view import NONE, Table, View
from steelyard.report.vocabulary import response_of


def claims_table(view: View) -> Table:
    """Every part of every claim."""
    rows = []
    for claim in view.own.claims:
        response = response_of(view, claim.response)
        where = view.run.labels.conditions(claim.conditions) or "all conditions"
        if claim.claimed_peak is not None:
            rows.append(
                (
                    claim.id,
                    claim.subject or "",
                    where,
                    NONE,
                    peak_text(claim, view.run.labels),
                    _word(claim.word),
                )
            )
        for part in claim.parts:
            size = NONE if part.estimate_log is None else signed_effect(part.estimate_log)
            ends = NONE if part.estimate_log is None else part_ends(part, response)
            against = f"{part.subject} against {part.other}"
            rows.append((claim.id, against, where, size, ends, _word(part.word)))
    head = ("Claim", "Of", "Condition", "Size", "Interval", "What the data say")
    families = "; ".join(dict.fromkeys(claim_family(claim.family) for claim in view.own.claims))
    alpha = next((percent(claim.alpha) for claim in view.own.claims), "")
    note = f"Family-wise error rate of claims: {alpha} ({families}), valid under early stopping."
    return Table("Claims", head, tuple(rows), frozenset({3}), (note,) if rows else ())


def _word(word: ClaimWord) -> str:
    return word.value.replace("_", " ")
