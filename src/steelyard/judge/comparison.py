"""One comparison judged: word, ratio, interval, doubts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from steelyard.judge.decision import UNDECIDED, Decision, decide
from steelyard.judge.estimate import Estimate, estimate, visits_to_decide
from steelyard.judge.families import Comparison
from steelyard.judge.findings import VerdictFinding, VerdictWord
from steelyard.judge.interval import Stream, high_end, low_end
from steelyard.judge.notes import notes_on
from steelyard.judge.shape import carry_over, shape_of
from steelyard.judge.spending import FIRST_LOOK
from steelyard.judge.streams import Readings, Series, stream_of


@dataclass(frozen=True)
class Judged:
    """What the engine says of a comparison, with what may forbid to say it.

    ``veto`` is the reason why a decision of the tests is withheld.
    """

    comparison: Comparison
    series: Series
    stream: Stream | None
    decision: Decision
    veto: str | None

    @property
    def word(self) -> VerdictWord:
        if self.series.problems:
            return VerdictWord.NOT_JUDGED
        return self.words[0] if self.words else VerdictWord.UNDECIDED

    @property
    def words(self) -> tuple[VerdictWord, ...]:
        return self.decision.words if self.veto is None else ()

    def estimate(self) -> Estimate | None:
        if self.series.problems or not len(self.series.values):
            return None
        once = self.stream is not None and self.stream.once
        return estimate(self.series.values, self.series.other, whiten=not once)

    def forecast(self, margin_log: float) -> int | None:
        """About how many further visits; ``None`` when decided, or nothing is in sight."""
        found = self.estimate()
        if self.word is not VerdictWord.UNDECIDED or found is None or self.stream is None:
            return None
        visits = len(self.series.values)
        return visits_to_decide(found, visits, margin_log, self.comparison.share)


def judge(comparison: Comparison, readings: Readings, margin_log: float) -> Judged:
    """The word on one comparison as the records stand: cheap enough to ask after each visit."""
    series = readings.series(comparison.pair, comparison.response, comparison.conditions)
    if series.problems or len(series.values) < FIRST_LOOK:
        return Judged(comparison, series, None, UNDECIDED, None)
    stream = stream_of(series, readings.plan, comparison.pair, comparison.paths)
    decision = decide(stream, margin_log, comparison.share)
    veto = None
    if decision.words:
        veto = left_behind(series, margin_log) or _fragile(
            comparison, series, decision, readings, margin_log
        )
    return Judged(comparison, series, stream, decision, veto)


def left_behind(series: Series, margin_log: float) -> str | None:
    """The veto of visits that depend on the system of the visit before, if they do."""
    left = carry_over(series.values, series.other, series.slots)
    if left is None or not left.vetoes(margin_log):
        return None
    return (
        "a visit depends on the system of the visit before it "
        f"({left.low_log:+.3f}..{left.high_log:+.3f} in logarithms): the reset is not "
        "effective, so nothing is decided"
    )


def _fragile(
    comparison: Comparison,
    series: Series,
    decision: Decision,
    readings: Readings,
    margin_log: float,
) -> str | None:
    """The veto of a decision that rests on leaving out failed attempts, if it does."""
    kept = readings.series(
        comparison.pair, comparison.response, comparison.conditions, keep_failed=True
    )
    if kept.visits == series.visits and (kept.values == series.values).all():
        return None
    stream = stream_of(kept, readings.plan, comparison.pair, comparison.paths)
    if decide(stream, margin_log, comparison.share).words == decision.words:
        return None
    return "fragile: with the failed attempts kept, the verdict would be another"


def finding(judged: Judged, margin_log: float) -> VerdictFinding:
    """All that is said of one comparison, in the raw response."""
    comparison, series = judged.comparison, judged.series
    sign = -1 if comparison.response.direction == "lower" else 1
    found = judged.estimate()
    shape = shape_of(series.values, series.other)
    ends = _ends(judged.stream, margin_log, comparison.share, found, sign)
    return VerdictFinding(
        response=comparison.response.name,
        baseline=comparison.pair.baseline,
        other=comparison.pair.other,
        conditions=comparison.conditions,
        word=judged.word,
        words=judged.words or (judged.word,),
        margin_log=margin_log,
        alpha=comparison.alpha,
        family=comparison.family,
        estimate_log=None if found is None else sign * found.ratio_log,
        interval_level=1 - comparison.share,
        n_baseline=series.n_baseline,
        n_other=series.n_other,
        decided_at_visit=_decided_at(judged),
        noise_log=None if found is None else found.noise_log,
        visits_to_decide=judged.forecast(margin_log),
        exploratory=comparison.exploratory,
        spread_ratio=None if series.problems else shape.spread_ratio,
        arms_differ_in_shape=not series.problems and shape.arms_differ,
        stall_rate_baseline=None if series.problems else shape.stall_rate_baseline,
        stall_rate_other=None if series.problems else shape.stall_rate_other,
        withheld=judged.veto is not None,
        notes=notes_on(
            comparison,
            series,
            words=judged.words,
            veto=judged.veto,
            horizon=judged.stream.horizon if judged.stream else None,
            found=found,
            shape=shape,
            margin_log=margin_log,
            empty=ends.pop("empty"),
        ),
        **ends,
    )


def _decided_at(judged: Judged) -> int | None:
    at = judged.decision.at
    return judged.series.visits[at - 1] if judged.words and at is not None else None


def _ends(
    stream: Stream | None, margin_log: float, alpha: float, found: Estimate | None, sign: int
) -> dict[str, Any]:
    """Both intervals as fields of the finding; ``empty`` when no constant ratio is allowed."""
    ends: dict[str, Any] = {"empty": False}
    for name, level in (("", alpha / 2), ("equivalence_", alpha)):
        low = high = None
        if stream is not None and found is not None:
            low = low_end(stream, margin_log, level, found.ratio_log)
            high = high_end(stream, margin_log, level, found.ratio_log)
        if low is not None and high is not None and low > high:
            ends["empty"] = True
            low = high = None
        if sign < 0:
            low, high = (None if high is None else -high), (None if low is None else -low)
        ends |= {f"{name}low_log": low, f"{name}high_log": high}
    return ends
