"""The judge for trials that were measured elsewhere: one function on arrays.

The engine, the words and the findings are those of a study (``docs/methods/judge.md``); what a
study knows and bare arrays do not is taken from the caller, and ``caveats`` name what the error
rate then rests on.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Literal

from steelyard.inference.randomisation import PATHS
from steelyard.judge.comparisons.comparison import judge
from steelyard.judge.comparisons.families import Family, shared
from steelyard.judge.comparisons.verdict_finding import finding
from steelyard.judge.findings import ResponseFinding, VerdictFinding
from steelyard.judge.kinds.caveats import (
    BlockUnfinished,
    BudgetNotDeclared,
    Caveat,
    JudgedOnce,
    OrderNotRandom,
    OrderRepeats,
)
from steelyard.judge.machines.findings import MachinesFinding
from steelyard.judge.machines.together import judge_together
from steelyard.judge.own_trials.arguments import Declared, Direction
from steelyard.judge.own_trials.arrays import names, rows_of
from steelyard.judge.own_trials.machine_rows import rows_by_machine, visits_by_machine
from steelyard.judge.own_trials.rows import (
    Design,
    TrialRows,
    Visit,
    repetition,
    rounds_of,
    visits_of,
)
from steelyard.judge.own_trials.visits import LOAD, MeasuredVisits
from steelyard.judge.visits.pairs import MACHINE, Conditions, Pair
from steelyard.plan.model import Frozen
from steelyard.study.model import Level, ResponseSpec


class TrialsVerdict(Frozen):
    """What the judge says of trials; ``sentences/terminal/trials.py`` puts it into sentences.

    ``verdicts`` are those of a report (``docs/reference/findings.md``): for every system but the
    baseline one over all loads, then one at each load. ``decided_at_visit`` counts visits from
    the first. ``caveats`` bound what the error rate of these trials holds for. Of several machines
    the first verdict is on all of these, then comes one on each; ``machines`` say of each pair what
    depends on them. Then ``budget`` and ``decided_at_visit`` count the visits of one machine.
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
    machines: tuple[MachinesFinding, ...] = ()
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
    machine: Iterable[object] | None = None,
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
        machine: The machine of each trial; each has a random order of its own by ``design``.
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
    if machine is not None:
        return judge_machines(rows_by_machine(rows, names(machine, "machine")), declared)
    return judge_rows(rows, declared)


def judge_rows(rows: TrialRows, declared: Declared, *, ordered: bool = True) -> TrialsVerdict:
    """The same of rows, and of what was declared before the first.

    ``ordered``: whether it is known which visit followed which; only the design ``none`` can do
    without.

    Raises:
        TrialsError: as ``judge_trials``.
    """
    visits = visits_of(rows, declared.baseline, declared.design)
    measured = _measured(rows, visits, declared, ordered=ordered)
    verdicts = _verdicts(measured, declared.response, declared.margin_log, declared.alpha)
    caveats = _caveats(declared, measured)
    return _verdict(declared, measured, [rows], list(verdicts), tuple(caveats))


def judge_machines(by_machine: Mapping[str, TrialRows], declared: Declared) -> TrialsVerdict:
    """The same of several machines, each with a random order of its own; of one as without.

    Raises:
        TrialsError: as ``judge_trials``; ``machine`` names whose rows it counts.
    """
    if len(by_machine) == 1:
        return judge_rows(next(iter(by_machine.values())), declared)
    visits = visits_by_machine(by_machine, declared)
    most = max(len(each) for each in visits.values())
    on = {
        name: replace(
            _measured(rows, visits[name], declared, ordered=True, budget_visits=most), machine=name
        )
        for name, rows in by_machine.items()
    }
    judged = list(_on_machines(on, declared.response, declared.margin_log, declared.alpha))
    first = next(iter(on.values()))
    everything = replace(first, visits=[v for own in on.values() for v in own.visits])
    verdicts = [verdict for each in judged for verdict in each[0]]
    caveats = dict.fromkeys(
        each for own in on.values() for each in _caveats(declared, own, len(on))
    )
    found = _verdict(declared, everything, [*by_machine.values()], verdicts, tuple(caveats))
    beside = tuple(machines for _, machines in judged if machines is not None)
    return found.model_copy(update={"machines": beside})


def _measured(
    rows: TrialRows,
    visits: list[Visit],
    declared: Declared,
    *,
    ordered: bool,
    budget_visits: int = 0,
) -> MeasuredVisits:
    design, others = declared.design, {each.system for each in visits} - {declared.baseline}
    systems = (declared.baseline, *sorted(others))
    return MeasuredVisits(
        visits,
        systems,
        () if rows.load is None else tuple(dict.fromkeys(rows.load)),
        design,
        rounds_of(rows, visits, design),
        declared.budget_of(max(len(visits), budget_visits), len(systems)),
        declared.paths,
        declared.seed,
        len(visits),
        ordered=ordered,
    )


def _verdict(
    declared: Declared,
    measured: MeasuredVisits,
    rows: Sequence[TrialRows],
    verdicts: list[VerdictFinding],
    caveats: tuple[Caveat, ...],
) -> TrialsVerdict:
    response = declared.response
    return TrialsVerdict(
        response=ResponseFinding(
            name=response.name,
            label=response.label,
            unit=response.unit,
            direction=response.direction,
            primary=response.primary,
        ),
        verdicts=tuple(verdicts),
        systems=measured.systems,
        loads=measured.loads,
        visits=len(measured.visits),
        trials=sum(len(each.system) for each in rows),
        budget=measured.budget,
        design=measured.design,
        seed=declared.seed,
        beside_covariate=any(len(set(each.covariate or ())) > 1 for each in rows),
        caveats=caveats,
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


def _on_machines(
    on: Mapping[str, MeasuredVisits], response: ResponseSpec, margin_log: float, alpha: float
) -> Iterator[tuple[list[VerdictFinding], MachinesFinding | None]]:
    """Each system against the baseline: on all of these machines, then on each; what differs."""
    baseline, *others = next(iter(on.values())).systems
    everywhere: dict[Pair, list[Conditions]] = {Pair(baseline, other): [{}] for other in others}
    for each in shared(response, everywhere, alpha, against=baseline):
        whole, machines = judge_together(each, on, margin_log)
        verdicts = [whole]
        family = Family(
            response=response.label,
            scope="machines",
            places=len(on),
            pairs=len(others),
            baseline=baseline,
        )
        for name, measured in on.items():
            own = replace(
                each, conditions={MACHINE: name}, share=each.share / len(on), family=family
            )
            verdicts.append(finding(judge(own, measured, margin_log), measured, margin_log))
        yield verdicts, machines


def _caveats(declared: Declared, measured: MeasuredVisits, machines: int = 1) -> Iterator[Caveat]:
    if declared.design == "none":
        yield OrderNotRandom()
        yield JudgedOnce()
        return
    if (repeats := repetition(measured.visits, declared.design)) is not None:
        yield OrderRepeats(period_visits=repeats.period, once_in=repeats.once_in)
    if measured.unfinished:
        yield BlockUnfinished(
            visits=measured.unfinished,
            of=len(measured.systems) * measured.rounds,
            machine=measured.machine,
        )
    if declared.budget is None:
        yield BudgetNotDeclared(visits=measured.budget, machines=machines)
