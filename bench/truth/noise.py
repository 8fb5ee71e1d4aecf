"""Was the machine quiet? What its hypervisor and other processes took while a test ran."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from bench.truth import criteria

TICK_S = 1 / os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Ticks:
    """CPU seconds of the whole machine so far."""

    busy_s: float
    steal_s: float
    all_s: float


@dataclass(frozen=True)
class Noise:
    """Shares of the machine's CPU time; `sink_lost` is the share of time a polling sink lost."""

    steal: float
    others: float
    sink_lost: float | None

    @property
    def reasons(self) -> list[str]:
        """Why the machine is too noisy, in words; none if it is not."""
        rows = (
            ("steal", self.steal, criteria.NOISY_STEAL),
            ("other processes", self.others, criteria.NOISY_OTHERS),
            ("sink lost its core", self.sink_lost or 0.0, criteria.NOISY_SINK_LOST),
        )
        return [f"{name} {share:.1%}" for name, share, limit in rows if share > limit]


def ticks() -> Ticks:
    """The first line of /proc/stat. Interrupts are not counted as busy: ours cause them too."""
    words = Path("/proc/stat").read_text(encoding="ascii").split("\n", 1)[0].split()
    user, nice, system, idle, wait, irq, softirq, steal = (int(w) * TICK_S for w in words[1:9])
    whole = user + nice + system + idle + wait + irq + softirq + steal
    return Ticks(user + nice + system, steal, whole)


def cpu_s(pid: int) -> float:
    """CPU seconds of a process so far."""
    words = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()
    return (int(words[11]) + int(words[12])) * TICK_S


def between(before: Ticks, after: Ticks, own_s: float, sink_lost: float | None) -> Noise:
    """Noise of a span in which our own processes used `own_s`."""
    whole = max(after.all_s - before.all_s, TICK_S)
    others = max(0.0, after.busy_s - before.busy_s - own_s) / whole
    return Noise((after.steal_s - before.steal_s) / whole, others, sink_lost)


def typical(several: Sequence[Noise]) -> Noise:
    """The medians of several runs."""
    lost = [one.sink_lost for one in several if one.sink_lost is not None]
    steal, others = (median(getattr(one, key) for one in several) for key in ("steal", "others"))
    return Noise(steal, others, median(lost) if lost else None)
