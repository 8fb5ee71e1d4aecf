"""Runs the commands of a platform, and finds from its tool's messages what went wrong."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from steelyard.engine.agent import AgentRefusal
from steelyard.hosts.calls import Call, CallFailed, ask, perform
from steelyard.hosts.failures import FailureKind, SystemFailure
from steelyard.hosts.host import Host
from steelyard.study.declared.json_path import as_text, values_at
from steelyard.study.platform.entry import FailureRule, Reading

_REFUSALS: dict[str, FailureKind] = {
    "not_found": "tool_missing",
    "permission_denied": "no_rights",
    "disk_full": "no_space",
    "timed_out": "timed_out",
}


@dataclass(frozen=True)
class Tool:
    """The command line of a platform on the machine that carries it."""

    host_machine: Callable[[], Host]
    failures: list[FailureRule]

    def do(self, call: Call) -> str:
        """What a command wrote on stdout when it succeeded.

        Raises:
            SystemFailure: it failed; typed by the platform's table of failures.
        """
        with self.typed():
            return perform(self.host_machine(), call).stdout

    def wait(self, call: Call, deadline_ns: int) -> None:
        """Repeats a command until it succeeds.

        Raises:
            SystemFailure: ``not_ready`` at the deadline; at once what somebody has to act on.
        """
        while True:
            with self.typed():
                done = ask(self.host_machine(), call)
            if done.exit_code == 0 and (call.until is None or re.search(call.until, done.output)):
                return
            failure = self._meaning(done.output) if done.exit_code != 0 else None
            if failure is not None and SystemFailure(failure.kind, "").for_operator:
                self.do(call)
            if time.monotonic_ns() >= deadline_ns:
                message = f"`{call}` did not say in time that the system is ready"
                raise SystemFailure("not_ready", message, last_words=done.last_words)
            self.host_machine().patience.pause(call.every_s)

    @contextmanager
    def typed(self) -> Iterator[None]:
        """Turns failures of commands into typed ones."""
        try:
            yield
        except CallFailed as failed:
            raise self._failure(failed) from failed
        except AgentRefusal as refusal:
            kind = _REFUSALS.get(refusal.failure.kind, "tool_failed")
            raise SystemFailure(kind, refusal.failure.message, refusal.failure.hint) from refusal

    def _failure(self, failed: CallFailed) -> SystemFailure:
        said, done = failed.failure, failed.done
        rule = None if done is None else self._meaning(done.output)
        last_words = "" if done is None else done.last_words
        if rule is not None:
            return SystemFailure(rule.kind, said.message, rule.hint, last_words=last_words)
        kind = _REFUSALS.get(said.kind, "tool_failed")
        hint = f"is {failed.call.argv[0]} installed?" if kind == "tool_missing" else said.hint
        return SystemFailure(kind, said.message, hint, last_words=last_words)

    def _meaning(self, output: str) -> FailureRule | None:
        return next((rule for rule in self.failures if re.search(rule.when, output)), None)


def value_in(output: str, reading: Reading) -> str:
    """The value that a reading finds in an output.

    Raises:
        SystemFailure: it is not there.
    """
    if reading.json_path is not None:
        return _in_json(output, reading.json_path)
    if reading.pattern is None:
        return output.strip()
    match = re.search(reading.pattern, output, re.MULTILINE)
    if match is None or match[1] is None:
        message = f"no value like `{reading.pattern}` in what the tool wrote"
        raise SystemFailure("tool_failed", message, last_words=output[-500:])
    return match[1].strip()


def _in_json(output: str, path: str) -> str:
    try:
        value, *_ = values_at(json.loads(output), path)
    except (ValueError, LookupError) as error:
        message = f"no value at `{path}` in what the tool wrote"
        raise SystemFailure("tool_failed", message, last_words=output[-500:]) from error
    return as_text(value)
