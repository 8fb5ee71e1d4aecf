"""What a fact is about, from what of the study file it follows, and which say what was tested."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence

from steelyard.judge.validity.findings import FactSubject
from steelyard.records.schema import TrialRecord

_SUBJECTS: tuple[tuple[FactSubject, str], ...] = (
    ("identity", r"(^|\.)(hostname|machine_id|boot_id|uuid|serial|mac|container|address)\b"),
    ("accelerator", r"\.accelerator$"),
    ("memory", r"(^|\.)(memory|hugepages?|thp|swap)(_|\b)"),
    ("processors", r"^(cpu|numa)\.|\.(cpus|cpu_quota_us|cpu_period_us|cpu_model)$"),
    ("kernel", r"^(kernel|clocksource|sysctl\.kernel|sysctl\.vm|module)\b"),
    ("disk", r"^(disks?|fs|filesystem|store)\b"),
    ("network", r"^(net|network|sysctl\.net)\b"),
    ("versions", r"(version|digest|sha256|image\.id)$|^os\."),
)
"""The first whose pattern is found in a fact is its subject."""

_LEADS = (
    r"\.accelerator$",
    r"^memory\.total_bytes$|^cgroup\.memory_bytes$",
    r"^cpu\.(count|model)$|^cgroup\.cpu_quota_us$",
    r"^kernel\.release$|^clocksource$",
    r"\.(filesystem|model|scheduler|rotational)$",
    r"\.(driver|mtu|speed_mbit)$|tcp_congestion_control$",
    r"^service\.(.+\.)?version$",
)
"""What is named first; lists of flags and choices say little in a sentence."""

_FOLLOWS: tuple[tuple[str, tuple[str, ...]], ...] = (
    (r"^(memory\.total_bytes|cgroup\.memory_bytes)$", ("system.memory", "system.confine")),
    (
        r"^(cpu\.(count|online)|cgroup\.(cpus|cpu_quota_us|cpu_period_us))$",
        ("system.cpus", "system.vcpus", "system.cpuset", "system.confine"),
    ),
    (r"^platform\.confined\.", ("system.confine",)),
    (r"^(virtualization|platform)\.(?!.*accelerator)", ("system.platform",)),
    (r"^platform\..*image", ("system.image",)),
    (
        r"^(setting\.tuned\.(sha256|changed)|sysctl\..+|disk\..+\.(read_ahead_kib|scheduler)|cpu\.governor|thp)$",
        ("settings.tuned",),
    ),
    (r"^disks\..+\.(array\..+|mounted_with)$", ("disks.",)),
    (r"^service\.sha256$", ("service.",)),
    (r"^service\.", ("service.use",)),
)
"""Facts, and how what they follow from begins where systems differ in that."""
_UNSEEN_FOLLOWS = (
    (r"^sysctl\.net\.", ("system.network",)),
    (r"^disk\.", ("disks.",)),
)
"""The same of facts that one of the systems cannot read: a network of its own hides some, and
an array has devices that a single disk has not.
"""
_MADE_BY = re.compile(r"\.mkfs(\.version)?$")
"""The command that makes a filesystem, and its version, differ where the filesystem does."""
_ACCELERATORS = frozenset({"kvm", "tcg"})
_TESTED = re.compile(r"(service|tool)\.(.+\.)?(version|sha256)|platform\.image\.(digest|id|sha256)")
"""Versions and digests of the programs and images of a system."""


def subject_of(fact: str) -> FactSubject:
    """Of facts of other machines, ``host: kernel.release``, that of the fact."""
    name = fact.rpartition(": ")[2]
    return next((each for each, of in _SUBJECTS if re.search(of, name)), "other")


def leads(fact: str) -> bool:
    """Whether a fact says the most of its subject, so that it is named before all that do not."""
    name = fact.rpartition(": ")[2]
    return any(re.search(of, name) for of in _LEADS)


def is_declared(
    fact: str, declared: Mapping[str, Mapping[str, str | None]], *, seen_by_all: bool = True
) -> bool:
    """Whether the study file says so: this, one of the same last name, or what it follows from.

    ``declared`` is what differs there, by system. An accelerator follows only from one that is
    written: what ``auto`` chooses is not known from the study.
    """
    name = _MADE_BY.sub(".filesystem", fact.rpartition(": ")[2])
    last = name.rpartition(".")[2]
    if fact in declared or any(last == each.rpartition(".")[2] for each in declared):
        return True
    if subject_of(fact) == "accelerator" or name.endswith("accelerator_reason"):
        return bool(_ACCELERATORS & set(declared.get("system.accel", {}).values()))
    return any(
        re.search(of, name) and any(each.startswith(sources) for each in declared)
        for of, sources in (_FOLLOWS if seen_by_all else _FOLLOWS + _UNSEEN_FOLLOWS)
    )


def tested_programs(records: Sequence[TrialRecord]) -> dict[str, dict[str, tuple[str, ...]]]:
    """By system, of each program and image every version and digest that was seen.

    Of several workloads, one fact has several.
    """
    seen: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for record in records:
        for name, value in record.facts.get("system", {}).items():
            if value is not None and _TESTED.fullmatch(name):
                seen[record.cell.system][name].add(value)
    return {
        system: {fact: tuple(sorted(values)) for fact, values in sorted(facts.items())}
        for system, facts in sorted(seen.items())
    }
