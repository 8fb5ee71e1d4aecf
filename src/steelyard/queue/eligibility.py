"""Which nodes can take a run, and why others cannot: before anything is queued. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from steelyard.errors import HostError
from steelyard.queue.answers import Node
from steelyard.records.submission import Placement
from steelyard.study.machines import machine_name
from steelyard.units import format_duration

MOST_SKEW_S = 60.0
_PLAIN = re.compile(r"[\w.,&-]+")
"""Features that must all be there; what is more than that Slurm alone can read."""
_LIST = "`sinfo -N -o '%N %P %T %f %G %E'` lists all nodes"


def refuse_other_clock(own_unix_s: float, queue_unix_s: float | None) -> None:
    """Times in the records of several machines have to be of one clock.

    Raises:
        HostError: the clocks differ by more than a minute.
    """
    if queue_unix_s is None or abs(own_unix_s - queue_unix_s) <= MOST_SKEW_S:
        return
    ahead = "ahead of" if own_unix_s > queue_unix_s else "behind"
    by = format_duration(abs(own_unix_s - queue_unix_s))
    raise HostError(
        f"the clock of this machine is {by} {ahead} that of the queue",
        hint="set it (chrony, systemd-timesyncd), then submit again; nothing was started",
        slug="clocks-differ",
    )


def nodes_of_machines(addresses: Sequence[str], nodes: Sequence[Node]) -> tuple[str, ...]:
    """The node that each machine of a study is, by name, host name or address.

    Raises:
        HostError: one is no node, or could be several.
    """
    return tuple(_node_of(machine_name(each), nodes) for each in addresses)


def _node_of(machine: str, nodes: Sequence[Node]) -> str:
    if any(node.name == machine for node in nodes):
        return machine
    found = {node.name for node in nodes if machine in node.names}
    if len(found) == 1:
        return found.pop()
    raise _cannot(
        f"{machine} of the study is {'several nodes' if found else 'no node'} of the queue",
        "name the machine in the study as the queue does, or take it out of `machines`",
    )


def eligible(placement: Placement, limit_s: int, nodes: Sequence[Node]) -> list[Node]:
    """Nodes that may take the run: those that were named, or all of that kind.

    Raises:
        HostError: there is none, a named one cannot take it, or the partition ends it too early.
    """
    inside = _in_partition(placement, nodes)
    wanted = [_named(name, inside) for name in placement.nodes]
    if not wanted:
        wanted = [node for node in inside if _fits(placement, node)]
        if not wanted:
            raise _cannot("no node of the queue has what was asked for", _LIST)
    refused = [node for node in wanted if not node.usable]
    left = [node for node in wanted if node.usable]
    if refused and (placement.nodes or not left):
        told = "; ".join(f"{n.name} is {n.word}{f' ({n.why})' if n.why else ''}" for n in refused)
        hint = "name another node, or have it put back: scontrol update NodeName=NODE State=RESUME"
        raise _cannot(told, hint)
    _refuse_too_long(limit_s, left)
    return left


def _in_partition(placement: Placement, nodes: Sequence[Node]) -> list[Node]:
    asked = placement.partition
    inside = [n for n in nodes if (n.partition == asked if asked else n.is_default)]
    if not inside:
        told = "no default partition" if asked is None else f"no partition {asked}"
        raise _cannot(f"the queue has {told}", "`sinfo -s` lists the partitions; use --partition")
    return inside


def _named(name: str, inside: Sequence[Node]) -> Node:
    for node in inside:
        if node.name == name:
            return node
    raise _cannot(f"the partition {inside[0].partition} has no node {name}", _LIST)


def _fits(placement: Placement, node: Node) -> bool:
    asked = placement.constraint or ""
    features = set(re.split("[&,]", asked)) if _PLAIN.fullmatch(asked) else set()
    gres = {each.partition(":")[0] for each in (placement.gres or "").split(",") if each}
    return features <= node.features and gres <= node.gres


def _refuse_too_long(limit_s: int, nodes: Sequence[Node]) -> None:
    longest_s = nodes[0].limit_s
    if longest_s is not None and limit_s > longest_s:
        raise _cannot(
            f"the run needs {format_duration(limit_s)} by its forecast with a reserve, and a job "
            f"of the partition {nodes[0].partition} ends after {format_duration(longest_s)}",
            "use another --partition, a smaller --budget, or --time; what a job leaves open, "
            "`steelyard submit --resume RUN` goes on with",
        )


def refuse_other_kinds(nodes: Sequence[Node]) -> None:
    """One run a machine is of machines that are alike, as the queue describes them.

    Raises:
        HostError: they differ.
    """
    kinds: dict[tuple[str, ...], list[str]] = {}
    for node in nodes:
        kinds.setdefault(node.kind, []).append(node.name)
    if len(kinds) > 1:
        words = (
            "architecture", "processors", "sockets", "cores", "threads", "MB", "features", "GRES",
        )  # fmt: skip
        told = "; ".join(
            f"{', '.join(names)}: "
            + ", ".join(
                f"{word} {value or 'none'}" for word, value in zip(words, kind, strict=True)
            )
            for kind, names in kinds.items()
        )
        raise HostError(
            f"the nodes are of {len(kinds)} kinds: {told}",
            hint="choose one kind by --constraint or --nodelist, and submit once for each",
            slug="machines-of-another-kind",
        )


def _cannot(message: str, hint: str) -> HostError:
    return HostError(message, hint=hint, slug="node-cannot-take-run")
