"""What shows that a reset of a container was what it claims to be."""

from __future__ import annotations

from steelyard.hosts.failures import SystemFailure
from steelyard.hosts.host import Host
from steelyard.hosts.tool import tell
from steelyard.study.model import Reset
from steelyard.systems.podman.tool import Container


def prove_same(strength: Reset, label: str, before: Container, now: Container) -> dict[str, str]:
    """That the same container is there; after ``process``, started again.

    Raises:
        SystemFailure: ``reset_not_proved``.
    """
    evidence = {"container.id": now.id, "container.started_at": now.started_at}
    restarted = before.started_at != now.started_at
    if before.id != now.id or (strength == "process" and not restarted):
        raise _not_proved(strength, label, evidence)
    return evidence


def prove_new(host_machine: Host, label: str, before: str, now: str, pid: str) -> dict[str, str]:
    """That another container is there, by the ids, and that nothing was written to it.

    The mounts of the container's first process, ``pid``, show where its root is kept.

    Raises:
        SystemFailure: ``reset_not_proved``.
    """
    evidence = {"container.id": now}
    folder = upper_folder(host_machine.read_file(f"/proc/{pid}/mountinfo"))
    if folder is not None:
        evidence["overlay.bytes"] = _bytes_written(host_machine, folder)
    if now == before or evidence.get("overlay.bytes", "0") != "0":
        raise _not_proved("container", label, evidence)
    return evidence


def upper_folder(mountinfo: str) -> str | None:
    """The folder that takes what is written to the root of a process, from its ``mountinfo``.

    ``None`` where the root is no overlay (proc(5), ``/proc/PID/mountinfo``).
    """
    for line in mountinfo.splitlines():
        mount, _, source = line.partition(" - ")
        if mount.split()[4] == "/":
            options = source.split()[-1].split(",")
            found = [o.removeprefix("upperdir=") for o in options if o.startswith("upperdir=")]
            return found[0] if found and found[0].startswith("/") else None
    return None


def _bytes_written(host_machine: Host, folder: str) -> str:
    """Of the files in the container's own layer; those that Podman puts there are empty."""
    argv = ["find", folder, "-type", "f", "-printf", "%s\\n"]
    return str(sum(int(size) for size in tell(host_machine, argv).split()))


def _not_proved(strength: Reset, label: str, evidence: dict[str, str]) -> SystemFailure:
    message = f"after the reset `{strength}` of {label} it is {evidence}"
    return SystemFailure("reset_not_proved", message)
