"""Kills a session at an instant, restores, and looks whether the machine is as it was found."""

from __future__ import annotations

from tests.platforms.torture.session import Session, Victim

from steelyard.hosts.environment import Difference, Environment, differences, snapshot
from steelyard.hosts.host import Host
from steelyard.hosts.machines import Machines
from steelyard.hosts.undo.actions.table import read_inverse
from steelyard.hosts.undo.actions.values import RestoreValues
from steelyard.hosts.undo.log import INSIDE, pending_undos
from steelyard.records.events import UndoPlanned
from steelyard.records.ledger import read_ledger


def survive(session: Session, victim: Victim) -> None:
    """One session, one kill, one restore; then the machine is as before.

    Of other things on the machine only values of the kernel are looked at: whoever works beside
    these tests may mount and start what they like.
    """
    with Machines() as machines:
        before = snapshot(machines.open("local"))
        try:
            session.outlive(victim)
        finally:
            done = session.restore()
        when = f"seed {session.seed}, {victim} killed {session.instant}\n{done.stdout}{done.stderr}"
        assert done.returncode == 0, when
        assert pending_undos(read_ledger(session.run / "ledger.jsonl")) == [], when
        left = traces(machines.open("local"), before, session)
        assert left == [], f"{left}: {when}"
        _take_back_again(session, machines)
        left = traces(machines.open("local"), before, session)
        assert left == [], f"taken back twice, {left}: {when}"


def _take_back_again(session: Session, machines: Machines) -> None:
    """Every inverse that was ever planned, though nothing is left: none may refuse or do harm.

    So it is when a controller dies between taking a change back and writing that it did. Only
    the one that needs a file of its own refuses, since that has gone with the rest.
    """
    for event in reversed(read_ledger(session.run / "ledger.jsonl")):
        if isinstance(event, UndoPlanned) and not event.host.startswith(INSIDE):
            inverse = read_inverse(event.inverse)
            if not isinstance(inverse, RestoreValues):
                inverse.apply(machines.open(event.host))


CHANGED_BY_ANOTHER_TEST = "/proc/sys/vm/stat_interval"
"""``test_plan_changes`` sets it and resets it, perhaps beside a kill."""


def traces(host: Host, before: Environment, session: Session) -> list[str]:
    """What is on the machine now that the session made, and every value that it changed."""
    after = snapshot(host, "\n".join(session.marks))
    processes = [f"process {pid}: {what}" for pid, what in after["process"].items()]
    files = [f"file {path}" for path in session.files]
    found = differences(before | {"process": {}}, after | {"process": {}})
    return [*processes, *files, *(str(one) for one in found if _of_us(one, session))]


def _of_us(difference: Difference, session: Session) -> bool:
    if difference.reason is not None:
        return False
    if difference.name == CHANGED_BY_ANOTHER_TEST:
        return False
    said = str(difference)
    return difference.kind == "value" or any(mark in said for mark in session.marks)


def left_behind(session: Session, events: int) -> list[str]:
    """The traces of a session that was killed after so many events, before it is restored."""
    session.events = events
    with Machines() as machines:
        before = snapshot(machines.open("local"))
        session.outlive("controller")
        try:
            return traces(machines.open("local"), before, session)
        finally:
            assert session.restore().returncode == 0
