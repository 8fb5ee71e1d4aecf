"""Claims against the data: the engine of every verdict, at the bounds that the claim sets."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from steelyard.inference.noise.robust import Floats
from steelyard.inference.ratio_tests import Inference
from steelyard.inference.spending import FIRST_LOOK
from steelyard.judge.analyses.claims.bounds import PEAK, Bounded, Part, bounded
from steelyard.judge.analyses.claims.findings import (
    ClaimFinding,
    ClaimPartFinding,
    ClaimWord,
    NothingToCompare,
)
from steelyard.judge.analyses.claims.without import broken_by
from steelyard.judge.analyses.scaling.findings import ScalingFinding
from steelyard.judge.analyses.scaling.peaks import peak_of
from steelyard.judge.comparisons.span import too_short
from steelyard.judge.comparisons.withholding import carry_over_found, unreliable
from steelyard.judge.kinds.verdict_notes import TooFewVisits, VerdictNote
from steelyard.judge.visits.readings import Readings
from steelyard.judge.visits.series import Series
from steelyard.plan.model import Plan
from steelyard.records.events import Event
from steelyard.study.model import ClaimSpec
from steelyard.study.workload_study import WorkloadStudy


@dataclass(frozen=True)
class JudgedPart:
    """A part with its word and the visits that decided it; ``sign`` makes larger better."""

    part: Part
    series: Series
    tests: Inference | None
    word: ClaimWord
    why: VerdictNote | None
    sign: int
    decided_at: int | None = None


def judge_part(
    claim: Bounded,
    part: Part,
    readings: Readings,
    margin_log: float,
    events: Sequence[Event] = (),
) -> JudgedPart:
    """The word on one part as the records stand.

    ``events`` have what became of the disks of systems that stayed up.
    """
    judged = _by_ratio(claim, part, readings, margin_log)
    broken = broken_by(claim.spec, part.pair.other, readings.records, events)
    if broken is None or ClaimWord.CONTRADICTED is judged.word is not broken[0]:
        return judged
    word, why = broken
    if word is ClaimWord.NOT_JUDGED and judged.word is ClaimWord.UNDECIDED:
        return judged
    return replace(judged, word=word, why=why, decided_at=None)


def _by_ratio(claim: Bounded, part: Part, readings: Readings, margin_log: float) -> JudgedPart:
    sign = -1 if claim.response.direction == "lower" else 1
    series = readings.series(part.pair, claim.response, claim.spec.at)
    if series.problems:
        return JudgedPart(part, series, None, ClaimWord.NOT_JUDGED, series.problems[0], sign)
    if len(series.values) < FIRST_LOOK:
        too_few = TooFewVisits(visits=len(series.values), needed=FIRST_LOOK)
        return JudgedPart(part, series, None, ClaimWord.UNDECIDED, too_few, sign)
    tests = readings.tests(series, part.pair)
    low, high = (part.low, part.high) if sign > 0 else (-part.high, -part.low)
    word, look = _word(tests, low, high, margin_log, claim.rate)

    def stands(values: Floats) -> bool:
        again = readings.tests(series.with_defined(values), part.pair)
        return _word(again, low, high, margin_log, claim.rate)[0] is word

    why = None
    if word is not ClaimWord.UNDECIDED:
        why = (
            too_short(claim.span_s, series.visits, readings)
            or unreliable(part.pair, series, readings)
            or carry_over_found(part.pair, series, margin_log, stands)
        )
    if why is not None:
        return JudgedPart(part, series, tests, ClaimWord.UNDECIDED, why, sign)
    return JudgedPart(part, series, tests, word, None, sign, look)


def _word(
    tests: Inference, low: float, high: float, margin_log: float, rate: float
) -> tuple[ClaimWord, int | None]:
    """The word, and by how many visits it was decided.

    Supported when all outside the range is out, contradicted when all inside and beyond is.

    A claim is true or false, so only one of the two can be wrong: each has the whole rate. Of a
    range with two ends, either may be passed, and each has half.
    """
    mirrored = tests.mirrored
    inside = [
        tests.excluded(low, margin_log, rate) if math.isfinite(low) else 0,
        mirrored.excluded(-high, margin_log, rate) if math.isfinite(high) else 0,
    ]
    known = [look for look in inside if look is not None]
    if len(known) == len(inside):
        return ClaimWord.SUPPORTED, max(known)
    two_ends = math.isfinite(low) and math.isfinite(high)
    each = rate / 2 if two_ends else rate
    outside = [
        mirrored.excluded(-low, margin_log, each) if math.isfinite(low) else None,
        tests.excluded(high, margin_log, each) if math.isfinite(high) else None,
    ]
    passed = [look for look in outside if look is not None]
    return (ClaimWord.CONTRADICTED, min(passed)) if passed else (ClaimWord.UNDECIDED, None)


def word_of(parts: Sequence[JudgedPart] | Sequence[ClaimPartFinding]) -> ClaimWord:
    """A claim holds when all its parts do, and falls with one of them."""
    words = [part.word for part in parts]
    if ClaimWord.CONTRADICTED in words:
        return ClaimWord.CONTRADICTED
    if words and all(word is ClaimWord.SUPPORTED for word in words):
        return ClaimWord.SUPPORTED
    if ClaimWord.NOT_JUDGED in words or not words:
        return ClaimWord.NOT_JUDGED
    return ClaimWord.UNDECIDED


def open_parts(study: WorkloadStudy, plan: Plan, readings: Readings) -> Iterator[tuple[str, Part]]:
    """The parts that further visits may decide, of claims that are not decided yet."""
    margin = study.trials.margin_log
    for claim in bounded(study, plan):
        parts = [judge_part(claim, part, readings, margin) for part in claim.parts]
        if word_of(parts) is ClaimWord.UNDECIDED:
            for judged in parts:
                if judged.word is ClaimWord.UNDECIDED:
                    yield claim.spec.id, judged.part


def claim_findings(
    study: WorkloadStudy,
    plan: Plan,
    readings: Readings,
    scaling: Sequence[ScalingFinding],
    events: Sequence[Event] = (),
) -> Iterator[ClaimFinding]:
    """Every claim of the study, in its order."""
    of = {claim.spec.id: claim for claim in bounded(study, plan)}
    for spec in study.claims:
        if spec.kind == PEAK:
            yield _peak_finding(spec, study, scaling)
        else:
            yield _finding(of[spec.id], readings, study.trials.margin_log, events)


def _finding(
    claim: Bounded, readings: Readings, margin_log: float, events: Sequence[Event]
) -> ClaimFinding:
    judged = (judge_part(claim, part, readings, margin_log, events) for part in claim.parts)
    parts = [_part_finding(claim, each, margin_log) for each in judged]
    return ClaimFinding(
        id=claim.spec.id,
        kind=claim.spec.kind,
        response=claim.response.name,
        conditions=claim.spec.at,
        factor=claim.spec.factor,
        word=word_of(parts),
        alpha=claim.alpha,
        family=claim.family,
        parts=tuple(parts),
        subject=claim.spec.subject,
        without=claim.spec.without,
        notes=() if parts else (NothingToCompare(),),
    )


def _part_finding(claim: Bounded, judged: JudgedPart, margin_log: float) -> ClaimPartFinding:
    part, series = judged.part, judged.series
    return ClaimPartFinding(
        subject=part.pair.other,
        other=part.pair.baseline,
        word=judged.word,
        claimed_low_log=part.low if math.isfinite(part.low) else None,
        claimed_high_log=part.high if math.isfinite(part.high) else None,
        interval_level=1 - 2 * claim.rate,
        n_subject=series.n_other,
        n_other=series.n_baseline,
        decided_at=judged.decided_at,
        notes=() if judged.why is None else (judged.why,),
        **_ends(judged, margin_log, claim.rate),
    )


def _ends(judged: JudgedPart, margin_log: float, rate: float) -> dict[str, object]:
    ends: dict[str, object] = {"estimate_log": None, "low_log": None, "high_log": None}
    tests = judged.tests
    found = None if tests is None else tests.estimate()
    if tests is None or found is None:
        return ends
    [(interval, _)] = tests.sizes(margin_log, [rate], found.ratio_log)
    low, high = interval.signed(judged.sign)
    return {"estimate_log": judged.sign * found.ratio_log, "low_log": low, "high_log": high}


def _peak_finding(
    spec: ClaimSpec, study: WorkloadStudy, scaling: Sequence[ScalingFinding]
) -> ClaimFinding:
    """Where throughput peaks: by the curve of the system, with its own interval."""
    found = peak_of(scaling, spec.subject or "", spec.at or None)
    claimed = (spec.low or 0.0, spec.high or math.inf)
    low, high = found.low, found.high
    word = ClaimWord.UNDECIDED
    if low is None or high is None:
        word = ClaimWord.NOT_JUDGED
    elif claimed[0] <= low and high <= claimed[1] and not found.reasons:
        word = ClaimWord.SUPPORTED
    elif low > claimed[1] or high < claimed[0]:
        word = ClaimWord.CONTRADICTED
    return ClaimFinding(
        id=spec.id,
        kind=spec.kind,
        response=study.primary.name,
        conditions=spec.at,
        factor=None,
        word=word,
        alpha=study.trials.alpha,
        family=None,
        parts=(),
        subject=spec.subject,
        claimed_peak=claimed,
        peak=tuple(end if end is not None and math.isfinite(end) else None for end in (low, high)),
        notes=found.reasons,
    )
