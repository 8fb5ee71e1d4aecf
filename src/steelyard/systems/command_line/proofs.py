"""Values that show whether a reset was one."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from steelyard.hosts.failures import SystemFailure
from steelyard.study.platform.entry import Proof

Evidence = dict[str, str]


def compared(proofs: Mapping[str, Proof]) -> Mapping[str, Proof]:
    """Those whose value before the reset must be known."""
    return {name: proof for name, proof in proofs.items() if proof.expect is not None}


def judge(
    proofs: Mapping[str, Proof],
    before: Evidence,
    after: Evidence,
    text: Callable[[str], str],
) -> None:
    """Whether each value is what it must be.

    Raises:
        SystemFailure: ``reset_not_proved``.
    """
    for name, proof in proofs.items():
        value = after[name]
        if proof.equals is not None and value != text(proof.equals):
            _fail(name, f"is {value!r}, not {text(proof.equals)!r}")
        if proof.expect == "changed" and value == before[name]:
            _fail(name, f"is still {value!r}")
        if proof.expect == "same" and value != before[name]:
            _fail(name, f"was {before[name]!r} and is {value!r}")


def _fail(name: str, what: str) -> None:
    message = f"the reset is not proved: `{name}` {what}"
    raise SystemFailure("reset_not_proved", message, "the system may carry what a trial left to it")
