"""Which accelerator a machine gets: hardware virtualisation is believed when it was seen to work.

A device file proves nothing: it may be there and hang, or fail at the first instruction. So a tiny
machine is started whose firmware writes its name and, finding nothing to boot, ends. Then another
one with the kernel of the image, which ends where it would look for its root: some KVM runs
firmware, and no kernel that was not made for it.
"""

from __future__ import annotations

from dataclasses import dataclass
from weakref import WeakKeyDictionary

from steelyard.engine.agent import AgentRefusal
from steelyard.hosts.failures import SystemFailure
from steelyard.hosts.host import Host
from steelyard.systems.qemu.command_line import CPU, MACHINE, QEMU

PROBE_TIMEOUT_S = 5.0
KERNEL_TIMEOUT_S = 5.0
_FIRMWARE = "SeaBIOS"
_NO_ROOT = "Kernel panic"


@dataclass(frozen=True)
class Accelerator:
    """What is used, and why where that was not what was asked for first."""

    name: str
    reason: str


def probe_words() -> list[str]:
    """A machine that lives for a fraction of a second; its firmware's words come on stdout."""
    return [
        *_tiny("16"),
        *("-boot", "reboot-timeout=1"),
        *("-chardev", "stdio,id=firmware", "-device", "isa-debugcon,iobase=0x402,chardev=firmware"),
    ]


def kernel_words(kernel: str) -> list[str]:
    """A machine that starts a kernel and nothing else; its console comes on stdout."""
    return [
        *_tiny("256"),
        *("-kernel", kernel, "-append", "console=ttyS0 quiet panic=-1"),
        *("-serial", "stdio"),
    ]


def kvm_fails(host: Host, kernel: str | None = None) -> str | None:
    """Why KVM cannot be used on this machine; ``None`` where a guest ran on it.

    ``kernel`` is a file of the machine that a guest of the study starts. A machine is asked once.
    """
    seen = _SEEN.setdefault(host, {})
    if kernel not in seen:
        seen[kernel] = _fails(host, kernel)
    return seen[kernel]


_SEEN: WeakKeyDictionary[Host, dict[str | None, str | None]] = WeakKeyDictionary()


def _fails(host: Host, kernel: str | None) -> str | None:
    if kernel is None:
        return _probe_fails(host, probe_words(), PROBE_TIMEOUT_S, "a tiny guest", _FIRMWARE)
    words = kernel_words(kernel)
    return kvm_fails(host) or _probe_fails(
        host, words, KERNEL_TIMEOUT_S, "the kernel of the image", _NO_ROOT
    )


def _probe_fails(host: Host, argv: list[str], timeout_s: float, what: str, says: str) -> str | None:
    try:
        ran = host.run(argv, timeout_s=timeout_s)
    except AgentRefusal as refusal:
        return refusal.failure.message
    if ran.timed_out:
        return f"{what} on KVM has not ended in {timeout_s:g} s"
    if not ran.succeeded:
        return f"{what} on KVM {ran.how_it_ended()}"
    return None if says in ran.stdout else f"{what} on KVM did nothing"


def _tiny(mebibytes: str) -> list[str]:
    return [
        QEMU,
        *("-machine", MACHINE, "-accel", "kvm", "-cpu", CPU, "-m", mebibytes),
        *("-nodefaults", "-no-user-config", "-display", "none", "-no-reboot"),
    ]


def choose(host: Host, asked: str, kernel: str | None = None) -> Accelerator:
    """The accelerator for ``asked``: ``kvm``, ``tcg`` or ``auto``; of a guest with this kernel.

    Raises:
        SystemFailure: ``not_supported``: the study insists on KVM, and it does not work.
    """
    if asked == "tcg":
        return Accelerator("tcg", "asked for")
    failure = kvm_fails(host, kernel)
    if failure is None:
        return Accelerator("kvm", "asked for" if asked == "kvm" else "works")
    if asked == "auto":
        return Accelerator("tcg", f"KVM does not work: {failure}")
    message = f"on {host.name}: KVM does not work: {failure}"
    raise SystemFailure("not_supported", message, "write `accel: auto` or `accel: tcg`")
