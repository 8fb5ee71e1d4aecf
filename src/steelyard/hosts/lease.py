"""One session a machine: each machine that takes part is locked while a session uses it.

The lock is an flock of one file of the machine, held by a process that the session's agent there
has started. The kernel releases it when that process ends, which it does with its agent at the
latest. Before each attempt the agent is asked whether the process still runs: a session that lost
a machine to another one measures nothing more on it.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from enum import Enum

from steelyard.engine.agent import AgentRefusal
from steelyard.engine.messages import Ran
from steelyard.errors import HostError
from steelyard.hosts.host import Host

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
_LOOK = f'{_FILE}flock -n 9 || {{ c=$?; [ $c = 127 ] && exit 127; cat "$f"; exit {_BUSY}; }}'
_TAKE = f'{_FILE}flock -n 9 || exit {_BUSY}; printf %s "$2" >"$f"; echo held; exec sleep 2147483647'


class Busy(Enum):
    """What to do about a machine that another session holds."""

    REFUSE = "refuse"
    WAIT = "wait"
    TAKE_OVER = "take_over"


@dataclass(frozen=True)
class Holder:
    """Who holds a machine: its run, since when, and the agent that ends with it."""

    run: str
    since_unix_s: int
    pid: int
    start_ticks: int


class Leases:
    """The machines that a session holds; all are released when their agents end."""

    def __init__(self, run: str, busy: Busy = Busy.REFUSE) -> None:
        self._run = run
        self._busy = busy
        self._file = os.environ.get(VARIABLE, "")
        self._held: dict[str, Host] = {}

    def hold(self, host: Host, waits: Callable[[str], None] = lambda _: None) -> None:
        """Returns when this session alone uses the machine.

        A machine under two names is held once. One without ``flock`` is not held. ``waits`` is
        called once with who is waited for.

        Raises:
            HostError: another session holds it, or has taken it over.
            KeyboardInterrupt: the user asks to stop.
        """
        for name, held in list(self._held.items()):
            if held.lost:
                del self._held[name]  # the lock went with its agent
        mine = self._mine(host)
        if mine is None:
            self._take(host, waits)
        elif not mine.status(_NAME).running:
            raise HostError(
                f"{host.name} was taken over by another session",
                hint="go on with `steelyard resume` when that one has ended",
                slug="machine-is-in-use",
            )

    def _mine(self, host: Host) -> Host | None:
        for held in self._held.values():
            if held is host or (host.boot_id is not None and held.boot_id == host.boot_id):
                return held
        return None

    def _take(self, host: Host, waits: Callable[[str], None]) -> None:
        began_s = time.monotonic()
        told = False
        while not self._taken(host):
            holder = self._holder(host)
            if holder is not None and (holder.run == self._run or self._busy is Busy.TAKE_OVER):
                _end(host, holder)
            elif self._busy is Busy.WAIT:
                if not told:
                    waits(f"{host.name} is being measured by {_words(holder)}")
                told = True
            elif time.monotonic() - began_s > _DYING_S:
                raise _in_use(host, holder)
            time.sleep(_POLL_S)

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
        argv = ["sh", "-c", _TAKE, "sh", self._file, json.dumps(asdict(self._own(host)))]
        try:
            host.start(_NAME, argv, directory="/", ready_timeout_s=_TIMEOUT_S)
        except AgentRefusal:
            return False  # somebody was quicker
        self._held[host.name] = host
        return True

    def _look(self, host: Host) -> Ran:
        return host.run(["sh", "-c", _LOOK, "sh", self._file], timeout_s=_TIMEOUT_S)

    def _own(self, host: Host) -> Holder:
        ticks = host.read_file(f"/proc/{host.agent_pid}/stat").rpartition(")")[2].split()[19]
        return Holder(self._run, int(time.time()), host.agent_pid, int(ticks))

    def _holder(self, host: Host) -> Holder | None:
        """As it wrote itself down; ``None`` where it could not, or has ended meanwhile."""
        try:
            return Holder(**json.loads(self._look(host).stdout))
        except (ValueError, TypeError):
            return None


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
