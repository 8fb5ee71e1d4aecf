"""A budget that is extended once: by the visits whose systems were assigned in advance."""

from __future__ import annotations

from steelyard.errors import RecordError
from steelyard.plan import design
from steelyard.plan.model import Plan


def extended(plan: Plan) -> Plan:
    """The same plan with as many visits again; those it had stay to the last trial.

    The judge goes on with what it keeps of the error rate for this (``inference/spending.py``), by
    the budget there was before.

    Raises:
        RecordError: the visits cannot be drawn again as they were.
    """
    count, systems = len(plan.visits), plan.systems
    visits = design.visits(
        plan.seed,
        plan.assignment,
        len(systems) if plan.design == "blocks" else design.block_size(systems, plan.design),
        (*plan.conditions, *plan.searches),
        plan.not_applicable,
    )
    if visits[:count] != plan.visits:
        raise RecordError(
            "the visits of this run cannot be drawn again as they were",
            hint="an earlier version drew them; start a new run with a larger budget",
            slug="cannot-be-extended",
        )
    return plan.model_copy(update={"visits": visits, "budget_visits": count})
