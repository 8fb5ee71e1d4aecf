"""The judge for trials that were measured elsewhere: one function on arrays.

The engine, the words and the findings are those of a study (``docs/methods/judge.md``); what a
study knows and bare arrays do not is taken from the caller, and ``caveats`` name what the error
rate then rests on.
"""

from __future__ import annotations

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
)
from steelyard.judge.own_trials.arguments import Declared, Direction
from steelyard.judge.own_trials.arrays import entries, names, numbers, share, whole
from steelyard.judge.own_trials.rows import Design, TrialRows, rounds_of, visits_of
from steelyard.judge.own_trials.visits import LOAD, MeasuredVisits
from steelyard.judge.visits.series import Conditions, Pair
from steelyard.plan.frozen import Frozen
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
        margin: The smallest difference that matters, as a share of at most 1: 0.02, or the
            text ``2 %``. Chosen before the first trial.
        design: How the order was drawn. ``bigstick``: at random, unless one of the two systems
            leads by 2. ``pairs``: each pair of trials holds both systems, in random
            order. ``blocks``: each block holds every system once, shuffled; or twice, as ``block``
            says. ``none``: not drawn; then there is one look, after the last trial, and
            ``caveats`` name what the error rate then rests on.
        direction: Whether a larger response is better.
        block: The block of each trial, checked against ``design``.
        load: The load of each trial. A visit measures one system once at every load; its rows
            follow one another.
        visit: The number of the visit of each trial, for visits that lack a load.
        covariate: How fast or how long a fixed piece of work was on the machine before each
            trial, as measured, positive: the judge takes the logarithm. What follows it is taken
            from the response. It must not depend on the system of the trial.
        alpha: The error rate of each family: all systems over all loads, and all of them at each
            load.
        budget: The most visits of all systems, fixed before the first trial. Without it, 96 of
            two systems, or as many as there are.
        paths: How many further orders are drawn by the design.
        seed: What they are drawn from: the same seed gives the same verdict, to the last bit.
        name: What the response is called in sentences.
        unit: Its unit: with one of time (``ms``) or speed (``req/s``) systems are called slower
            and quicker or faster, else worse and better.

    Raises:
        TrialsError: a ``ValueError``. Nothing can be judged, and the message says why: one system,
            a response that is zero, negative or not a number, no variation, fewer than 8 visits,
            an order that the design cannot have produced.
    """
    declared = Declared(
        str(baseline),
        share(margin, "margin"),
        design,
        direction,
        share(alpha, "alpha"),
        None if budget is None else whole(budget, "budget"),
        whole(paths, "paths"),
        whole(seed, "seed"),
        name,
        unit,
    )
    rows = TrialRows(
        system=names(system, "system"),
        response=numbers(response, "response"),
        load=None if load is None else entries(load, "load"),
        visit=None if visit is None else entries(visit, "visit"),
        block=None if block is None else entries(block, "block"),
        covariate=None if covariate is None else numbers(covariate, "covariate"),
    )
    return judge_rows(rows, declared)


def judge_rows(rows: TrialRows, declared: Declared) -> TrialsVerdict:
    """The same of rows, and of what was declared before the first.

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
        caveats=tuple(_caveats(declared, budget)),
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


def _caveats(declared: Declared, budget: int) -> Iterator[Caveat]:
    if declared.design == "none":
        yield OrderNotRandom()
        yield JudgedOnce()
    elif declared.budget is None:
        yield BudgetNotDeclared(visits=budget)
