"""Claims of a study: what was claimed, what was seen, and what that says."""

from __future__ import annotations

from collections.abc import Iterator

from steelyard.judge.analyses.claims.findings import (
    ClaimFamily,
    ClaimFinding,
    ClaimPartFinding,
    ClaimWord,
)
from steelyard.judge.findings import ResponseFinding
from steelyard.report import notes
from steelyard.report.effects import interval, signed_effect
from steelyard.report.figures import counted, listed, percent
from steelyard.report.notes.verdict import note_text
from steelyard.report.view import View
from steelyard.report.vocabulary import direction_of, noun_of, response_of
from steelyard.study.labels import Labels

_VERBS = {
    "at_least": "at least {factor} times that of {other}",
    "at_most": "at most {factor} times that of {other}",
    "within": "within {share} of {other}",
    "faster_than": "better than that of {other}",
    "slower_than": "worse than that of {other}",
    "equivalent_to": "within the margin of {other}",
    "no_worse_than": "not worse than that of {other} by the margin",
}


def claim_lines(view: View) -> list[str]:
    """One sentence for each claim, those that are contradicted first."""
    order = list(ClaimWord)
    order.sort(key=lambda word: word is not ClaimWord.CONTRADICTED)
    found = sorted(view.own.claims, key=lambda claim: order.index(claim.word))
    return [claim_line(claim, view) for claim in found]


def claim_line(claim: ClaimFinding, view: View) -> str:
    """The claim, its word and what decides it, in one line."""
    word = claim.word.value.replace("_", " ")
    said = "; ".join(_shown(claim, view))
    return f"{claim.id}: {word}. Claimed: {claimed(claim, view)}. Seen: {said}."


def claimed(claim: ClaimFinding, view: View) -> str:
    """What was claimed, as a sentence without its end."""
    response = response_of(view, claim.response)
    where = view.run.labels.conditions(claim.conditions)
    at = f" at {where}" if where else ""
    if claim.claimed_peak is not None:
        low, high = claim.claimed_peak
        return f"the {noun_of(response)} of {claim.subject}{at} peaks at {low:g} to {high:g} users"
    names = [part.subject for part in claim.parts]
    subject = claim.subject or listed(names) or "nothing"
    other = claim.parts[0].other if claim.parts else "the baseline"
    factor = claim.factor or 1.0
    verb = _VERBS[claim.kind].format(factor=f"{factor:g}", share=percent(factor), other=other)
    each = "each of " if len(names) > 1 else ""
    without = f", without {' or '.join(claim.without)}" if claim.without else ""
    return f"the {noun_of(response)} of {each}{subject}{at} is {verb}{without}"


def _shown(claim: ClaimFinding, view: View) -> Iterator[str]:
    """What the data say of the parts that decide; of all others when none does."""
    if claim.claimed_peak is not None:
        yield peak_text(claim, view.run.labels)
        return
    deciding = [part for part in claim.parts if part.word is claim.word] or list(claim.parts)
    response = response_of(view, claim.response)
    several = len(claim.parts) > 1
    for part in deciding:
        yield f"{f'{part.subject}: ' if several else ''}{_part(part, response)}"
    if not deciding:
        yield "; ".join(notes.texts(claim.notes, view.run.labels)) or "nothing was compared"


def peak_text(claim: ClaimFinding, labels: Labels) -> str:
    low, high = claim.peak or (None, None)
    reasons = notes.texts(claim.notes, labels)
    if low is None:
        return "; ".join(reasons) or "no curve describes the data"
    ends = f"from {low:.3g} users on" if high is None else f"{low:.3g} to {high:.3g} users"
    said = f"95 % interval of the peak {ends}"
    return "; ".join([said, *reasons])


def _part(part: ClaimPartFinding, response: ResponseFinding) -> str:
    count = counted(part.n_subject + part.n_other, "visit")
    reasons = f"; {'; '.join(map(note_text, part.notes))}" if part.notes else ""
    if part.estimate_log is None:
        return f"{count}{reasons}"
    size = signed_effect(part.estimate_log, beside=(part.low_log, part.high_log))
    return f"{size}, {part_ends(part, response)}, {count}{_since(part)}{reasons}"


def _since(part: ClaimPartFinding) -> str:
    """When it was decided, where the interval of all visits no longer says so."""
    if part.decided_at is None or part.word is not ClaimWord.SUPPORTED:
        return ""
    low, high = part.claimed_low_log, part.claimed_high_log
    below = low is not None and (part.low_log is None or part.low_log < low)
    above = high is not None and (part.high_log is None or part.high_log > high)
    all_visits = part.n_subject + part.n_other
    if not (below or above):
        return ""
    if part.decided_at >= all_visits:
        return "; decided by all looks together, the last alone would leave it open"
    return f"; decided after {counted(part.decided_at, 'visit')}, and all of them leave it open"


def part_ends(part: ClaimPartFinding, response: ResponseFinding) -> str:
    bounds = [b for b in (part.claimed_low_log, part.claimed_high_log) if b is not None]
    ends = interval(
        part.low_log,
        part.high_log,
        estimate_log=part.estimate_log,
        direction=direction_of(response),
        exact_to=tuple(bounds),
    )
    return f"{percent(part.interval_level)} interval {ends}"


def claim_family(family: ClaimFamily | None) -> str:
    """What shares the error rate of a claim: ``3 claims, 2 parts``."""
    if family is None:
        return "the interval of the peak, by itself"
    parts = f", {family.parts} parts" if family.parts > 1 else ""
    return f"{counted(family.claims, 'claim')}{parts}"
