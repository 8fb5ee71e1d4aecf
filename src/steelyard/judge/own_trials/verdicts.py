"""The judge for trials that were measured elsewhere: one function on arrays.

The engine, the words and the findings are those of a study (``docs/methods/judge.md``); what a
study knows and bare arrays do not is taken from the caller, and ``caveats`` name what the error
rate then rests on.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

from steelyard.inference.randomisation import PATHS
from steelyard.judge.comparisons.comparison import judge
from steelyard.judge.comparisons.families import shared
from steelyard.judge.comparisons.verdict_finding import finding
from steelyard.judge.findings import ResponseFinding, VerdictFinding
from steelyard.judge.kinds.caveats import (
    BudgetNotDeclared,
    Caveat,
    JudgedOnce,
    OrderNotRandom,
    OrderRepeats,
)
from steelyard.judge.own_trials.arguments import Declared, Direction
from steelyard.judge.own_trials.arrays import rows_of
from steelyard.judge.own_trials.rows import (
    Design,
    TrialRows,
    Visit,
    repetition,
    rounds_of,
    visits_of,
)
from steelyard.judge.own_trials.visits import LOAD, MeasuredVisits
from steelyard.judge.visits.pairs import Conditions, Pair
from steelyard.plan.model import Frozen
from steelyard.study.model import Level, ResponseSpec


class TrialsVerdict(Frozen):
    """What the judge says of trials; ``report/sentences/trials.py`` puts it into sentences.

    ``verdicts`` are those of a report (``docs/reference/findings.md``): for every system but the
    baseline one over all loads, then one at each load. ``decided_at_visit`` counts visits from
    the first. ``caveats`` bound what the error rate of these trials holds for.
    """

    schema_version: Literal[2] = 2
    response: ResponseFinding
    verdicts: tuple[VerdictFinding, ...]
    systems: tuple[str, ...]
    loads: tuple[Level, ...]
    visits: int
    trials: int
    budget: int
    design: Design
    seed: int
    beside_covariate: bool = False
    caveats: tuple[Caveat, ...]

    def __str__(self) -> str:
        """A row for each verdict: systems, word, ratio and its interval, visits."""
        return "\n".join(map(_row, self.verdicts))

    def of(self, other: str, load: Level | None = None) -> VerdictFinding:
        """The verdict on one system, at a load or over all of them.

        Raises:
            KeyError: there is no such verdict.
        """
        conditions = None if load is None else {LOAD: load}
        for verdict in self.verdicts:
            if verdict.other == other and verdict.conditions == conditions:
                return verdict
        raise KeyError(other if load is None else (other, load))


def _row(verdict: VerdictFinding) -> str:
    """``new/old faster 1.05 (1.03..1.073) n=16``: ratios of the response as measured."""
    sizes = (verdict.low_log, verdict.estimate_log, verdict.high_log)
    low, ratio, high = ("?" if log is None else f"{math.exp(log):.4g}" for log in sizes)
    where = "".join(f" {name}={level}" for name, level in (verdict.conditions or {}).items())
    count = verdict.n_baseline + verdict.n_other
    pair = f"{verdict.other}/{verdict.baseline}"
    return " ".join([pair + where, verdict.word.value, ratio, f"({low}..{high})", f"n={count}"])


def judge_trials(
    system: Iterable[object],
    response: Iterable[float],
    *,
    baseline: object,
    margin: float | str = 0.02,
    design: Design = "bigstick",
    direction: Direction = "higher",
    block: Sequence[int] | None = None,
    load: Sequence[Level] | None = None,
    visit: Sequence[int] | None = None,
    covariate: Iterable[float] | None = None,
    alpha: float = 0.05,
    budget: int | None = None,
    paths: int = PATHS,
    seed: int = 0,
    name: str = "response",
    unit: str = "",
) -> TrialsVerdict:
    """Judge trials that were measured elsewhere, in the order in which they were measured.

    Each trial starts from a reset state; ``system`` and ``response`` hold one entry for each. The
    judge looks after every visit from the 8th on and keeps the words of the first look at which
    any holds; estimate and intervals are those after all trials.

    Args:
        system: The name of the system of each trial; a number stands for its digits.
        response: What was measured, positive, in any unit.
        baseline: The system that the others are compared with.
        margin: The smallest difference that matters, chosen before the first trial: 0.02 or 2 %.
        design: How the order was drawn. ``bigstick``: at random, unless one of the two systems
            leads by 2. ``pairs``, ``blocks``: each holds every system once (or twice, as ``block``
            says), shuffled. ``none``: not drawn; there is one look, after the last trial.
        direction: Whether a larger response is better.
        block: The block of each trial, checked against ``design``.
        load: The load of each trial. The rows of a visit, one for each load, follow one another.
        visit: The number of the visit of each trial, for visits that lack a load.
        covariate: How fast or how long a fixed piece of work was before each trial, positive;
            what follows it is taken from the response. It must not depend on the system.
        alpha: The error rate of each family: all systems over all loads, and at each load.
        budget: The most visits, fixed before the first; 96 of two systems, or all that there are.
        paths: How many further orders are drawn by the design.
        seed: What they are drawn from: the same seed gives the same verdict, to the last bit.
        name: What the response is called in sentences.
        unit: Its unit; one of time or speed makes systems slower and faster, not worse and better.

    Raises:
        TrialsError: a ``ValueError``. Nothing can be judged, and the message says why.
    """
    declared = Declared.of_caller(
        baseline, margin, design, direction, alpha, budget, paths, seed, name, unit
    )
    rows = rows_of(system, response, load=load, visit=visit, block=block, covariate=covariate)
    return judge_rows(rows, declared)


def judge_rows(rows: TrialRows, declared: Declared, *, ordered: bool = True) -> TrialsVerdict:
    """The same of rows, and of what was declared before the first.

    ``ordered``: whether it is known which visit followed which; only the design ``none`` can do
    without.

    Raises:
        TrialsError: as ``judge_trials``.
    """
    design, response = declared.design, declared.response
    visits = visits_of(rows, declared.baseline, design)
    systems = (declared.baseline, *sorted({each.system for each in visits} - {declared.baseline}))
    loads = () if rows.load is None else tuple(dict.fromkeys(rows.load))
    budget = declared.budget_of(len(visits), len(systems))
    measured = MeasuredVisits(
        visits,
        systems,
        loads,
        design,
        rounds_of(rows, visits, design),
        budget,
        declared.paths,
        declared.seed,
        len(visits),
        ordered=ordered,
    )
    return TrialsVerdict(
        response=ResponseFinding(
            name=response.name,
            label=response.label,
            unit=response.unit,
            direction=response.direction,
            primary=response.primary,
        ),
        verdicts=tuple(_verdicts(measured, response, declared.margin_log, declared.alpha)),
        systems=systems,
        loads=loads,
        visits=len(visits),
        trials=len(rows.system),
        budget=budget,
        design=design,
        seed=declared.seed,
        beside_covariate=len(set(rows.covariate or ())) > 1,
        caveats=tuple(_caveats(declared, budget, visits)),
    )


def _verdicts(
    measured: MeasuredVisits, response: ResponseSpec, margin_log: float, alpha: float
) -> Iterator[VerdictFinding]:
    """Each system against the baseline, overall and at each load."""
    baseline, *others = measured.systems
    places: list[Conditions] = [{LOAD: load} for load in measured.loads] or [{}]
    met = {Pair(baseline, other): places for other in others}
    for each in shared(response, met, alpha, against=baseline):
        yield finding(judge(each, measured, margin_log), measured, margin_log)


def _caveats(declared: Declared, budget: int, visits: list[Visit]) -> Iterator[Caveat]:
    if declared.design == "none":
        yield OrderNotRandom()
        yield JudgedOnce()
        return
    if (repeats := repetition(visits, declared.design)) is not None:
        yield OrderRepeats(period_visits=repeats.period, once_in=repeats.once_in)
    if declared.budget is None:
        yield BudgetNotDeclared(visits=budget)
