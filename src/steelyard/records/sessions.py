"""The sessions of a run, from its ledger: its plan, the time they took, how the last one ended."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

from steelyard.plan.model import Plan
from steelyard.records.disk_checks import DiskCheck
from steelyard.records.events import (
    BudgetExtended,
    DisksChecked,
    Event,
    GeneratorCalibrated,
    SessionClosed,
    SessionEnd,
    SessionOpened,
    StoppedRetried,
    SystemStopped,
    VisitsTimed,
    WorkloadStopped,
)

CHANGE_THE_PLAN = ("visits_timed", "budget_extended")
"""Names of the events that add visits to a plan."""


def plan_after(plan: Plan, events: Iterable[Event]) -> Plan:
    """The plan with the visits that these events added to it."""
    changes = [event for event in events if isinstance(event, VisitsTimed | BudgetExtended)]
    if not changes:
        return plan
    from steelyard.plan.extension import extended, lengthened  # noqa: PLC0415 - numpy is slow to load

    for event in changes:
        if isinstance(event, VisitsTimed):
            plan = lengthened(plan, event.visits)
        elif plan.budget_visits is None:
            plan = extended(plan)
    return plan


def spent_ns(events: Iterable[Event]) -> int:
    """Time that all sessions took; one that was killed counts to its last event.

    The calibration at the beginning of a session is not counted: a budget begins with the first
    trial. One that is repeated between visits is.
    """
    total, opened, last = 0, None, 0
    for event in events:
        if isinstance(event, SessionOpened):
            total += 0 if opened is None else last - opened
            opened = event.at_unix_ns
        elif isinstance(event, GeneratorCalibrated) and opened is not None:
            opened = event.at_unix_ns if event.after_visit is None else opened
        elif isinstance(event, SessionClosed) and opened is not None:
            total += event.at_unix_ns - opened
            opened = None
        last = max(last, event.at_unix_ns)
    return total + (0 if opened is None else last - opened)


def last_reason(events: Sequence[Event]) -> SessionEnd | Literal["error", "open"]:
    """Why the last session ended; ``open`` when it goes on, or was killed."""
    for event in reversed(events):
        if isinstance(event, SessionOpened):
            break
        if isinstance(event, SessionClosed):
            return event.reason or "error"
    return "open"


def standing_stops(events: Iterable[Event]) -> list[SystemStopped | WorkloadStopped]:
    """What was stopped for futility and not asked for again since."""
    standing: list[SystemStopped | WorkloadStopped] = []
    for event in events:
        if isinstance(event, SystemStopped | WorkloadStopped):
            standing.append(event)
        elif isinstance(event, StoppedRetried):
            standing.clear()
    return standing


def damaged_while_up(events: Iterable[Event]) -> dict[str, tuple[DiskCheck, ...]]:
    """Checks that found damage on systems that stayed up, unless asked for again since."""
    found: dict[str, tuple[DiskCheck, ...]] = {}
    for event in events:
        if isinstance(event, DisksChecked) and any(each.damage for each in event.disk_checks):
            found[event.system] = event.disk_checks
        elif isinstance(event, StoppedRetried):
            found = {name: told for name, told in found.items() if name not in event.systems}
    return found
