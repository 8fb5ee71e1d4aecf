"""Makes the plan: every visit and trial written out, fixed before the first one starts."""

from __future__ import annotations

from steelyard.plan import design
from steelyard.plan.budget import forecast, visits_within
from steelyard.plan.model import Plan
from steelyard.plan.order import draw_seed
from steelyard.plan.screen import screen_plan
from steelyard.study.model import Study
from steelyard.study.timing import compares

__all__ = ["draw_seed", "make_plan", "seed_of"]


def seed_of(study: Study) -> int:
    """The seed that the study fixes, or one drawn now."""
    return draw_seed() if study.trials.seed is None else study.trials.seed


def make_plan(study: Study, seed: int) -> Plan:
    """The plan of a study: the same for the same study and seed, to the last trial."""
    systems = design.compared(study)
    conditions = design.conditions(study) if compares(study) else ()
    searches = design.searches(study) if compares(study) else ()
    count = visits_within(study)
    coins = design.coin(seed, systems, 2 * count)
    visits = design.visits(seed, systems, coins[:count], (*conditions, *searches))
    trials = sum(len(visit.trials) for visit in visits)
    return Plan(
        seed=seed,
        study_sha256=study.sha256,
        design=design.design_of(systems),
        systems=systems,
        conditions=conditions,
        coin=coins,
        visits=visits,
        searches=searches,
        screen=screen_plan(study, seed, len(visits), trials),
        forecast=forecast(study, count),
    )
