"""Which accelerator a machine gets: hardware virtualisation is believed when it was seen to work.

A device file proves nothing: it may be there and hang, or fail at the first instruction. So a tiny
machine is started whose firmware writes its name and, finding nothing to boot, ends.
"""

from __future__ import annotations

from dataclasses import dataclass

from steelyard.engine.agent import AgentRefusal
from steelyard.hosts.failures import SystemFailure
from steelyard.hosts.host import Host
from steelyard.systems.qemu.command_line import CPU, MACHINE, QEMU

PROBE_TIMEOUT_S = 5.0
_FIRMWARE = "SeaBIOS"


@dataclass(frozen=True)
class Accelerator:
    """What is used, and why where that was not what was asked for first."""

    name: str
    reason: str


def probe_words() -> list[str]:
    """A machine that lives for a fraction of a second; its firmware's words come on stdout."""
    return [
        QEMU,
        *("-machine", MACHINE, "-accel", "kvm", "-cpu", CPU, "-m", "16"),
        *("-nodefaults", "-no-user-config", "-display", "none"),
        *("-no-reboot", "-boot", "reboot-timeout=1"),
        *("-chardev", "stdio,id=firmware", "-device", "isa-debugcon,iobase=0x402,chardev=firmware"),
    ]


def kvm_fails(host: Host) -> str | None:
    """Why KVM cannot be used on this machine; ``None`` where a guest ran on it."""
    try:
        ran = host.run(probe_words(), timeout_s=PROBE_TIMEOUT_S)
    except AgentRefusal as refusal:
        return refusal.failure.message
    if ran.timed_out:
        return f"a tiny guest on KVM has not ended in {PROBE_TIMEOUT_S:g} s"
    if not ran.succeeded:
        return f"a tiny guest on KVM {ran.how_it_ended()}"
    return None if _FIRMWARE in ran.stdout else "a tiny guest on KVM did nothing"


def choose(host: Host, asked: str) -> Accelerator:
    """The accelerator for ``asked``: ``kvm``, ``tcg`` or ``auto``.

    Raises:
        SystemFailure: ``not_supported``: the study insists on KVM, and it does not work.
    """
    if asked == "tcg":
        return Accelerator("tcg", "asked for")
    failure = kvm_fails(host)
    if failure is None:
        return Accelerator("kvm", "asked for" if asked == "kvm" else "works")
    if asked == "auto":
        return Accelerator("tcg", f"KVM does not work: {failure}")
    message = f"on {host.name}: KVM does not work: {failure}"
    raise SystemFailure("not_supported", message, "write `accel: auto` or `accel: tcg`")
