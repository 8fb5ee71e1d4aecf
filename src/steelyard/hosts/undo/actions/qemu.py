"""Virtual machines that were started."""

from __future__ import annotations

from dataclasses import dataclass

from steelyard.engine.agent import AgentRefusal
from steelyard.hosts.host import Host
from steelyard.hosts.undo.actions.command import run_tool


@dataclass(frozen=True)
class EndMachine:
    """A virtual machine is ended: the QEMU that bears this name and whose files lie there."""

    label: str
    folder: str
    kind: str = "end_machine"

    def __str__(self) -> str:
        return f"end the virtual machine {self.label}"

    def apply(self, host: Host) -> None:
        for pid in machines(host, self.label, self.folder):
            ticks = _start_ticks(host, pid)
            if ticks is not None:
                host.kill_stale(pid, ticks)


def name_argv(label: str) -> str:
    """How a machine's name stands on its command line."""
    return f"guest={label},debug-threads=on"


def machines(host: Host, label: str, folder: str | None = None) -> list[int]:
    """Process ids of the machines of this name; only of those whose files lie in ``folder``.

    What holds or enters on behalf of QEMU has its words on the command line, too, and is none.
    """
    marks = [f" -name {name_argv(label)} "]
    if folder is not None:
        marks.append(f" -pidfile {folder}/qemu.pid ")
    listed = run_tool(host, ["ps", "-eww", "-o", "pid=,args="])
    return [
        int(line.split()[0])
        for line in listed.splitlines()
        if _is_qemu(line.split()[1:2]) and all(mark in line + " " for mark in marks)
    ]


def _is_qemu(program: list[str]) -> bool:
    return any(word.rpartition("/")[2].startswith("qemu-") for word in program)


def _start_ticks(host: Host, pid: int) -> int | None:
    """Field 22 of ``/proc/PID/stat`` (proc(5)); ``None`` when it has ended."""
    try:
        told = host.read_file(f"/proc/{pid}/stat")
    except AgentRefusal:
        return None
    return int(told.rpartition(")")[2].split()[19])
