"""Runs a tool on a machine through its agent, and gives what goes wrong a word."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from steelyard.engine.agent import AgentRefusal
from steelyard.engine.messages import Ran, complaint
from steelyard.hosts.failures import FailureKind, SystemFailure
from steelyard.hosts.host import Host

TOOL_TIMEOUT_S = 30.0
_LAST_WORDS = 600
_ON_ONE_LINE = 300
_BY_WORDS: tuple[tuple[str, FailureKind], ...] = (
    ("no space left", "no_space"),
    ("disk quota exceeded", "no_space"),
    ("operation not permitted", "no_rights"),
    ("permission denied", "no_rights"),
)
_OF_REFUSAL: dict[str, FailureKind] = {
    "not_found": "tool_missing",
    "permission_denied": "no_rights",
    "disk_full": "no_space",
}


def attempt(
    host: Host,
    argv: Sequence[str],
    *,
    timeout_s: float = TOOL_TIMEOUT_S,
    stdin: str | None = None,
) -> Ran:
    """What came of a tool; that it failed is an answer, too.

    Raises:
        SystemFailure: ``tool_missing`` or ``no_rights``: it could not be started; ``timed_out``.
        AgentRefusal: it could not be started for another reason.
    """
    try:
        ran = host.run(list(argv), timeout_s=timeout_s, stdin=stdin)
    except AgentRefusal as refusal:
        kind = _OF_REFUSAL.get(refusal.failure.kind)
        if kind is None:
            raise
        message = f"on {host.name}: cannot run {argv[0]}: {refusal.failure.message}"
        raise SystemFailure(kind, message, f"install {argv[0]} there") from refusal
    if ran.timed_out:
        message = f"on {host.name}: `{_command(argv)}` has not ended in {timeout_s:g} s"
        raise SystemFailure("timed_out", message, last_words=_tail(ran.stderr))
    return ran


def tell(
    host: Host,
    argv: Sequence[str],
    *,
    timeout_s: float = TOOL_TIMEOUT_S,
    stdin: str | None = None,
) -> str:
    """What the tool said on stdout, without the last newline.

    Raises:
        SystemFailure: as :func:`attempt`; or it failed, with the kind that its last message shows.
    """
    ran = attempt(host, argv, timeout_s=timeout_s, stdin=stdin)
    if ran.exit_code == 0:
        return ran.stdout.rstrip("\n")
    raise failed(host, argv, ran)


def failed(host: Host, argv: Sequence[str], ran: Ran) -> SystemFailure:
    """The failure of a tool, by its message."""
    words = _tail(complaint(ran.stderr, ran.stdout))
    lower = words.lower()
    kind: FailureKind = next((kind for said, kind in _BY_WORDS if said in lower), "tool_failed")
    how = f"code {ran.exit_code}" if ran.signal is None else f"signal {ran.signal}"
    lines = [line.strip() for line in words.splitlines() if line.strip()] or ["it said nothing"]
    whole = "; ".join(lines)
    is_short = len(whole) <= _ON_ONE_LINE
    said = whole if is_short else lines[-1]
    message = f"on {host.name}: `{_command(argv)}` ended with {how}: {said}"
    return SystemFailure(kind, message, last_words="" if is_short else words)


def _command(argv: Sequence[str]) -> str:
    words = shlex.join(argv)
    return words if len(words) <= _ON_ONE_LINE else f"{words[:_ON_ONE_LINE]} ..."


def _tail(text: str) -> str:
    return text.strip()[-_LAST_WORDS:]
