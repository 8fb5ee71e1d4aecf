"""When the judge is asked while a run goes on, and how its answer stands in the ledger.

It is asked where the tests have their looks: after each of the first visits, then at growing
distances.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from steelyard.inference.sequential import Memory
from steelyard.inference.spending import last_look
from steelyard.judge.stopping.elimination import Measured
from steelyard.judge.stopping.interim import InterimWord, Look
from steelyard.judge.verdict import look
from steelyard.judge.visits.series import Effort
from steelyard.plan.model import Plan
from steelyard.records.events import InterimComparison, InterimLook
from steelyard.records.schema import TrialRecord
from steelyard.study.model import Study

GROWTH = 1.05
"""Estimates and intervals are given when the visits have grown by so much: they take longer to
compute than the word, and a session that gave them always would be slower with every visit."""


@dataclass
class InterimLooks:
    """The looks of one session."""

    effort: Effort = field(default_factory=lambda: Effort(memory=Memory()))
    _sized_at: int = 0
    _asked_at: int = -1

    def is_due(self, visits_done: int) -> bool:
        """Whether the judge is asked now; the first time in a session it is."""
        return last_look(visits_done) > self._asked_at

    def ask(
        self,
        study: Study,
        plan: Plan,
        records: Sequence[TrialRecord],
        visits_done: int,
        *,
        given_up: frozenset[str],
        lost: Measured,
    ) -> Look:
        """How the study stands after these visits."""

        def asked(*, sized: bool) -> Look:
            effort = self.effort
            return look(study, plan, records, given_up, lost=lost, effort=effort, sized=sized)

        self._asked_at = visits_done
        sized = visits_done >= GROWTH * self._sized_at
        seen = asked(sized=sized)
        if seen.decided and not sized:
            seen = asked(sized=True)
        if sized or seen.decided:
            self._sized_at = visits_done
        return seen


def interim_event(seen: Look, visits_done: int) -> InterimLook:
    """What is kept of a look."""
    forecast = seen.visits_to_decide
    return InterimLook(
        visits_done=visits_done,
        comparisons=tuple(_comparison(each) for each in seen.words),
        decided=seen.decided,
        least_visits_more=None if forecast is None else forecast.least,
        most_visits_more=None if forecast is None else forecast.most,
        open_claims=seen.open_claims,
    )


def _comparison(said: InterimWord) -> InterimComparison:
    size = said.size
    return InterimComparison(
        workload=said.workload,
        baseline=said.baseline,
        other=said.other,
        conditions=said.conditions,
        word=said.word.value,
        margin_log=said.margin_log,
        n_baseline=said.n_baseline,
        n_other=said.n_other,
        estimate_log=None if size is None else size.estimate_log,
        low_log=None if size is None else size.low_log,
        high_log=None if size is None else size.high_log,
    )
