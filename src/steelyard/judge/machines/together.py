"""One pair on several machines: the verdict on all of these, and what depends on the machine.

What withholds a verdict is asked of every machine, up to the visit that decided on all of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from steelyard.inference import machines
from steelyard.inference.confidence import Interval
from steelyard.inference.machines import Deviation, Population
from steelyard.inference.noise.robust import Floats
from steelyard.inference.ratio_tests import Inference
from steelyard.inference.sequential import Decision, VerdictWord
from steelyard.inference.stream import Stream
from steelyard.judge.comparisons.comparison import ASKED_AGAIN, Judged, Standing
from steelyard.judge.comparisons.families import Comparison
from steelyard.judge.comparisons.guardrails import CheckedGuardrail, check_guardrail
from steelyard.judge.comparisons.verdict_finding import finding
from steelyard.judge.comparisons.withholding import (
    carry_over_decides,
    coarse,
    contradicts,
    invalid_unequal,
    unreliable,
)
from steelyard.judge.findings import VerdictFinding
from steelyard.judge.kinds.verdict_notes import FailedAttemptsDecide, Withheld
from steelyard.judge.machines.findings import (
    MachineEffect,
    MachinesFinding,
    OtherMachines,
)
from steelyard.judge.visits.series import Series, Visits, without_variation

LEAST_VISITS_OF_ONE = 2
"""Of each system on each machine, before anything is judged of all of these."""


@dataclass(frozen=True)
class _Look:
    """All machines after so many visits of the pair on each; ``on`` is what they are read from."""

    on: Mapping[str, Visits]
    series: Mapping[str, Series]
    streams: Mapping[str, Stream]

    @classmethod
    def of(
        cls, comparison: Comparison, on: Mapping[str, Visits], *, keep_failed: bool = False
    ) -> _Look:
        """All visits; attempts that failed are kept where leaving them out would favour one."""
        series = {
            name: without_variation(
                own.series(
                    comparison.pair,
                    comparison.response,
                    comparison.conditions,
                    keep_failed=keep_failed or invalid_unequal(comparison, own) is not None,
                )
            )
            for name, own in on.items()
        }
        streams = {
            name: on[name].tests(each, comparison.pair, exploratory=comparison.exploratory).stream
            for name, each in series.items()
            if not each.problems and len(each.values)
        }
        return cls(on, series, streams)

    @property
    def least(self) -> int:
        """So many visits there are on each machine."""
        return min(len(each.values) for each in self.series.values())

    def tests(self) -> Inference:
        return Inference.of(machines.together([*self.streams.values()]))

    def first(self, visits: int) -> _Look:
        return _Look(
            self.on,
            {name: _first(each, visits) for name, each in self.series.items()},
            {name: _first_of(each, visits) for name, each in self.streams.items()},
        )

    def with_values(self, machine: str, values: Floats) -> _Look:
        changed = replace(self.streams[machine], values=values)
        return replace(self, streams={**self.streams, machine: changed})


@dataclass(frozen=True)
class _Objection:
    """Why a decision is withheld, and on which machine that shows."""

    reason: Withheld
    machine: str | None


def judge_together(
    comparison: Comparison, on: Mapping[str, Visits], margin_log: float
) -> tuple[VerdictFinding, MachinesFinding | None]:
    """The verdict on all of these machines; what depends on them is ``None`` if it is not judged.

    ``on``: the visits of each machine, of one random order each.
    """
    judged, objection = _judged(comparison, on, margin_log)
    verdict = finding(judged, next(iter(on.values())), margin_log)
    verdict = verdict.model_copy(update={"span_s": _span_s(comparison, on, judged)})
    tests = judged.present.tests
    if tests is None:
        return verdict, None
    withheld_on = None if objection is None else objection.machine
    return verdict, _beside(comparison, tuple(on), tests.stream, margin_log, withheld_on)


def word_together(
    comparison: Comparison, on: Mapping[str, Visits], margin_log: float
) -> VerdictWord:
    """The word alone: cheap enough to ask after each visit."""
    return _judged(comparison, on, margin_log)[0].word


def _judged(
    comparison: Comparison, on: Mapping[str, Visits], margin_log: float
) -> tuple[Judged, _Objection | None]:
    look = _Look.of(comparison, on)
    problems = tuple(dict.fromkeys(p for each in look.series.values() for p in each.problems))
    if problems or min(map(_of_one, look.series.values())) < LEAST_VISITS_OF_ONE:
        nothing = Standing(comparison, replace(_in_turn(look.series), problems=problems))
        return Judged(nothing, nothing), None
    look = look.first(look.least)
    tests = look.tests()
    decision = tests.decide(margin_log, comparison.share)
    present = Standing(comparison, _in_turn(look.series), tests, decision)
    said, objection = _said(present, look, margin_log)
    return Judged(present, said), objection


def _span_s(comparison: Comparison, on: Mapping[str, Visits], judged: Judged) -> float | None:
    """The longest time on any of them of the visits that the verdict is of."""
    look = _Look.of(comparison, on)
    counted = judged.said.series.visits
    then = look.first(counted[-1]) if counted else look
    spans = [
        on[name].span_s(own.visits[0], own.visits[-1])
        for name, own in then.series.items()
        if own.visits
    ]
    return max((each for each in spans if each is not None), default=None)


def _of_one(series: Series) -> int:
    """Visits of the system that has fewer."""
    return min(series.n_baseline, series.n_other)


def _said(present: Standing, look: _Look, margin_log: float) -> tuple[Standing, _Objection | None]:
    """The look that may be announced, or the last that was asked, and what stands against it.

    Asked again when the visits have grown by a quarter, and after the last.
    """
    said, objection = present, None
    if present.tests is not None and present.tests.stream.once:
        return said, objection
    for visits in _asked(present):
        then = look.first(visits)
        tests = then.tests()
        objection = _objection(present, then, tests, margin_log)
        said = replace(
            present,
            series=_in_turn(then.series),
            tests=tests,
            veto=None if objection is None else objection.reason,
            guardrails=_guardrails(present, then),
        )
        if said.words:
            break
    return said, objection


def _asked(present: Standing) -> Iterator[int]:
    """The visits on each machine after which the decision is asked."""
    if present.tests is None or present.decision.at is None:
        return
    last, at = present.tests.stream.visits, float(present.decision.at)
    while at < last:
        yield int(at)
        at = max(at + 1, at * ASKED_AGAIN)
    yield last


def _objection(
    present: Standing, look: _Look, tests: Inference, margin_log: float
) -> _Objection | None:
    """The gravest reason against a decision that was made by this look."""
    pair, decision = present.comparison.pair, present.decision
    for name, own in look.series.items():
        reason = unreliable(pair, own, look.on[name].until(own.visits[-1]), margin_log)
        if reason is not None:
            return _Objection(reason, name)
    found = tests.estimate()
    denied = None if found is None else contradicts(found.ratio_log, decision, margin_log)
    if denied is not None:
        return _Objection(denied, None)
    for name, own in look.series.items():
        reason = coarse(own, decision, margin_log) or _left_decides(
            present.comparison, look, name, decision, margin_log
        )
        if reason is not None:
            return _Objection(reason, name)
    if _failed_attempts_decide(present, look, margin_log):
        return _Objection(FailedAttemptsDecide(), None)
    return None


def _failed_attempts_decide(present: Standing, look: _Look, margin_log: float) -> bool:
    """Whether the decision depends on leaving out failed attempts."""
    comparison = present.comparison
    on = {name: look.on[name].until(own.visits[-1]) for name, own in look.series.items()}
    kept = _Look.of(comparison, on, keep_failed=True)
    if all(_alike(own, kept.series[name]) for name, own in look.series.items()):
        return False
    kept = kept.first(kept.least)
    return kept.tests().decide(margin_log, comparison.share).words != present.decision.words


def _alike(one: Series, another: Series) -> bool:
    return one.visits == another.visits and bool((one.values == another.values).all())


def _guardrails(present: Standing, look: _Look) -> tuple[CheckedGuardrail, ...]:
    """Those of the winner, each as it stands on the machine where it stands worst."""
    comparison, words = present.comparison, present.decision.words
    if not {VerdictWord.FASTER, VerdictWord.SLOWER} & set(words):
        return ()
    checked = (
        [
            check_guardrail(
                spec,
                comparison.pair,
                comparison.conditions,
                look.on[name].until(own.visits[-1]),
                other_wins=VerdictWord.FASTER in words,
                alpha=comparison.share,
            )
            for name, own in look.series.items()
        ]
        for spec in comparison.guardrails
    )
    return tuple(
        max(each, key=lambda one: (one.state == "broken", one.forbids)) for each in checked
    )


def _left_decides(
    comparison: Comparison, look: _Look, machine: str, decision: Decision, margin_log: float
) -> Withheld | None:
    """A decision that would be another without the plausible carry-over on one machine."""

    def again(values: Floats) -> Decision:
        changed = look.with_values(machine, values).tests()
        return changed.decide(margin_log, comparison.share)

    return carry_over_decides(look.series[machine], decision, again)


def _in_turn(series: Mapping[str, Series]) -> Series:
    """The visits of all machines, each number as often as there are machines.

    Values are what a visit differs from its arm on its machine, beside the mean effect: spreads
    are then those within machines. No visit follows another here: that is asked on each machine.
    """
    count = min(len(each.values) for each in series.values())
    known = [_first(each, count) for each in series.values()]
    gaps = [_gap(each) for each in known]
    mean = float(np.mean([gap for gap in gaps if gap is not None] or [0.0]))
    turns = tuple(range(1, count + 1))
    several = len(known)
    return Series(
        visits=tuple(visit for visit in turns for _ in range(several)),
        slots=tuple(range(count * several)),
        other=np.stack([each.other for each in known], axis=1).ravel(),
        values=np.stack([_aligned(each, mean) for each in known], axis=1).ravel(),
        problems=(),
        before=(None,) * (count * several),
    )


def _gap(series: Series) -> float | None:
    if not series.n_other or not series.n_baseline:
        return None
    return float(series.values[series.other].mean() - series.values[~series.other].mean())


def _aligned(series: Series, mean_log: float) -> Floats:
    """Residuals of each arm of a machine, the other arm beside the mean effect of all machines."""
    found = series.values.copy()
    for arm, level in ((series.other, mean_log), (~series.other, 0.0)):
        if arm.any():
            found[arm] += level - found[arm].mean()
    return found


def _first(series: Series, count: int) -> Series:
    return replace(
        series,
        visits=series.visits[:count],
        slots=series.slots[:count],
        other=series.other[:count],
        values=series.values[:count],
        before=series.before[:count],
        covariate=None if series.covariate is None else series.covariate[:count],
    )


def _first_of(stream: Stream, count: int) -> Stream:
    return replace(
        stream,
        values=stream.values[:count],
        other=stream.other[:count],
        pool=stream.pool[:count],
        covariate=None if stream.covariate is None else stream.covariate[:count],
    )


def _beside(
    comparison: Comparison,
    names: tuple[str, ...],
    stream: Stream,
    margin_log: float,
    withheld_on: str | None,
) -> MachinesFinding:
    """Whether the effect depends on the machine, and what these say of others."""
    deviations = machines.deviations(stream, comparison.share) or []
    others = machines.others_like_them(stream, comparison.share)
    sign = -1.0 if comparison.response.direction == "lower" else 1.0
    return MachinesFinding(
        response=comparison.response.name,
        baseline=comparison.pair.baseline,
        other=comparison.pair.other,
        conditions=comparison.conditions,
        machines=names,
        margin_log=margin_log,
        alpha=comparison.share,
        visits_each=stream.visits,
        withheld_on=withheld_on,
        interaction=_interaction(deviations, margin_log),
        effects=tuple(
            MachineEffect(
                machine=name,
                deviation_log=sign * each.difference_log,
                **_ends("", each.interval.signed(sign)),
            )
            for name, each in zip(names, deviations, strict=True)
        ),
        others=None if others is None else _others(others, sign, margin_log),
        least_machines=machines.LEAST_MACHINES,
    )


def _interaction(found: list[Deviation], margin_log: float) -> Literal["differs", "alike", "open"]:
    if any(_beyond(each.interval, 0.0) for each in found):
        return "differs"
    return "alike" if all(_within(each.interval, margin_log) for each in found) else "open"


def _others(found: Population, sign: float, margin_log: float) -> OtherMachines:
    return OtherMachines(
        word=_word(found, margin_log),
        mean_log=sign * found.mean_log,
        spread_log=found.spread_log,
        **_ends("", found.mean.signed(sign)),
        **_ends("equivalence_", found.inner.signed(sign)),
        **_ends("further_", found.further.signed(sign)),
    )


def _word(found: Population, margin_log: float) -> VerdictWord:
    """Of the present look; in the good direction."""
    low, high = found.mean
    if low is not None and low > 0:
        return VerdictWord.FASTER
    if high is not None and high < 0:
        return VerdictWord.SLOWER
    equivalent = _within(found.inner, margin_log)
    return VerdictWord.EQUIVALENT if equivalent else VerdictWord.UNDECIDED


def _ends(prefix: str, interval: Interval) -> dict[str, float | None]:
    return {f"{prefix}low_log": interval.low, f"{prefix}high_log": interval.high}


def _beyond(interval: Interval, value: float) -> bool:
    low, high = interval
    return (low is not None and low > value) or (high is not None and high < value)


def _within(interval: Interval, margin_log: float) -> bool:
    low, high = interval
    return low is not None and high is not None and -margin_log < low <= high < margin_log
