"""How a study stands after a visit: each workload, and all of them together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from steelyard.inference.sequential import VerdictWord
from steelyard.judge.analyses.factors.influence import SoFar
from steelyard.judge.comparisons.comparison import Judged
from steelyard.judge.comparisons.forecast import VisitsForecast, slowest
from steelyard.judge.comparisons.verdict_finding import SizeSoFar, size_so_far
from steelyard.plan.model import Plan
from steelyard.study.model import Level


@dataclass(frozen=True)
class InterimWord:
    """The word so far on one comparison of the primary response of a workload.

    ``conditions`` is ``None`` for all conditions together, ``workload`` for the only one. The
    counts are of visits; ``size`` is ``None`` where it was not asked for, or there is none yet.
    ``withheld``: the tests decide, and something forbids the verdict.
    """

    baseline: str
    other: str
    conditions: dict[str, Level] | None
    word: VerdictWord
    workload: str | None = None
    margin_log: float = 0.0
    n_baseline: int = 0
    n_other: int = 0
    size: SizeSoFar | None = None
    withheld: bool = False

    @classmethod
    def of(cls, judged: Judged, margin_log: float, *, sized: bool) -> InterimWord:
        """``sized``: with estimate and interval, which a decision to continue does not need."""
        pair, series = judged.comparison.pair, judged.series
        return cls(
            pair.baseline,
            pair.other,
            judged.comparison.conditions,
            judged.word,
            margin_log=margin_log,
            n_baseline=series.n_baseline,
            n_other=series.n_other,
            size=size_so_far(judged, margin_log) if sized else None,
            withheld=judged.withheld is not None,
        )


@dataclass(frozen=True)
class Look:
    """How a study stands after a visit.

    ``words`` are those on the primary responses. ``may_continue`` is false when no further visit
    can help.
    ``open_claims`` are names of claims that further visits may decide. ``answered`` are conditions
    of which nothing is asked any more.
    ``visits_to_decide`` is how many further visits the study needs; ``None`` when it is decided, or
    visits alone do not decide it. ``influence`` is how questions about factors stand, ``settled``
    holds the numbers of visits that can no longer change an answer.
    """

    words: tuple[InterimWord, ...]
    decided: bool
    may_continue: bool
    visits_to_decide: VisitsForecast | None
    influence: tuple[SoFar, ...] = ()
    settled: frozenset[int] = frozenset()
    open_claims: tuple[str, ...] = ()
    answered: tuple[dict[str, Level], ...] = ()

    def without_hope(self, plan: Plan) -> Look:
        """The same of a workload that was given up: nobody waits for it any more."""
        visits = frozenset(visit.visit for visit in plan.every_visit)
        return replace(
            self,
            decided=True,
            may_continue=False,
            visits_to_decide=None,
            settled=visits,
            open_claims=(),
        )


def together(looks: Mapping[str, Look]) -> Look:
    """One look at all workloads: decided when all are, as long as the slowest takes.

    A visit measures all of them, so it is needless only when it is so for each.
    """
    every = list(looks.values())
    still = [each for each in every if not each.decided]
    return Look(
        words=tuple(
            replace(word, workload=name if len(looks) > 1 else None)
            for name, each in looks.items()
            for word in each.words
        ),
        decided=all(each.decided for each in every),
        may_continue=any(each.may_continue for each in every),
        visits_to_decide=slowest([each.visits_to_decide for each in still]),
        influence=tuple(found for each in every for found in each.influence),
        settled=frozenset.intersection(*(each.settled for each in every)),
        open_claims=tuple(name for each in every for name in each.open_claims),
        answered=every[0].answered if len(every) == 1 else (),
    )
