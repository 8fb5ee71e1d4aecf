"""The judge for trials that were measured elsewhere: one function on arrays.

The engine, the words and the findings are those of a study (``docs/methods/judge.md``); what a
study knows and bare arrays do not is taken from the caller, and ``caveats`` name what the error
rate then rests on.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, ConfigDict

from steelyard.inference.confidence import Stream
from steelyard.inference.exact import pool_of
from steelyard.inference.randomisation import PATHS, Signs, draw, shuffles
from steelyard.inference.sequential import UNDECIDED, decide
from steelyard.inference.spending import FIRST_LOOK
from steelyard.inference.weights import Floats
from steelyard.judge.caveats import (
    BudgetNotDeclared,
    Caveat,
    ErrorRateByNormality,
    JudgedOnce,
    OrderNotRandom,
)
from steelyard.judge.comparison import Judged, finding
from steelyard.judge.families import Comparison, Family
from steelyard.judge.findings import ResponseFinding, VerdictFinding
from steelyard.judge.own_trials.arguments import (
    Engine,
    budget_of,
    refuse_arguments,
    refuse_engine,
)
from steelyard.judge.own_trials.rows import (
    Design,
    TrialRows,
    TrialsError,
    Visit,
    rounds_of,
    visits_of,
)
from steelyard.judge.series import Pair, Series, without_variation
from steelyard.judge.verdict_notes import NotJudged, NoVisits
from steelyard.judge.withholding import carry_over_decides, of_visits
from steelyard.study.model import Level, ResponseSpec

LOAD = "load"


class TrialsVerdict(BaseModel):
    """What the judge says of trials.

    ``verdicts`` are those of a report (``docs/reference/findings.md``): for every system but the
    baseline one over all loads, then one at each load. ``decided_at_visit`` counts visits from
    the first. ``caveats`` bound what the error rate of these trials holds for.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    schema_version: Literal[1] = 1
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
    system: Sequence[str],
    response: Sequence[float] | npt.NDArray[np.floating[Any]],
    *,
    baseline: str,
    margin: float = 0.02,
    design: Design = "bigstick",
    direction: Literal["higher", "lower"] = "higher",
    block: Sequence[int] | None = None,
    load: Sequence[Level] | None = None,
    visit: Sequence[int] | None = None,
    covariate: Sequence[float] | npt.NDArray[np.floating[Any]] | None = None,
    alpha: float = 0.05,
    budget: int | None = None,
    engine: Engine = "exact",
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
        system: The name of the system of each trial.
        response: What was measured, positive, in any unit.
        baseline: The system that the others are compared with.
        margin: The smallest difference that matters, as a share: 0.02 is 2 %. Chosen before
            the first trial.
        design: How the order was drawn. ``bigstick``: a fair coin, unless one of the two systems
            leads by 2. ``pairs``: each pair of trials holds both systems, in an order drawn by
            a coin. ``blocks``: each block holds every system once, shuffled; or twice, as ``block``
            tells. ``none``: not drawn; then there is one look, after the last trial, and
            ``caveats`` name what the error rate then rests on.
        direction: Whether a larger response is better.
        block: The block of each trial, checked against ``design``.
        load: The load of each trial. A visit measures one system once at every load; its rows
            follow one another.
        visit: The number of the visit of each trial, for visits that lack a load.
        covariate: What was measured of the machine before each trial, as the logarithm of the
            time of a fixed piece of work. What follows it is taken from the response. It must
            not depend on the system of the trial.
        alpha: The error rate of each family: all systems over all loads, and all of them at each
            load.
        budget: The most visits of all systems, fixed before the first trial. Without it, 96 of
            two systems, or as many as there are.
        engine: ``exact`` holds for any noise; ``normal`` is a t test on ``pairs`` that takes their
            differences for normal, and is quick.
        paths: How many further orders are drawn from the coin.
        seed: What they are drawn from: the same seed gives the same verdict, to the last bit.
        name: What the response is called in sentences.
        unit: Its unit: with one of time (``ms``) or speed (``req/s``) systems are called slower
            and quicker or faster, else worse and better.

    Raises:
        AnalysisError: nothing can be judged, and the message says why: one system, a response
            that is zero, negative or not a number, no variation, fewer than 8 visits, an order
            that the design cannot have brought.
    """
    refuse_arguments(design, direction, margin, alpha, paths)
    refuse_engine(engine, design, len(system), budget, has_covariate=covariate is not None)
    rows = _rows(system, response, load=load, visit=visit, block=block, covariate=covariate)
    visits = visits_of(rows, baseline, design)
    systems = (baseline, *sorted({each.system for each in visits} - {baseline}))
    loads = () if rows.load is None else tuple(dict.fromkeys(rows.load))
    limit = budget_of(budget, len(visits), len(systems))
    rounds = rounds_of(rows, visits, design)
    bench = _Bench(visits, systems, loads, design, limit, paths, seed, engine, rounds)
    spec = ResponseSpec(name=name, label=name, unit=unit, direction=direction, primary=True)
    verdicts = bench.verdicts(spec, math.log1p(margin), alpha)
    return bench.told(rows, spec, verdicts, caveats=_caveats(design, budget, limit, engine))


def _rows(
    system: Sequence[str],
    response: Sequence[float] | npt.NDArray[np.floating[Any]],
    *,
    load: Sequence[Level] | None,
    visit: Sequence[int] | None,
    block: Sequence[int] | None,
    covariate: Sequence[float] | npt.NDArray[np.floating[Any]] | None,
) -> TrialRows:
    """The columns as plain lists, whatever kind of sequence or array the caller has."""
    return TrialRows(
        system=[str(each) for each in system],
        response=_floats(response, "response"),
        load=None if load is None else list(load),
        visit=None if visit is None else list(visit),
        block=None if block is None else list(block),
        covariate=None if covariate is None else _floats(covariate, "covariate"),
    )


def _floats(values: Sequence[float] | npt.NDArray[np.floating[Any]], name: str) -> list[float]:
    try:
        found: list[float] = np.asarray(values, dtype=np.float64).tolist()
    except (TypeError, ValueError) as error:
        raise TrialsError(
            f"`{name}` holds something that is not a number: {error}",
            "give one number for each trial",
            column=name,
        ) from error
    return found


@dataclass(frozen=True)
class _Bench:
    """All that the comparisons of one set of trials share."""

    visits: list[Visit]
    systems: tuple[str, ...]
    loads: tuple[Level, ...]
    design: Design
    budget: int
    paths: int
    seed: int
    engine: Engine
    rounds: int = 1
    """How often a block holds every system."""

    def verdicts(
        self, response: ResponseSpec, margin_log: float, alpha: float
    ) -> Iterator[VerdictFinding]:
        for each in _comparisons(response, self.systems, self.loads, alpha):
            yield finding(self.judged(each, margin_log), margin_log)

    def told(
        self,
        rows: TrialRows,
        response: ResponseSpec,
        verdicts: Iterable[VerdictFinding],
        *,
        caveats: Iterable[Caveat],
    ) -> TrialsVerdict:
        """The verdicts, with all that they rest on."""
        return TrialsVerdict(
            response=ResponseFinding(
                name=response.name,
                label=response.label,
                unit=response.unit,
                direction=response.direction,
                primary=True,
            ),
            verdicts=tuple(verdicts),
            systems=self.systems,
            loads=self.loads,
            visits=len(self.visits),
            trials=len(rows.system),
            budget=self.budget,
            design=self.design,
            seed=self.seed,
            beside_covariate=len(set(rows.covariate or ())) > 1,
            caveats=tuple(caveats),
        )

    def judged(self, comparison: Comparison, margin_log: float) -> Judged:
        series = without_variation(self.series(comparison))
        if series.problems or len(series.values) < FIRST_LOOK:
            return Judged(comparison, series, None, UNDECIDED, None)
        stream = self.stream(series)
        decision = decide(stream, margin_log, comparison.share)
        veto = None
        if decision.words and not stream.once:
            veto = of_visits(series, decision, margin_log) or carry_over_decides(
                series,
                decision,
                lambda values: decide(
                    self.stream(replace(series, values=values)), margin_log, comparison.share
                ),
            )
        return Judged(comparison, series, stream, decision, veto)

    def series(self, comparison: Comparison) -> Series:
        """One number per visit of the pair: the mean over loads, or that at one of them."""
        pair, conditions = comparison.pair, comparison.conditions
        wanted: list[Level | None] = (
            [conditions[LOAD]] if conditions else [*(self.loads or (None,))]
        )
        sign = -1.0 if comparison.response.direction == "lower" else 1.0
        own = [v for v in enumerate(self.visits, start=1) if v[1].system in _members(pair)]
        rows = [
            (number, slot, visit.system == pair.other, sign * _mean(visit, wanted))
            for slot, (number, visit) in enumerate(own)
            if all(each in visit.logs for each in wanted)
        ]
        return Series(
            visits=tuple(row[0] for row in rows),
            slots=tuple(row[1] for row in rows),
            other=np.array([row[2] for row in rows], dtype=np.bool_),
            values=np.array([row[3] for row in rows], dtype=np.float64),
            problems=_unmeasured(pair, [row[2] for row in rows]),
            before=self._before([row[0] for row in rows]),
        )

    def _before(self, numbers: Iterable[int]) -> tuple[str | None, ...]:
        """Among several systems, that of the visit before each, which may be of no pair with it."""
        if len(self.systems) == 2:
            return ()
        return tuple(None if n == 1 else self.visits[n - 2].system for n in numbers)

    def stream(self, series: Series) -> Stream:
        signs = np.where(series.other, np.int8(1), np.int8(-1))
        return Stream(
            values=series.values,
            other=series.other,
            pool=pool_of(signs, self._orders(series, signs)),
            horizon=self.budget * 2 // len(self.systems),
            once=self.design == "none",
            engine=self.engine,
            covariate=self._covariate(series),
        )

    def _covariate(self, series: Series) -> Floats | None:
        """That of each visit; ``None`` where all are alike, as without one."""
        found = np.array([self.visits[visit - 1].covariate for visit in series.visits])
        return found if np.ptp(found) > 0 else None

    def _orders(self, series: Series, signs: Signs) -> Signs:
        if self.design == "none":
            return shuffles(signs, self.paths, self.seed)
        law: Literal["big_stick", "pairs", "blocks", "double_blocks"]
        law = "big_stick" if self.design == "bigstick" else self.design
        if self.rounds == 2:
            law = "double_blocks"
        drawn = draw(self.seed, law, series.slots[-1] + 1, self.paths)
        return drawn[list(series.slots)]


def _members(pair: Pair) -> tuple[str, str]:
    return pair.baseline, pair.other


def _unmeasured(pair: Pair, others: Sequence[bool]) -> tuple[NotJudged, ...]:
    """Which of the two has no visit there."""
    present = {pair.other if other else pair.baseline for other in others}
    return tuple(NoVisits(system=name) for name in _members(pair) if name not in present)


def _mean(visit: Visit, loads: Sequence[Level | None]) -> float:
    return math.fsum(visit.logs[each] for each in loads) / len(loads)


def _comparisons(
    response: ResponseSpec, systems: tuple[str, ...], loads: tuple[Level, ...], alpha: float
) -> Iterator[Comparison]:
    """Overall and at each load, as ``families.py`` shares the error rate of a study."""
    places: list[dict[str, Level] | None] = [None]
    places += [{LOAD: load} for load in loads] if len(loads) > 1 else []
    for other in systems[1:]:
        for place in places:
            members = (len(systems) - 1) * (1 if place is None else len(loads))
            yield Comparison(
                response=response,
                pair=Pair(systems[0], other),
                conditions=place,
                alpha=alpha,
                share=alpha / members,
                family=Family(
                    response=response.label,
                    scope="overall" if place is None else "conditions",
                    places=1 if place is None else len(loads),
                    pairs=len(systems) - 1,
                    baseline=systems[0],
                ),
            )


def _caveats(design: Design, asked: int | None, budget: int, engine: Engine) -> Iterator[Caveat]:
    if engine == "normal":
        yield ErrorRateByNormality()
    if design == "none":
        yield OrderNotRandom()
        yield JudgedOnce()
    elif asked is None:
        yield BudgetNotDeclared(visits=budget)
