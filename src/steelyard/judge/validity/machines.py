"""On what it was measured: a few facts of every machine, alike systems together."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from steelyard.judge.validity.findings import MachineFinding
from steelyard.records.schema import TrialRecord

_SHOWN = re.compile(
    r"cpu\.(model|count)|memory\.total_bytes|cgroup\.(cpu_quota_us|cpu_period_us|memory_bytes)"
    r"|disk\.(?!(?:loop|nbd|zram|ram)\d)[^.]+\.(model|size_sectors|rotational)"
    r"|kernel\.release|os\.name|virtualization\.(hypervisor|container|product|guest_flag)"
    r"|system\.(platform|reset)|(platform\.)?(.+\.)?accelerator"
    r"|(.+\.)?(version|image\.digest|image\.id)"
)
"""What a reader asks of a machine; programs by their version."""
_HIDDEN = re.compile(r"kernel\.version")
_MOST_VALUES = 3


def machine_findings(
    records: Sequence[TrialRecord], systems: Sequence[str]
) -> list[MachineFinding]:
    """One for each machine and system that were seen, those of equal facts as one."""
    seen: dict[tuple[str, str], dict[str, set[str]]] = {}
    for record in records:
        for machine, facts in record.facts.items():
            own = seen.setdefault((machine, record.cell.system), {})
            for fact, value in facts.items():
                if value is not None and _is_shown(fact):
                    own.setdefault(fact, set()).add(value)
    found: dict[tuple[str, tuple[tuple[str, str], ...]], list[str]] = {}
    for machine, system in sorted(seen, key=lambda key: (key[0] != "system", key[0])):
        told = _told(seen[machine, system])
        found.setdefault((machine, tuple(told.items())), []).append(system)
    order = {name: place for place, name in enumerate(systems)}
    return [
        MachineFinding(
            machine=machine,
            systems=tuple(sorted(names, key=lambda name: order.get(name, len(order)))),
            facts=dict(facts),
        )
        for (machine, facts), names in found.items()
        if facts
    ]


def _is_shown(fact: str) -> bool:
    return _SHOWN.fullmatch(fact) is not None and _HIDDEN.fullmatch(fact) is None


def _told(facts: Mapping[str, set[str]]) -> dict[str, str]:
    """Of each fact its value; of one that changed, the first of them."""
    return {fact: ", ".join(sorted(facts[fact])[:_MOST_VALUES]) for fact in sorted(facts)}
