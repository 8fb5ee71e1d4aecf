"""More visits than were planned: those that the time holds besides, and one extension on word."""

from __future__ import annotations

from steelyard.errors import RecordError
from steelyard.plan import design
from steelyard.plan.model import Plan, PlannedVisit
from steelyard.study.timing import MOST_VISITS_OF_ONE


def lengthened(plan: Plan, count: int) -> Plan:
    """The same plan with ``count`` visits; those it had stay to the last trial.

    Known before the judge looks for the first time, they are the budget by which it spends its
    error rate.

    Raises:
        RecordError: the visits cannot be drawn again as they were, or no plan has so many.
    """
    if not len(plan.visits) < count <= MOST_VISITS_OF_ONE * len(plan.systems):
        raise _refused()
    drawn_as = "double_blocks" if plan.design == "blocks" else plan.design
    assigned = design.assignment(plan.seed, plan.systems, drawn_as, 2 * count)
    update = {
        "assignment": assigned,
        "visits": _visits(plan, assigned[:count]),
        "assumed_visits": len(plan.visits),
    }
    return plan.model_copy(update=update)


def extended(plan: Plan) -> Plan:
    """The same plan with as many visits again; those it had stay to the last trial.

    The judge goes on with what it keeps of the error rate for this (``inference/spending.py``), by
    the budget there was before.

    Raises:
        RecordError: the visits cannot be drawn again as they were.
    """
    update = {"visits": _visits(plan, plan.assignment), "budget_visits": len(plan.visits)}
    return plan.model_copy(update=update)


def _visits(plan: Plan, assigned: tuple[str, ...]) -> tuple[PlannedVisit, ...]:
    systems = plan.systems
    visits = design.visits(
        plan.seed,
        assigned,
        len(systems) if plan.design == "blocks" else design.block_size(systems, plan.design),
        (*plan.conditions, *plan.searches),
        plan.not_applicable,
    )
    if visits[: len(plan.visits)] != plan.visits:
        raise _refused()
    return visits


def _refused() -> RecordError:
    return RecordError(
        "the visits of this run cannot be drawn again as they were",
        hint="an earlier version drew them; start a new run with a larger budget",
        slug="cannot-be-extended",
    )
