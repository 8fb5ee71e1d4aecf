"""Tables as measurements without a mistake give them: drawn, computed in full, then rounded."""

from __future__ import annotations

import csv
import io
import random
import statistics
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

Row = dict[str, str]


@dataclass
class Draft:
    """Rows of a table in the making; every value is rounded to ``digits`` places."""

    columns: list[str]
    rows: list[Row] = field(default_factory=list)

    def add(self, value: float, digits: int, **levels: str) -> None:
        self.rows.append({**levels, "value": f"{value:.{digits}f}"})

    def text(self) -> str:
        out = io.StringIO()
        writer = csv.DictWriter(out, [*self.columns, "value"], lineterminator="\n")
        writer.writeheader()
        writer.writerows(self.rows)
        return out.getvalue()

    def where(self, **levels: str) -> list[Row]:
        return [r for r in self.rows if all(r[name] == level for name, level in levels.items())]


def before_and_after(rng: random.Random) -> Draft:
    """Seconds without and with a change, the difference in seconds and percent, and means."""
    table = Draft(["profile", "filesystem", "kind", "metric", "unit", "replications"])
    digits, systems = rng.choice([0, 1, 2, 3]), ["one", "two", "three"][: rng.choice([2, 3])]
    names = ["ext2", "ext3", "ext4", "xfs", "jfs", "btrfs"]
    for profile in systems:
        cells = [_change(rng) for _ in names]
        means = {key: statistics.fmean(cell[key] for cell in cells) for key in cells[0]}
        for name, cell, kind in [*((n, c, "cell") for n, c in zip(names, cells, strict=True)),
                                 ("mean of filesystems", means, "printed_mean")]:  # fmt: skip
            levels = {"profile": profile, "filesystem": name, "kind": kind, "replications": "5"}
            for key, value in cell.items():
                unit = "percent" if key.endswith("percent") else "s"
                places = 2 if unit == "percent" else digits + 2 * (kind != "cell")
                table.add(value, places, metric=key, unit=unit, **levels)
    return table


def _change(rng: random.Random) -> dict[str, float]:
    before = rng.uniform(90, 250)
    after = before * rng.uniform(0.6, 1.2)
    saved = before - after
    return {"time_without": before, "time_with": after, "time_saved": saved,
            "time_saved_percent": 100 * saved / before}  # fmt: skip


def load_sweep(rng: random.Random) -> Draft:
    """Throughput, duration, response time and failures of systems at ten numbers of users."""
    table = Draft(["platform", "users", "metric", "unit", "direction", "replications"])
    each, most = rng.choice([100, 200, 1000]), 10 ** rng.uniform(1.5, 4)
    for platform in ("native", "guest", "container"):
        rate, half = most * rng.uniform(0.5, 1.0), rng.uniform(2, 10)
        busy = rng.uniform(0.7, 0.98)
        for users in (1, 2, 4, 8, 12, 16, 24, 32, 48, 64):
            throughput = rate * users / (users + half) * rng.uniform(0.97, 1.03)
            levels = {"platform": platform, "users": str(users), "replications": "5"}
            lower = {"direction": "lower", **levels}
            table.add(throughput, 3, metric="throughput", unit="req/s", direction="higher",
                      **levels)  # fmt: skip
            table.add(users * each / throughput, 3, metric="duration", unit="s", **lower)
            latency = 1000 * users / throughput * busy
            table.add(latency, 2, metric="latency", unit="ms", **lower)
            table.add(latency * 2.1, 2, metric="latency_p95", unit="ms", **lower)
            table.add(latency * 3.3, 2, metric="latency_p99", unit="ms", **lower)
            table.add(0, 0, metric="failed_requests", unit="count", **lower)
            table.add(users * each, 0, metric="total_requests", unit="count", **lower)
    return table


def distributions(rng: random.Random) -> Draft:
    """Minimum, mean, deviation and quantiles of phases and of their total, from samples."""
    table = Draft(["server", "concurrency", "phase", "statistic", "unit", "replications"])
    digits = rng.choice([0, 1, 2])
    size = 40 if digits == 0 else 1
    for server in ("nginx", "apache", "caddy"):
        for concurrency in ("10", "50", "100"):
            wide = rng.uniform(0.2, 1.5)
            count = rng.choice([50, 300])
            connect = [size * (rng.lognormvariate(2.5, wide) + 1) for _ in range(count)]
            process = [size * (rng.lognormvariate(4, wide) + 3) for _ in range(count)]
            whole = [a + b for a, b in zip(connect, process, strict=True)]
            levels = {"server": server, "concurrency": concurrency, "unit": "ms",
                      "replications": "3"}  # fmt: skip
            for phase, values in (("connect", connect), ("processing", process),
                                  ("total", whole)):  # fmt: skip
                for name, value in _statistics(sorted(values)).items():
                    table.add(value, digits, phase=phase, statistic=name, **levels)
            table.add(0, 0, **{**levels, "unit": "count"}, phase="all", statistic="failed")
    return table


def _statistics(values: list[float]) -> Mapping[str, float]:
    at = {f"p{share}": values[min(len(values) - 1, len(values) * share // 100)]
          for share in (50, 90, 95, 99)}  # fmt: skip
    return {"min": values[0], "mean": statistics.fmean(values), "sd": statistics.stdev(values),
            **at, "max": values[-1]}  # fmt: skip


def memory(rng: random.Random) -> Draft:
    """Transfer rates of caches and memory by platform, width and access."""
    table = Draft(["platform", "bits", "test", "level", "metric", "unit", "replications"])
    for test in ("read", "write", "copy"):
        speeds = {"L1": rng.uniform(15e3, 40e3), "L2": rng.uniform(5e3, 9e3),
                  "RAM": rng.uniform(2e3, 3.5e3)}  # fmt: skip
        for platform in ("native", "guest"):
            for bits in ("32", "64"):
                for level, speed in speeds.items():
                    table.add(speed * rng.uniform(0.9, 1.1), 2, platform=platform, bits=bits,
                              test=test, level=level, metric="transfer_rate", unit="MB/s",
                              replications="10")  # fmt: skip
    return table


def even(rng: random.Random) -> Draft:
    """Rates at a line's limit: all within half a percent."""
    table = Draft(["platform", "bits", "access", "metric", "unit", "replications"])
    line = rng.uniform(50, 900)
    for platform in ("native", "guest"):
        for bits in ("32", "64"):
            for access in ("read", "write", "random read", "random write"):
                table.add(line * rng.uniform(0.9985, 1.0015), 3, platform=platform, bits=bits,
                          access=access, metric="transfer_rate", unit="MB/s",
                          replications="4")  # fmt: skip
    return table


def tools(rng: random.Random) -> Draft:
    """Operations, data, rate and time of a disk tool on several boards."""
    table = Draft(["board", "disk", "metric", "unit", "replications"])
    for size, board in ((1, "one"), (3, "two"), (9, "three")):
        for disk in ("sata", "usb"):
            levels = {"board": board, "disk": disk, "replications": "3"}
            reads = size * rng.randrange(2000, 4000)
            writes, syncs = int(reads / rng.uniform(1.3, 1.7)), rng.randrange(1000, 9000)
            seconds = rng.uniform(200, 320)
            for name, value in (("operations_read", reads), ("operations_write", writes),
                                ("operations_other", syncs),
                                ("operations_total", reads + writes + syncs),
                                ("events", reads + writes)):  # fmt: skip
                table.add(value, 0, metric=name, unit="count", **levels)
            for name, value in (("data_read", reads / 64), ("data_written", writes / 64),
                                ("data_total", (reads + writes) / 64)):  # fmt: skip
                table.add(value, 3, metric=name, unit="MiB", **levels)
            table.add(seconds, 4, metric="total_time", unit="s", **levels)
            table.add((reads + writes) / 64 / seconds, 4, metric="throughput", unit="MiB/s",
                      **levels)  # fmt: skip
            events = (reads + writes) / seconds
            table.add(events, 2, metric="requests_per_second", unit="1/s", **levels)
            table.add(1000 / events * rng.uniform(0.93, 0.97), 3, metric="request_latency_avg",
                      unit="ms", **levels)  # fmt: skip
    return table


SHAPES: dict[str, Callable[[random.Random], Draft]] = {
    "before and after": before_and_after,
    "load sweep": load_sweep,
    "distributions": distributions,
    "memory": memory,
    "even": even,
    "tools": tools,
}
