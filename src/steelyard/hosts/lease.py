"""One session a machine: each machine that takes part is locked while a session uses it.

The lock is an flock of one file of the machine, held by a process that the session's agent there
has started. The kernel releases it when that process ends, which it does with its agent at the
latest. Each lease has a fence number, one more than the one before it, in the file and in the
ledger of its run, there first. Before each attempt the agent is asked whether the process still
runs and the number still stands: a session that lost a machine to another one measures nothing
more on it, also when the other has ended meanwhile.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from enum import Enum
from pathlib import Path

from steelyard.engine.agent import AgentRefusal
from steelyard.engine.messages import Ran
from steelyard.errors import EngineError, HostError
from steelyard.hosts.host import Host
from steelyard.records.archive import Run
from steelyard.records.events import MachineLeased
from steelyard.records.ledger import Ledger, is_being_written

VARIABLE = "STEELYARD_LEASE"
"""Environment variable: another file, so that sessions that shall not exclude each other do not."""
_NAME = "lease"
_DYING_S = 5.0
"""So long the agents of a controller that was killed may take to end."""
_POLL_S = 0.25
_TIMEOUT_S = 30.0
_BUSY = 75
_NO_TOOL = 127
_FILE = (
    'umask 0; f=$1; [ -n "$f" ] || { f=/tmp/steelyard.lease; '
    "[ -k /run/lock ] && f=/run/lock/steelyard.lease; }; "
    '[ -e "$f" ] || : >"$f"; exec 9<"$f"; '
)
"""A folder that all users of a machine can write to, the same for all of them."""
_LOOK = f'{_FILE}flock -n 9; c=$?; [ $c = 127 ] && exit 127; cat "$f"; [ $c = 0 ] || exit {_BUSY}'
_TAKE = (
    f'{_FILE}flock -n 9 || exit {_BUSY}; [ "$(cat "$f")" = "$3" ] || exit {_BUSY}; '
    'printf %s "$2" >"$f"; printf "%s\\n" "$f"; exec sleep 2147483647'
)
"""Only if the file says what it said when it was looked at."""
_CLAIM = f'{_FILE}printf %s "$2" >"$f"'
"""While another holds the lock, who then finds that its number does not stand any more."""


class Busy(Enum):
    """What to do about a machine that another session holds."""

    REFUSE = "refuse"
    WAIT = "wait"
    TAKE_OVER = "take_over"


@dataclass(frozen=True)
class Holder:
    """Who holds a machine, or held it last: its run, since when, and the agent that ends with it.

    ``identity`` names the run wherever its folder lies.
    """

    run: str
    since_unix_s: int
    pid: int
    start_ticks: int
    fence: int = 0
    identity: str = ""


@dataclass(frozen=True)
class _Held:
    """A machine that is held: by which agent, and what stands in its file."""

    host: Host
    path: str
    written: str


@dataclass(frozen=True)
class Claimant:
    """The run that claims machines, and the fence numbers of its ledger by machine.

    ``identity`` is that of :class:`Holder`. ``record`` is called before a machine is claimed with
    its next number.
    """

    run: str
    identity: str
    fences: dict[str, int] = field(default_factory=dict)
    record: Callable[[str, int], None] = lambda _machine, _fence: None


def claimant_of(run: Run, ledger: Ledger) -> Claimant:
    """Which knows of the earlier sessions of the run, and records its own claims.

    Raises:
        RecordError: the facts of the run are damaged.
    """
    facts = run.facts()
    whose = f"-{facts.machine}" if facts.machine else ""
    leased = [event for event in ledger.events() if isinstance(event, MachineLeased)]
    return Claimant(
        run=str(run.path.absolute()),
        identity=f"{facts.study_sha256[:16]}-{facts.created_unix_ns}{whose}",
        fences={event.machine: event.fence for event in leased},
        record=lambda machine, fence: ledger.append(MachineLeased(machine=machine, fence=fence)),
    )


def opened_alone(open_machine: Callable[[str], Host], leases: Leases) -> Callable[[str], Host]:
    """Opens machines that no other session measures on, and keeps sessions away meanwhile."""

    def opened(name: str) -> Host:
        host = open_machine(name)
        try:
            leases.hold(host)
        except HostError as error:
            hint = "wait until it has ended; its trials would be disturbed"
            raise HostError(error.message, hint=hint, slug=error.slug) from error
        return host

    return opened


class Leases:
    """The machines that a session holds; all are released when their agents end.

    ``after`` is called with a machine that is free and the folder of the other run that held it
    last, and may refuse it with a :class:`HostError`; not by one that takes machines over.
    """

    def __init__(
        self,
        claimant: Claimant,
        busy: Busy = Busy.REFUSE,
        after: Callable[[Host, str], None] = lambda _host, _run: None,
    ) -> None:
        self._claimant = claimant
        self._busy = busy
        self._after = after
        self._file = os.environ.get(VARIABLE, "")
        self._held: dict[str, _Held] = {}
        self._shown: dict[str, str] = {}
        """What this session wrote last into the file of a machine."""

    def hold(self, host: Host, waits: Callable[[str], None] = lambda _: None) -> None:
        """Returns when this session alone uses the machine.

        A machine under two names is held once. One without ``flock`` is not held. ``waits`` is
        called once with who is waited for.

        Raises:
            HostError: another session holds it, or has taken it over, now or in between.
            KeyboardInterrupt: the user asks to stop.
        """
        try:
            self._hold(host, waits)
        except EngineError:
            if host.lost:
                raise
            self._hold(host, waits)  # the agent that held it has just ended, and is known to

    def _hold(self, host: Host, waits: Callable[[str], None]) -> None:
        for name, held in list(self._held.items()):
            if held.host.lost:
                del self._held[name]  # the lock went with its agent
        mine = self._mine(host)
        if mine is None:
            self._take(host, waits)
        elif not mine.host.status(_NAME).running and _stands(mine):
            # Its process was ended alone, and no other session has claimed the machine since.
            self._held = {name: each for name, each in self._held.items() if each is not mine}
            self._take(host, waits)
        elif not _stands(mine):
            raise _taken_over(host, self._look(host).stdout)

    def _mine(self, host: Host) -> _Held | None:
        for held in self._held.values():
            same_boot = host.boot_id is not None and held.host.boot_id == host.boot_id
            if held.host is host or same_boot:
                return held
        return None

    def _take(self, host: Host, waits: Callable[[str], None]) -> None:
        began_s = time.monotonic()
        told = False
        ended: Holder | None = None
        while not self._taken(host):
            last = self._look(host).stdout
            self._refuse_taken_over(host, last)
            holder = _read(last)
            if holder is not None and self._is_our_claim(host, holder):
                holder = ended
            elif holder is not None and self._takes_over and not self._is_ours(holder):
                self._claim(host, holder)
            if holder is not None and (self._is_over(host, holder) or self._takes_over):
                ended = holder
                _end(host, holder)
            elif self._busy is Busy.WAIT:
                if not told:
                    waits(f"{host.name} is being measured by {_words(holder)}")
                told = True
            elif time.monotonic() - began_s > _DYING_S:
                raise _in_use(host, holder)
            time.sleep(_POLL_S)

    def _claim(self, host: Host, holder: Holder) -> None:
        """Before a holder is ended: otherwise it takes the machine again by a new agent."""
        own = self._next(host, holder)
        self._claimant.fences[host.name] = own.fence
        self._claimant.record(host.name, own.fence)
        argv = ["sh", "-c", _CLAIM, "sh", self._file, json.dumps(asdict(own))]
        host.run(argv, timeout_s=_TIMEOUT_S)

    def _is_our_claim(self, host: Host, holder: Holder) -> bool:
        return self._is_ours(holder) and holder.pid == host.agent_pid

    @property
    def _takes_over(self) -> bool:
        return self._busy is Busy.TAKE_OVER

    def _is_over(self, host: Host, holder: Holder) -> bool:
        """Whether an earlier session of this run left it, of which the ledger knows, and is not
        going on in another copy of the run.
        """
        going_on = holder.run != self._claimant.run and is_being_written(_ledger_of(holder.run))
        return self._is_ours(holder) and not self._is_newer(host, holder) and not going_on

    def _is_ours(self, holder: Holder) -> bool:
        return holder.identity == self._claimant.identity

    def _is_newer(self, host: Host, holder: Holder) -> bool:
        return holder.fence > self._claimant.fences.get(host.name, 0)

    def _taken(self, host: Host) -> bool:
        looked = self._look(host)
        if looked.exit_code == _NO_TOOL:
            return True
        if looked.exit_code == _BUSY:
            return False
        if looked.exit_code != 0:
            raise HostError(
                f"{host.name} cannot be locked: {looked.how_it_ended()}",
                hint=f"name a file that can be written there with ${VARIABLE}",
                slug="machine-is-in-use",
            )
        self._refuse_revived(host, looked.stdout)
        last = _read(looked.stdout)
        if last is not None and not self._is_ours(last) and not self._takes_over:
            self._after(host, last.run)
        own = self._next(host, last)
        self._claimant.fences[host.name] = own.fence
        self._claimant.record(host.name, own.fence)
        written = json.dumps(asdict(own))
        argv = ["sh", "-c", _TAKE, "sh", self._file, written, looked.stdout]
        try:
            started = host.start(_NAME, argv, directory="/", ready_timeout_s=_TIMEOUT_S)
        except AgentRefusal:
            return False  # somebody was quicker
        self._shown[host.name] = written
        self._held[host.name] = _Held(host, (started.ready_line or "").strip(), written)
        return True

    def _refuse_revived(self, host: Host, last: str) -> None:
        """Of a controller that slept, or works with an old copy of the records."""
        holder = _read(last)
        if holder is None:
            return
        self._refuse_taken_over(host, last)
        if self._is_ours(holder) and self._is_newer(host, holder) and not self._takes_over:
            raise HostError(
                f"{host.name} was measured by {_words(holder)} with lease {holder.fence}, of which "
                "the ledger of this run knows nothing: another copy of the run is further",
                hint="resume that copy; to go on with this one all the same, say --take-over",
                slug="run-is-further-elsewhere",
            )

    def _refuse_taken_over(self, host: Host, last: str) -> None:
        """A session that has held the machine does not wait for, or end, the one that took it."""
        if _read(last) is not None and self._shown.get(host.name, last) != last:
            raise _taken_over(host, last)

    def _look(self, host: Host) -> Ran:
        return host.run(["sh", "-c", _LOOK, "sh", self._file], timeout_s=_TIMEOUT_S)

    def _next(self, host: Host, last: Holder | None) -> Holder:
        ticks = host.read_file(f"/proc/{host.agent_pid}/stat").rpartition(")")[2].split()[19]
        claimant = self._claimant
        highest = max(claimant.fences.get(host.name, 0), 0 if last is None else last.fence)
        return Holder(
            run=claimant.run,
            since_unix_s=int(time.time()),
            pid=host.agent_pid,
            start_ticks=int(ticks),
            fence=highest + 1,
            identity=claimant.identity,
        )


def _ledger_of(run: str) -> Path:
    """Of the run in this folder, if it lies on this machine."""
    return Run(Path(run)).ledger_path


def _stands(held: _Held) -> bool:
    """Whether the agent finds the number that the session shows."""
    try:
        return held.host.read_file(held.path) == held.written
    except AgentRefusal:
        return False


def _read(written: str) -> Holder | None:
    """As it wrote itself down; ``None`` where it could not, or never did."""
    try:
        return Holder(**json.loads(written))
    except (ValueError, TypeError):
        return None


def _taken_over(host: Host, last: str) -> HostError:
    return HostError(
        f"{host.name} was taken over by {_words(_read(last))}",
        hint="go on with `steelyard resume` when that one has ended",
        slug="machine-was-taken-over",
    )


def _end(host: Host, holder: Holder) -> None:
    """The agent, and the lock with it."""
    try:
        host.kill_stale(holder.pid, holder.start_ticks)
    except AgentRefusal as refusal:
        raise _in_use(host, holder, refusal.failure.message) from refusal


def _words(holder: Holder | None) -> str:
    if holder is None:
        return "another session"
    since = time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(holder.since_unix_s))
    return f"the run {holder.run} (since {since}, agent {holder.pid})"


def _in_use(host: Host, holder: Holder | None, why: str = "") -> HostError:
    return HostError(
        f"{host.name} is being measured by {_words(holder)}{f': {why}' if why else ''}",
        hint="wait for its end with --wait, or end it with --take-over",
        slug="machine-is-in-use",
    )
