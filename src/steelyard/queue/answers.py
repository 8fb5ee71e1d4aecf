"""What Slurm prints in its forms for programs, as types; nothing else of its output is read.

Fields are parted by ``|``, which no name, state or reason of Slurm's own holds; text of users
stands last.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Literal

from steelyard.records.submission import COMMENT

QueueState = Literal["pending", "running", "ended", "failed", "cancelled", "unknown"]
NODE_FORM = "%N|%n|%o|%P|%a|%l|%T|%c|%X|%Y|%Z|%m|%f|%G|%E"
JOB_FORM = "%i|%T|%N|%r|%k"
ACCOUNTED_FORM = "JobIDRaw,State,NodeList"
_STATES: dict[str, QueueState] = {
    **dict.fromkeys(
        ("PENDING", "REQUEUED", "REQUEUE_FED", "REQUEUE_HOLD", "SPECIAL_EXIT"),
        "pending",
    ),
    **dict.fromkeys(
        ("RUNNING", "COMPLETING", "CONFIGURING", "RESIZING", "SIGNALING", "STAGE_OUT", "STOPPED",
         "SUSPENDED"),
        "running",
    ),
    "COMPLETED": "ended",
    "CANCELLED": "cancelled",
    **dict.fromkeys(
        ("BOOT_FAIL", "DEADLINE", "FAILED", "NODE_FAIL", "OUT_OF_MEMORY", "PREEMPTED",
         "RESV_DEL_HOLD", "REVOKED", "TIMEOUT"),
        "failed",
    ),
}  # fmt: skip
LIVE: frozenset[QueueState] = frozenset({"pending", "running"})
_USABLE = frozenset({"idle", "mixed", "allocated", "completing", "planned", "reserved"})
_CONFIG = re.compile(r"^Configuration data as of (\S+)$", re.MULTILINE)
_ARCHITECTURE = re.compile(r"^NodeName=(\S+) (?:.* )?Arch=(\S+)", re.MULTILINE)
_TIME = re.compile(r"(?:(\d+)-)?(?:(\d+):)?(\d+):(\d+)")


@dataclass(frozen=True)
class Job:
    """A job as the queue has it. ``word`` is Slurm's state, ``reason`` why it waits or failed."""

    number: int
    state: QueueState
    word: str
    nodes: str
    reason: str | None = None
    comment: str = ""


@dataclass(frozen=True)
class Node:
    """A node in one partition. ``limit_s`` is the longest job there, ``None`` for any.

    ``kind`` is what machines of one kind have in common: architecture, processors as they are laid
    out, memory in MB, features and generic resources.
    """

    name: str
    names: frozenset[str]
    partition: str
    is_default: bool
    limit_s: int | None
    word: str
    usable: bool
    kind: tuple[str, ...]
    features: frozenset[str]
    gres: frozenset[str]
    why: str | None


def architectures_in(output: str) -> dict[str, str]:
    """By node, of ``scontrol show node --oneliner``: of those that have come up once."""
    return dict(_ARCHITECTURE.findall(output))


def nodes_in(output: str, architectures: Mapping[str, str] = MappingProxyType({})) -> list[Node]:
    """Of ``sinfo -h -N -o NODE_FORM``; lines of another form are left out."""
    return [node for line in output.splitlines() for node in _node(line, architectures)]


def _node(line: str, architectures: Mapping[str, str]) -> Iterator[Node]:
    cells = line.split("|", NODE_FORM.count("|"))
    if len(cells) <= NODE_FORM.count("|"):
        return
    name, host, address, partition, there, limit, state = cells[:7]
    features, gres = _listed(cells[12]), _listed(re.sub(r"\([^)]*\)", "", cells[13]))
    word = state.rstrip("*~#!%$@^-+")
    yield Node(
        name=name,
        names=frozenset({name, host, address}),
        partition=partition.rstrip("*"),
        is_default=partition.endswith("*"),
        limit_s=seconds_of(limit),
        word=state,
        usable=there == "up" and word in _USABLE and "*" not in state,
        kind=(
            architectures.get(name, ""),
            *cells[7:12],
            ",".join(sorted(features)),
            ",".join(sorted(gres)),
        ),
        features=features,
        gres=frozenset(each.partition(":")[0] for each in gres),
        why=None if cells[14] in {"", "none"} else cells[14],
    )


def _listed(text: str) -> frozenset[str]:
    return frozenset() if text == "(null)" else frozenset(filter(None, text.split(",")))


def seconds_of(limit: str) -> int | None:
    """A time of Slurm's, as ``1-02:00:00`` or ``30:00``; ``None`` where there is no end."""
    found = _TIME.fullmatch(limit)
    if found is None:
        return None
    days, hours, minutes, seconds = (int(part or 0) for part in found.groups())
    return ((days * 24 + hours) * 60 + minutes) * 60 + seconds


def jobs_in(output: str) -> list[Job]:
    """Of ``squeue -h --states=all -o JOB_FORM``: the jobs of ours."""
    found = []
    for line in output.splitlines():
        cells = line.split("|", JOB_FORM.count("|"))
        if len(cells) > 4 and cells[0].isdecimal() and cells[4].startswith(COMMENT):
            number, word, nodes, reason, comment = cells
            why = None if reason == "None" else reason
            found.append(Job(int(number), _state(word), word, nodes, why, comment))
    return found


def accounted_in(output: str) -> list[Job]:
    """Of ``sacct -n -P -X -o ACCOUNTED_FORM``: also jobs that the controller has forgotten."""
    cells = (line.split("|") for line in output.splitlines())
    return [
        Job(int(each[0]), _state(each[1]), each[1].partition(" ")[0], each[2])
        for each in cells
        if len(each) == 3 and each[0].isdecimal()
    ]


def _state(word: str) -> QueueState:
    """``CANCELLED by 1000`` is how accounting has it."""
    return _STATES.get(word.partition(" ")[0], "unknown")


def clock_in(output: str) -> float | None:
    """The time on the controller's clock, of ``scontrol show config`` in UTC."""
    found = _CONFIG.search(output)
    if found is None:
        return None
    try:
        return datetime.fromisoformat(found[1]).replace(tzinfo=UTC).timestamp()
    except ValueError:
        return None
