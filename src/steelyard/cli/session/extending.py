"""``steelyard resume --extend``: as many visits again where the budget ended without a verdict."""

from __future__ import annotations

from steelyard.errors import RecordError
from steelyard.inference.sequential import VerdictWord
from steelyard.judge.findings import RunFindings, VerdictFinding
from steelyard.judge.kinds.verdict_notes import SpanDisagrees, SpanTooShort
from steelyard.plan.model import Plan
from steelyard.records.archive import Run
from steelyard.records.events import BudgetExtended
from steelyard.records.ledger import Ledger
from steelyard.records.sessions import last_reason

_ENDED = ("budget_visits", "budget_time")
_WHY = {"decided": "the verdict was reached", "failures": "nothing was left to compare"}


def extend_budget(run: Run) -> None:
    """Records in the ledger that the budget is extended; the run then has twice the visits.

    Raises:
        RecordError: it was extended before, or did not end by its budget.
    """
    plan, reason = run.plan(), last_reason(run.events())
    why = _never(plan)
    if why is None and reason not in _ENDED:
        why = _WHY.get(
            reason or "", "its budget has not ended yet: `steelyard resume` goes on first"
        )
    if why is not None:
        raise RecordError(
            f"the budget of {run.path} is not extended: {why}",
            hint="for more certainty than this run can give, start a new one with a larger budget",
            slug="cannot-be-extended",
        )
    with Ledger(run.ledger_path) as ledger:
        count = len(plan.visits)
        ledger.append(BudgetExtended(visits=2 * count, visits_before=count))


def may_be_extended(run: Run, findings: RunFindings) -> bool:
    """Whether the budget ended with a question open that more visits may answer."""
    if findings.stop.reason not in _ENDED or _never(run.plan()) is not None:
        return False
    return any(
        verdict.word is VerdictWord.UNDECIDED and not verdict.exploratory and _waits(verdict)
        for own in findings.workloads
        for verdict in own.verdicts
    )


def _waits(verdict: VerdictFinding) -> bool:
    """Whether nothing but time stands against a verdict."""
    return verdict.withheld is None or isinstance(verdict.withheld, SpanTooShort | SpanDisagrees)


def _never(plan: Plan) -> str | None:
    """What no state of the run changes."""
    if plan.budget_visits is not None:
        return "it was extended before, and the error rate allows that once"
    if plan.screen is not None or not plan.visits:
        return "a screening is planned in whole replicates"
    return None
