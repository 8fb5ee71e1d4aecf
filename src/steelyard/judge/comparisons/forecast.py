"""How many further visits an open comparison may take, as a range."""

from __future__ import annotations

import math
from collections.abc import Sequence

from steelyard.inference.open_tests import growth_to_decide
from steelyard.inference.reach import first_decisive, sufficient_budget
from steelyard.inference.sequential import VerdictWord
from steelyard.inference.spending import FIRST_LOOK
from steelyard.inference.stream import Stream
from steelyard.judge.comparisons.comparison import Judged
from steelyard.judge.comparisons.withholding import carry_over_found, unreliable
from steelyard.judge.visits.series import Visits
from steelyard.plan.model import Frozen

MOST_BUDGETS = 5
"""A verdict that takes more than so many budgets is not attainable here."""


class VisitsForecast(Frozen):
    """Further visits until a verdict. ``None``: more than five budgets of visits in all."""

    least: int | None
    most: int | None

    def of_all(self, systems: int) -> VisitsForecast:
        """Visits of a pair as those of all systems, which take turns."""
        least, most = (
            None if visits is None else math.ceil(visits * systems / 2)
            for visits in (self.least, self.most)
        )
        return VisitsForecast(least=least, most=most)


def forecast(judged: Judged, readings: Visits, margin_log: float) -> VisitsForecast | None:
    """``None`` where visits decide nothing: decided, withheld, distrusted, judged once.

    Nor is there one where the tests that are still open are none of those that it is known of.
    """
    tests = judged.tests
    if judged.word is not VerdictWord.UNDECIDED or judged.withheld:
        return None
    if tests is None or tests.stream.once:
        return None
    machines = tests.stream.machines
    if machines == 1 and _unreliable(judged, readings, margin_log):
        return None
    visits, share = len(judged.series.values), judged.comparison.share
    first = machines * _first_decisive(tests.stream, share / 2)
    within = MOST_BUDGETS * machines * tests.stream.horizon
    least, most = (
        math.ceil(max(visits * growth, first)) - visits if visits * growth <= within else None
        for growth in growth_to_decide(tests, margin_log, share)
    )
    return None if least == 0 else VisitsForecast(least=least, most=most)


def _unreliable(judged: Judged, readings: Visits, margin_log: float) -> bool:
    pair, series = judged.comparison.pair, judged.series
    felt = carry_over_found(pair, series, margin_log, stands=lambda _: False)
    return bool(unreliable(pair, series, readings) or felt)


def slowest(forecasts: Sequence[VisitsForecast | None]) -> VisitsForecast | None:
    """Until all are decided; ``None`` when nothing is known of one of them, or there are none."""
    known = [each for each in forecasts if each is not None]
    if not known or len(known) < len(forecasts):
        return None
    return VisitsForecast(
        least=_largest([each.least for each in known]), most=_largest([each.most for each in known])
    )


def _largest(visits: Sequence[int | None]) -> int | None:
    known = [each for each in visits if each is not None]
    return max(known) if len(known) == len(visits) else None


def _first_decisive(stream: Stream, side: float) -> int:
    """Visits of the pair without which no order is rare enough for any verdict."""
    if stream.design is None:
        return FIRST_LOOK
    first = first_decisive(stream.design, stream.horizon, side)
    return first or sufficient_budget(stream.design, side)
