"""A study on several machines: the sessions of its parts take turns, one visit after the other.

One machine is measured at a time, so that they may share a generator, a network and a power
supply. Each has its own run, order, records and undo; one that fails, or is away after an attempt,
leaves the rounds, and the others go on. The judge is asked about all of them after one more visit
on each.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, suppress
from dataclasses import dataclass, field
from typing import Any, Protocol

from steelyard.errors import HostError, SteelyardError
from steelyard.hosts.kinds import Kind, kind_of, kinds_of
from steelyard.hosts.lease import Busy
from steelyard.inference.spending import last_look
from steelyard.judge.machines.of_study import MachinePart, decided_together
from steelyard.records.archive import Run
from steelyard.records.events import MachineLeft, SessionEnd
from steelyard.study.model import Study
from steelyard.trial.session import Session, disk_error, session_on
from steelyard.trial.session_state.interrupt import Interrupt
from steelyard.trial.session_state.watcher import Watcher
from steelyard.trial.shortfall import NeedsMissingError, missing_before_start


@dataclass(frozen=True)
class OnMachine:
    """The part of a study on one machine, its run, and who watches it."""

    study: Study
    run: Run
    watcher: Watcher


class RoundsWatcher(Protocol):
    """Called beside the watchers of the sessions."""

    def turns_to(self, machine: str) -> None:
        """What follows is of this machine."""

    def differ(self, kinds: dict[Kind, list[str]]) -> None:
        """The machines are of several kinds; nothing was started yet."""

    def fails(self, machine: str, error: SteelyardError) -> None:
        """Its session has ended by an error; the others go on."""


@dataclass(frozen=True)
class RoundsEnd:
    """Why the sessions ended, and what ended those of machines that have left, or kept one of them
    from being restored.
    """

    reason: SessionEnd
    failed: Mapping[str, SteelyardError]


def run_machines(
    study: Study,
    on: Mapping[str, OnMachine],
    interrupt: Interrupt,
    busy: Busy = Busy.REFUSE,
    watcher: RoundsWatcher | None = None,
) -> RoundsEnd:
    """Starts or goes on with the runs of all machines, and restores them.

    Raises:
        SteelyardError: what kept one of them from beginning; nothing was measured.
    """
    failed: dict[str, SteelyardError] = {}
    with ExitStack() as stack, interrupt.installed():
        sessions: dict[str, Session] = {}
        for name, each in on.items():
            first = next(iter(sessions.values()), None)
            leases = None if first is None else first.session.leases
            opened = session_on(each.study, each.run, each.watcher, interrupt, busy, leases)
            sessions[name] = opened.__enter__()
            stack.push(_Closing(name, opened, failed))
        rounds = _Rounds(study, sessions, failed, watcher)
        rounds.begin()
        while rounds.left:
            rounds.next()
    reasons = [each.reason for each in sessions.values() if each.reason is not None]
    if "interrupted" in reasons:
        return RoundsEnd("interrupted", failed)
    return RoundsEnd(next((each for each in reasons if each != "decided"), "decided"), failed)


@dataclass(frozen=True)
class _Closing:
    """Ends one session; a machine that cannot be restored keeps no other from it."""

    name: str
    opened: AbstractContextManager[Session]
    failed: dict[str, SteelyardError]

    def __call__(self, *raised: Any) -> None:
        try:
            self.opened.__exit__(*raised)
        except SteelyardError as error:
            if error is not raised[1]:
                self.failed.setdefault(self.name, error)


@dataclass
class _Rounds:
    """``left`` are the machines that have visits to come, ``failed`` why others have not."""

    study: Study
    sessions: Mapping[str, Session]
    failed: dict[str, SteelyardError]
    watcher: RoundsWatcher | None
    left: dict[str, Iterator[None]] = field(default_factory=dict)
    _asked_at: int = -1
    _decided: bool = False

    def begin(self) -> None:
        """Makes every machine ready, before any of them is measured.

        Raises:
            NeedsMissingError: names what is missing on any of them.
        """
        for session in self.sessions.values():
            session.session.reach_host_machines(again=False)
        _refuse_the_same(self.sessions)
        self._tell_kinds()
        self.left = {name: session.steps() for name, session in self.sessions.items()}
        missing = list[NeedsMissingError]()
        for name in self.sessions:
            try:
                self._step(name)
            except NeedsMissingError as error:
                missing.append(error)
        if missing:
            found = [one for each in missing for one in each.found]
            raise missing_before_start(found, missing[0].places)
        for name in list(self.left):
            self._step(name)

    def _tell_kinds(self) -> None:
        kinds = kinds_of(
            (name, kind_of(session.session.machines.at(address)))
            for name, session in self.sessions.items()
            for address in session.session.host_machines()
        )
        if len(kinds) > 1 and self.watcher is not None:
            self.watcher.differ(kinds)

    def next(self) -> None:
        """One more visit on each machine that has any left, after a look at all of them."""
        self._look()
        whole = len(self.left) == len(self.sessions)
        for name, session in self.sessions.items():
            session.needed = whole and not self._decided
            session.enough = self._decided and self.study.trials.until == "overall"
            if name in self.left:
                self._turn(name)

    def _turn(self, name: str) -> None:
        try:
            self._step(name)
        except OSError as error:
            self._fails(name, disk_error(self.sessions[name].session.run, error))
        except SteelyardError as error:
            self._fails(name, error)

    def _step(self, name: str) -> None:
        if self.watcher is not None:
            self.watcher.turns_to(name)
        if next(self.left[name], self) is self:
            del self.left[name]

    def _fails(self, name: str, error: SteelyardError) -> None:
        """It stays as it is, for a later session; that it has left is kept beside its records."""
        del self.left[name]
        self.failed[name] = error
        with suppress(OSError):
            self.sessions[name].session.ledger.append(MachineLeft(message=error.message))
        if self.watcher is not None:
            self.watcher.fails(name, error)

    def _look(self) -> None:
        """Whether all of these are decided; asked at growing distances, as each of them is."""
        done = min(len(e.progress.visits_done(e.session.plan)) for e in self.sessions.values())
        if self._decided or last_look(done) <= self._asked_at:
            return
        self._asked_at = done
        parts = {
            name: MachinePart(each.session.study, each.session.plan, each.progress.records)
            for name, each in self.sessions.items()
        }
        try:
            with next(iter(self.sessions.values())).session.interrupt.waiting():
                self._decided = decided_together(self.study, parts)
        except KeyboardInterrupt:
            return  # each session notices by itself


def _refuse_the_same(sessions: Mapping[str, Session]) -> None:
    """Two names of one machine: what it shows would count twice."""
    known: dict[str, str] = {}
    for name, session in sessions.items():
        for address in session.session.host_machines():
            boot = session.session.machines.at(address).boot_id
            if boot is not None and known.setdefault(boot, name) != name:
                raise HostError(
                    f"{known[boot]} and {name} are one machine: they have the same boot_id",
                    hint="name each machine once; containers of one kernel are one machine",
                    slug="machine-is-named-twice",
                )
