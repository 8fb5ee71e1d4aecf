"""CPUs that a system is declared to run on: by affinity, which whatever it starts inherits."""

from __future__ import annotations

from steelyard.hosts.failures import SystemFailure
from steelyard.hosts.host import Host
from steelyard.hosts.tool import attempt, failed, tell
from steelyard.systems.platform import Threads

_PIN = ("taskset", "--cpu-list")


def within(cpuset: str | None, argv: list[str]) -> list[str]:
    """Words that run ``argv`` on these CPUs alone, from its first instant on."""
    return argv if cpuset is None else [*_PIN, cpuset, *argv]


def cpu_numbers(cpuset: str) -> frozenset[int]:
    """Of ``0-1,4``: 0, 1 and 4."""
    ranges = (part.partition("-") for part in cpuset.split(","))
    return frozenset(
        number for first, _, last in ranges for number in range(int(first), int(last or first) + 1)
    )


def check_cpus(host: Host, cpuset: str) -> None:
    """The kernel silently leaves out CPUs that it does not have: so the result is read back.

    Where it has none of them at all, it refuses.

    Raises:
        SystemFailure: ``not_supported`` when the machine has not all of them.
    """
    argv = within(cpuset, ["grep", "Cpus_allowed_list", "/proc/self/status"])
    ran = attempt(host, argv)
    given = ran.stdout.split()[-1] if ran.succeeded else _online(host)
    there, wanted = cpu_numbers(given), cpu_numbers(cpuset)
    if not ran.succeeded and not wanted - there:
        raise failed(host, argv, ran)
    if there != wanted:
        message = f"on {host.name}: of the CPUs {cpuset} there are only {given} to run on"
        if not wanted & there:
            message = f"on {host.name}: there are no CPUs {cpuset}, only {given}"
        raise SystemFailure("not_supported", message, "name CPUs that `lscpu --extended` shows")


def _online(host: Host) -> str:
    return host.read_file("/sys/devices/system/cpu/online").strip()


def pin_each(host: Host, threads: Threads, cpuset: str) -> None:
    """Each thread on a CPU of its own, in the order of both lists.

    Raises:
        SystemFailure: ``not_supported`` when there are not as many CPUs as threads.
    """
    cpus = [int(number) for number in cpuset.split(",")]
    if len(cpus) != len(threads.ids):
        message = f"`vcpu_cpus: {cpuset}` are {len(cpus)} CPUs for {len(threads.ids)} processors"
        raise SystemFailure("not_supported", message, "name one CPU for each of `cpus`")
    for cpu, thread in zip(cpus, threads.ids, strict=True):
        tell(host, [*_PIN, "--pid", str(cpu), str(thread)])
