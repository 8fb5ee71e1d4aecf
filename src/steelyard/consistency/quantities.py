"""What a name and a unit say: dimension, size, statistic, and the words tables use for them."""

from __future__ import annotations

import re
from dataclasses import dataclass

Dimension = tuple[int, int]
"""Powers of time and of data; counts have none."""
TIME: Dimension = (1, 0)
RATE: Dimension = (-1, 0)
DATA: Dimension = (0, 1)
DATA_RATE: Dimension = (-1, 1)
COUNT: Dimension = (0, 0)
_TIMES = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "sec": 1.0, "seconds": 1.0,
          "min": 60.0, "h": 3600.0}  # fmt: skip
_DATA = re.compile(r"(k|K|M|G|T)?(i)?(B|bytes?|Bytes?|bit|bits|b)")
_POWERS = {"": 0, "k": 1, "K": 1, "M": 2, "G": 3, "T": 4}
ENERGY = {"J", "kJ", "W", "mW", "kW", "Wh", "kWh"}
_COUNTS = {"", "1", "count", "requests", "req", "mails", "messages", "msg", "operations", "ops",
           "op", "io", "ios", "transactions", "packets", "files", "events", "trials"}  # fmt: skip
LOADS = {"users", "clients", "concurrency", "threads", "connections", "in_flight", "workers",
         "queue_depth", "iodepth", "instances"}  # fmt: skip


@dataclass(frozen=True)
class Unit:
    """``scale``: in base units; ``others``: as other tools count it (kB of 1024 B)."""

    dimension: Dimension
    scale: float
    others: tuple[float, ...] = ()


def unit_of(text: str) -> Unit | None:
    """The unit, where it has a dimension of time, data and counts."""
    name, slash, per = text.strip().partition("/")
    if name.lower() in {"iops", "tps", "rps"} and not slash:
        return Unit(RATE, 1.0)
    if slash and per not in ("s", "sec", "second"):
        return None
    if name in _TIMES and not slash:
        return Unit(TIME, _TIMES[name])
    by = -1 if slash else 0
    if name in _COUNTS:
        return Unit((by, 0), 1.0)
    found = _DATA.fullmatch(name)
    if found is None:
        return None
    each = 1 / 8 if found[3] in ("bit", "bits", "b") else 1.0
    power = _POWERS[found[1] or ""]
    sizes = [1024.0**power] if found[2] else [1000.0**power, 1024.0**power]
    return Unit((by, 1), sizes[0] * each, tuple(size * each for size in sizes[1:] if power))


def is_exact(unit: str, text: str) -> bool:
    """A count is not rounded."""
    return unit.strip().lower() in {"count", "b", "bytes"} and text.lstrip("+-").isdigit()


_STATISTICS = {
    "min": 0.0, "minimum": 0.0, "median": 50.0, "max": 100.0, "maximum": 100.0,
}  # fmt: skip
MEANS = {"mean", "avg", "average"}
DEVIATIONS = {"sd", "std", "stddev", "stdev"}
_QUANTILE = re.compile(r"p([0-9]{1,2}(?:[._][0-9]+)?|100)|([0-9]{1,2}(?:\.[0-9]+)?)(?:th|%)")


def statistic(text: str) -> str | float | None:
    """``mean``, ``sd``, or the percent of a quantile; ``None`` for any other word."""
    word = text.strip().lower()
    if word in _STATISTICS:
        return _STATISTICS[word]
    if word in MEANS:
        return "mean"
    if word in DEVIATIONS:
        return "sd"
    found = _QUANTILE.fullmatch(word)
    if found is None:
        return None
    return float((found[1] or found[2]).replace("_", "."))


def without_statistic(metric: str) -> tuple[str, str | float | None]:
    """``request_latency_p95`` is ``request_latency`` and 95; ``p99_latency`` too; ``p99`` is 99."""
    parts = re.split(r"[_ ]", metric)
    for at in (len(parts) - 1, 0):
        found = statistic(parts[at])
        if found is not None:
            return "_".join(parts[:at] + parts[at + 1 :]), found
    return metric, None


def words(text: str) -> set[str]:
    return set(re.findall(r"[a-z0-9]+", text.lower()))
