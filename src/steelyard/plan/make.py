"""Makes the plan: every visit and trial written out, fixed before the first one starts."""

from __future__ import annotations

from typing import NamedTuple

from steelyard.plan import design
from steelyard.plan.budget import forecast, visits_within
from steelyard.plan.model import Plan
from steelyard.plan.order import draw_seed, seed_of_machine
from steelyard.plan.screen import screen_plan
from steelyard.study.machines import parts_of
from steelyard.study.model import Study
from steelyard.study.timing import compares
from steelyard.study.workload_study import conditions_of

__all__ = ["Planned", "draw_seed", "make_plan", "planned", "seed_of"]


class Planned(NamedTuple):
    """A study, or its part on one machine, and its plan."""

    study: Study
    plan: Plan


def seed_of(study: Study) -> int:
    """The seed that the study fixes, or one drawn now."""
    return draw_seed() if study.trials.seed is None else study.trials.seed


def make_plan(study: Study, seed: int) -> Plan:
    """The plan of a study: the same for the same study and seed, to the last trial."""
    systems = design.compared(study)
    conditions = conditions_of(study) if compares(study) else ()
    missing = design.absent(study) if compares(study) else ()
    searches = design.searches(study) if compares(study) else ()
    count = visits_within(study)
    drawn_as = design.design_of(study)
    assigned = design.assignment(seed, systems, drawn_as, 2 * count)
    in_block = design.block_size(systems, drawn_as)
    visits = design.visits(seed, assigned[:count], in_block, (*conditions, *searches), missing)
    trials = sum(len(visit.trials) for visit in visits)
    return Plan(
        seed=seed,
        study_sha256=study.sha256,
        design=drawn_as,
        systems=systems,
        conditions=conditions,
        assignment=assigned,
        visits=visits,
        searches=searches,
        not_applicable=missing,
        screen=screen_plan(study, seed, len(visits), trials),
        forecast=forecast(study, count),
    )


def planned(study: Study, whole: Plan) -> dict[str, Planned]:
    """The plan of each machine of the study by its name, all by the seed of ``whole``.

    None of a study without machines.
    """
    parts = parts_of(study)
    given_s = whole.budget_time_s
    own_s = None if given_s is None or not parts else given_s / len(parts)
    return {
        name: Planned(part, _within(make_plan(part, seed_of_machine(whole.seed, name)), own_s))
        for name, part in parts.items()
    }


def _within(plan: Plan, time_s: float | None) -> Plan:
    return plan.model_copy(update={"budget_time_s": time_s})
