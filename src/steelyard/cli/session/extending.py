"""What ``steelyard resume`` allows beyond going on: more visits, and what was stopped again."""

from __future__ import annotations

from collections.abc import Iterable

from steelyard.errors import RecordError
from steelyard.inference.sequential import VerdictWord
from steelyard.judge.findings import RunFindings, VerdictFinding
from steelyard.judge.kinds.verdict_notes import SpanDisagrees, SpanTooShort
from steelyard.plan.model import Plan
from steelyard.records.archive import Run
from steelyard.records.events import BudgetExtended, Event, StoppedRetried, SystemStopped
from steelyard.records.ledger import Ledger
from steelyard.records.sessions import last_reason, standing_stops

_ENDED = ("budget_visits", "budget_time")
_WHY = {"decided": "the verdict was reached", "failures": "nothing was left to compare"}


def extend_budget(run: Run) -> None:
    """Records in the ledger that the budget is extended; the run then has twice the visits.

    Of several machines those whose budget ended; the others have decided.

    Raises:
        RecordError: it was extended before, or did not end by its budget.
    """
    ended = [part for part in run.parts() if last_reason(part.events()) in _ENDED]
    for part in ended or run.parts():
        _extend(part)


def _extend(run: Run) -> None:
    plan, reason = run.plan(), last_reason(run.events())
    why = _never(plan)
    if why is None and reason not in _ENDED:
        why = _WHY.get(reason, "its budget has not ended yet: `steelyard resume` goes on first")
    if why is not None:
        raise RecordError(
            f"the budget of {run.path} is not extended: {why}",
            hint="for more certainty than this run can give, start a new one with a larger budget",
            slug="cannot-be-extended",
        )
    with Ledger(run.ledger_path) as ledger:
        count = len(plan.visits)
        ledger.append(BudgetExtended(visits=2 * count, visits_before=count))


def retry_what_was_stopped(run: Run) -> None:
    """Records in the ledger that what failed before does not count any more, on any machine.

    Raises:
        RecordError: nothing is stopped.
    """
    stopped = {part: stopped_systems(part.events()) for part in run.parts()}
    if not any(stopped.values()):
        raise RecordError(
            f"no system of {run.path} is stopped",
            hint="go on with `steelyard resume`, without --retry-stopped",
            slug="nothing-is-stopped",
        )
    for part, systems in stopped.items():
        if systems:
            with Ledger(part.ledger_path) as ledger:
                ledger.append(StoppedRetried(systems=systems))


def stopped_systems(events: Iterable[Event]) -> tuple[str, ...]:
    """Those that are not measured any more for futility, with all or one of their workloads."""
    found: dict[str, None] = {}
    for event in standing_stops(events):
        if isinstance(event, SystemStopped):
            found[event.system] = None
        else:
            found |= dict.fromkeys(event.stopped_on)
    return tuple(found)


def may_be_extended(run: Run, findings: RunFindings) -> bool:
    """Whether the budget ended with a question open that more visits may answer."""
    if findings.stop.reason not in _ENDED or any(_never(part.plan()) for part in run.parts()):
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
