"""What would disturb a measurement on a machine: one rule for each fact that matters.

A rule reads one fact. Where the fact is not as it should be, the check says what that does to
figures and what changes it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

from steelyard.cli.doctor.readings import Facts
from steelyard.plan.limit_words import advice_text, load_text
from steelyard.study.checks.server_limits import Limit, limits_of
from steelyard.study.model import Study

Kept = Callable[[str], bool]
Grade = Literal["good", "note", "bad"]


@dataclass(frozen=True)
class Check:
    """One thing looked at; ``advice`` says what it does to a measurement unless it is good.

    ``remedy`` is a command, or what else to do; ``fix`` the setting and its level that ``--fix``
    applies; ``machine`` the one that was looked at.
    """

    name: str
    grade: Grade
    seen: str
    advice: str | None = None
    remedy: str | None = None
    machine: str = "local"
    fix: tuple[str, str] | None = None


@dataclass(frozen=True)
class Rule:
    """``remedies`` says what to do about each value of the fact, where one ``remedy`` fits not all.

    ``untold`` is what is said where the machine does not tell; without it nothing is.

    ``level`` is the value of ``setting`` that is as it should be, where a setting changes it that
    does no harm and is reverted as easily; a fact ``sysctl.NAME`` is that setting itself.
    """

    name: str
    fact: str
    kept: Kept
    reason: str
    remedy: str | None = None
    untold: str | None = None
    show: Callable[[str], str] = str
    remedies: Callable[[str], str | None] = lambda _: None
    level: str | None = None
    setting: str | None = None

    def check(self, facts: Facts) -> Check | None:
        """The verdict on a machine with these facts; ``None`` where there is nothing to say."""
        told = facts.get(self.fact)
        if told is None:
            seen = self.untold
            return None if seen is None else Check(self.name, "note", "not told", seen)
        grade: Grade = "good" if self.kept(told) else "note"
        fix = None
        if grade != "good" and self.level is not None:
            fix = (self.setting or self.fact, self.level)
        remedy = self.remedies(told) or self.remedy
        return Check(self.name, grade, self.show(told), self.reason, remedy, fix=fix)


def rule_checks(facts: Facts) -> Iterator[Check]:
    """One check for each rule that has something to say of a machine."""
    for rule in RULES:
        found = rule.check(facts)
        if found is not None:
            yield found


def _one_of(*values: str) -> Kept:
    return values.__contains__


def _never(_: str) -> bool:
    return False


def _at_least(least: float) -> Kept:
    return lambda told: told in {"unlimited", "max"} or float(told) >= least


def _below(most: float) -> Kept:
    return lambda told: float(told) < most


def _last_at_least(least: int) -> Kept:
    """Of several columns (``4096 131072 6291456``) the last, which is the limit."""
    return lambda told: int(told.split()[-1]) >= least


def _ports(told: str) -> int:
    low, high = (int(each) for each in told.split()[:2])
    return high - low + 1


def _percent(told: str) -> str:
    return f"{float(told):.1%}"


def _in_words(**words: str) -> Callable[[str], str]:
    """What the kernel writes as a number or a word of its own."""
    return lambda told: words.get(told, told)


def _kvm_remedy(told: str) -> str:
    firmware = "switch virtualisation on in the firmware; in a guest, nested guests on its host"
    if told == "absent":
        return f"modprobe kvm_intel or kvm_amd; where that fails, {firmware}"
    return "join the group kvm" if told == "not permitted" else firmware


def _some(told: str) -> str:
    return f"some task waited {float(told):g} % of the last 10 s"


_OTHERS = "other programs take part in every trial"
_END_THEM = "end them, or wait until they have ended"
_MIB = 1024 * 1024

RULES: tuple[Rule, ...] = (
    Rule(
        "processors",
        "cpu.count",
        _at_least(2),
        "load and service share one processor: only compare systems, believe no absolute figure",
        untold="look with nproc",
    ),
    Rule("pressure on processors", "pressure.cpu", _below(10), _OTHERS, _END_THEM, show=_some),
    Rule(
        "pressure on disks",
        "pressure.io",
        _below(10),
        "disks are busy with other work",
        _END_THEM,
        show=_some,
    ),
    Rule(
        "pressure on memory",
        "pressure.memory",
        _below(1),
        "memory is short: pages are reclaimed while a trial runs",
        "end what uses memory, or let systems have less",
        show=_some,
    ),
    Rule(
        "CPU governor",
        "cpu.governor",
        _one_of("performance"),
        "it changes the clock with the load; `performance` makes trials alike",
        "in the study: `settings: {governor: performance}`",
        untold="a guest cannot see it; look on the host",
        level="performance",
        setting="governor",
    ),
    Rule(
        "turbo",
        "cpu.turbo",
        _one_of("off", "0", "false"),
        "the clock depends on how many cores work, and on how warm they are",
        "switch it off in the firmware, or randomise as trials are anyway",
    ),
    Rule(
        "throttling",
        "throttled",
        _one_of("0"),
        "processors were slowed down for their heat since the machine started",
        "improve the cooling, or add `settle` to `trials`",
    ),
    Rule(
        "SMT",
        "cpu.smt",
        _one_of("off", "notsupported", "forceoff", "notimplemented"),
        "two threads share a core: what runs beside a service slows it down",
        "echo off > /sys/devices/system/cpu/smt/control",
        show=_in_words(
            notsupported="the processor has none",
            notimplemented="the processor has none",
            forceoff="off until the next boot",
        ),
    ),
    Rule(
        "NUMA",
        "numa.online",
        _one_of("0"),
        "memory of another node is slower: where a process starts changes its figures",
        "in the study: `cpuset` of one node for systems",
        show=lambda told: "one node" if told == "0" else f"nodes {told}",
    ),
    Rule(
        "NUMA balancing",
        "sysctl.kernel.numa_balancing",
        _one_of("0"),
        "the kernel moves pages between nodes while a trial runs",
        "sysctl kernel.numa_balancing=0",
        show=_in_words(**{"0": "off", "1": "on"}),
        level="0",
    ),
    Rule(
        "ASLR",
        "sysctl.kernel.randomize_va_space",
        _one_of("2"),
        "every start has the same addresses: what they cost by chance looks like the system",
        "sysctl kernel.randomize_va_space=2",
        show=_in_words(**{"0": "off", "1": "on, but not for the heap", "2": "on"}),
        level="2",
    ),
    Rule(
        "swap",
        "swap.used_kib",
        _one_of("0"),
        "pages of services may be on a disk",
        "swapoff -a, where memory is enough",
        show=lambda told: f"{int(told) // 1024:,} MiB used",
    ),
    Rule(
        "transparent huge pages",
        "thp",
        _one_of("madvise", "never"),
        "whether a process gets them depends on how memory was used before it",
        "in the study: `settings: {thp: madvise}`",
        level="madvise",
        setting="thp",
    ),
    Rule(
        "clock source",
        "clocksource",
        _one_of("tsc", "kvm-clock", "arch_sys_counter"),
        "reading this clock is slow, so latencies below some µs are those of the clock",
        untold="look in /sys/devices/system/clocksource",
    ),
    Rule(
        "clock synchronisation",
        "clock.synchronised",
        _one_of("yes"),
        "records of several machines cannot be laid side by side by time",
        "timedatectl set-ntp true",
    ),
    Rule(
        "steal",
        "steal.share",
        _below(0.01),
        "the host gives the processors of this guest to others meanwhile",
        "ask for reserved processors, or measure when the host is quiet",
        show=_percent,
    ),
    Rule(
        "package updaters",
        "updaters",
        _never,
        "one runs now or waits to: it takes processors and disks when it likes",
        "stop it for the time of the study",
    ),
    Rule(
        "timers",
        "timers",
        _never,
        "they start programs while trials run",
        "systemctl stop those that fall into the study",
    ),
    Rule(
        "open files",
        "limit.open_files",
        _at_least(4096),
        "more users than this cannot connect",
        "ulimit -n 65536",
        untold="look with ulimit -n",
    ),
    Rule(
        "ports for connections",
        "sysctl.net.ipv4.ip_local_port_range",
        lambda told: _ports(told) >= 20_000,
        "loads that connect for each operation run out of ports within a minute",
        "sysctl net.ipv4.ip_local_port_range='1024 65535'",
        level="1024 65535",
        show=lambda told: f"{_ports(told):,}",
    ),
    Rule(
        "queue of new connections",
        "sysctl.net.core.somaxconn",
        _at_least(1024),
        "connections beyond it wait a second and more, whatever a service asks for",
        "sysctl net.core.somaxconn=4096",
        level="4096",
    ),
    Rule(
        "queue of half-open connections",
        "sysctl.net.ipv4.tcp_max_syn_backlog",
        _at_least(1024),
        "connections beyond it wait a second and more",
        "sysctl net.ipv4.tcp_max_syn_backlog=4096",
        level="4096",
    ),
    Rule(
        "receive buffer of TCP",
        "sysctl.net.ipv4.tcp_rmem",
        _last_at_least(4 * _MIB),
        "streams over long distances are cut to it",
        "sysctl net.ipv4.tcp_rmem='4096 131072 6291456'",
        level="4096 131072 6291456",
    ),
    Rule(
        "send buffer of TCP",
        "sysctl.net.ipv4.tcp_wmem",
        _last_at_least(4 * _MIB),
        "streams over long distances are cut to it",
        "sysctl net.ipv4.tcp_wmem='4096 16384 4194304'",
        level="4096 16384 4194304",
    ),
    Rule(
        "accelerator",
        "kvm",
        _one_of("usable", "permitted"),
        "guests are emulated, several times slower, or do not start with `accel: kvm`",
        remedies=_kvm_remedy,
    ),
    Rule(
        "nested guests",
        "kvm.nested",
        _one_of("1", "Y"),
        "guests inside guests have no accelerator",
        "modprobe kvm_intel nested=1, or kvm_amd",
    ),
)
"""In the order in which they are printed."""


def limit_checks(study: Study) -> Iterator[Check]:
    """Every limit of every server, held against the largest load of the study."""
    found = limits_of(study)
    if not found:
        yield Check("servers' limits", "good", "no server of the study has one set")
    for limit in found:
        yield _limit_check(limit)


def _limit_check(limit: Limit) -> Check:
    name = f"{limit.service} of {limit.system}"
    if limit.asked is None:
        return Check(name, "good", f"`{limit.setting}` is {limit.limit:,}; {limit.refused}")
    seen = f"`{limit.setting}` is {limit.limit:,}, the load has {load_text(limit)}"
    return Check(name, "note" if limit.too_small else "good", seen, advice_text(limit))
