"""Whether a machine has the memory that a guest is given."""

from __future__ import annotations

from steelyard.hosts.failures import SystemFailure
from steelyard.hosts.host import Host
from steelyard.units import format_bytes


def refuse_too_much(host: Host, memory_bytes: int) -> None:
    """By default a kernel gives no program more than all memory and swap.

    Raises:
        SystemFailure: ``not_supported``.
    """
    rows = (line.partition(":") for line in host.read_file("/proc/meminfo").splitlines())
    kib = {name: rest.split()[0] for name, _, rest in rows if name in ("MemTotal", "SwapTotal")}
    there_bytes = 1024 * sum(map(int, kib.values()))
    if there_bytes < memory_bytes:
        raise SystemFailure(
            "not_supported",
            f"on {host.name}: {format_bytes(memory_bytes)} of memory are asked for a guest, and "
            f"the machine has {format_bytes(there_bytes)} with its swap",
            "write less `memory`, or run the guest on another machine",
        )
