"""Commands that are ready to run, and what they did: what a platform of commands is made of.

They are plain values, so that an inverse can keep them in the ledger.
"""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from typing import Literal

from steelyard.engine.agent import AgentRefusal
from steelyard.engine.messages import Failure, complaint
from steelyard.hosts.host import Host

Presence = Literal["absent", "ours", "foreign"]


@dataclass(frozen=True)
class Call:
    """One command with all its words.

    ``fine`` matches output of failures that are none. With ``until`` it is repeated, every
    ``every_s``, until its output matches; ``timeout_s`` then counts for all of it.
    """

    argv: tuple[str, ...]
    timeout_s: float
    stdin: str | None = None
    fine: str | None = None
    until: str | None = None
    every_s: float = 0.5

    def __str__(self) -> str:
        return " ".join(self.argv)


@dataclass(frozen=True)
class Done:
    """What a command wrote, and its exit code; ``None`` when it was ended from outside."""

    exit_code: int | None
    stdout: str
    stderr: str

    @property
    def output(self) -> str:
        """All it wrote, in which its meaning is looked for."""
        return f"{self.stdout}\n{self.stderr}"

    @property
    def last_words(self) -> str:
        return "\n".join(complaint(self.stderr, self.stdout).splitlines()[-5:])


class CallFailed(AgentRefusal):
    """A command failed; ``done`` is what it did, ``None`` if it could not even be started."""

    def __init__(self, call: Call, failure: Failure, done: Done | None = None) -> None:
        super().__init__("run", failure)
        self.call = call
        self.done = done


def ask(host: Host, call: Call) -> Done:
    """Runs a command to its end; a failure of its own is an answer.

    Raises:
        CallFailed: it cannot be started (``not_found``, ``permission_denied``), or took too long.
    """
    try:
        ran = host.run(list(call.argv), timeout_s=call.timeout_s, stdin=call.stdin)
    except CallFailed:
        raise
    except AgentRefusal as refusal:
        raise CallFailed(call, refusal.failure) from refusal
    done = Done(ran.exit_code, ran.stdout, ran.stderr)
    if ran.timed_out:
        message = f"`{call}` did not end within {call.timeout_s:g} s"
        raise CallFailed(call, Failure(kind="timed_out", message=message), done)
    return done


def perform(host: Host, call: Call) -> Done:
    """Runs a command that must succeed, or fail with words that are fine.

    Raises:
        CallFailed: it did not, or its output never was what is waited for.
    """
    done = _succeeded(host, call)
    deadline_ns = time.monotonic_ns() + round(call.timeout_s * 1e9)
    while call.until is not None and not re.search(call.until, done.output):
        if time.monotonic_ns() >= deadline_ns:
            message = f"`{call}` did not say `{call.until}` within {call.timeout_s:g} s"
            raise CallFailed(call, Failure(kind="timed_out", message=message), done)
        host.patience.pause(call.every_s)
        done = _succeeded(host, call)
    return done


def _succeeded(host: Host, call: Call) -> Done:
    done = ask(host, call)
    if done.exit_code != 0 and not (call.fine and re.search(call.fine, done.output)):
        said = done.last_words.splitlines()
        words = f"and said: {said[-1]}" if said else "and said nothing"
        how = "was ended" if done.exit_code is None else f"exited with code {done.exit_code}"
        message = f"`{call}` {how} {words}"
        raise CallFailed(call, Failure(kind="system", message=message), done)
    return done


@dataclass(frozen=True)
class Identity:
    """How to tell whether a thing of a name is there, and whether it is ours."""

    call: Call
    absent: str
    ours: str

    def look(self, host: Host) -> Presence:
        """What is there.

        Raises:
            CallFailed: the tool says neither that it is there nor that it is not.
        """
        done = ask(host, self.call)
        if re.search(self.absent, done.output):
            return "absent"
        if done.exit_code != 0:
            perform(host, self.call)
        ours = re.search(self.ours, done.stdout.strip(), re.MULTILINE)
        return "ours" if ours else "foreign"
