"""The peers, each driven in the way that serves it best, and read as finely as it prints."""

from __future__ import annotations

import csv
import re
import shutil
from pathlib import Path
from typing import ClassVar

import numpy as np
from bench.truth.judge import Report
from bench.truth.tools import UNITS_NS, Load, first_line, step_of, time_ns

NO_RATE = "has no rate: a closed loop only"
NO_POISSON = "has no Poisson arrivals"
NO_LOG = "keeps no log of all requests"


class Wrk:
    """wrk --latency."""

    name = "wrk"
    can = frozenset(("closed",))
    cannot: ClassVar[dict[str, str]] = {"rate": NO_RATE, "poisson": NO_RATE, "log": NO_LOG}

    def installed(self) -> bool:
        return shutil.which("wrk") is not None

    def version(self) -> str:
        return first_line(["wrk", "-v"]).split(" Copyright")[0]

    def command(self, load: Load) -> list[str]:
        words = ["wrk", "-t", str(load.threads), "-c", str(load.connections)]
        return [*words, "-d", f"{load.seconds}s", "--latency", load.url]

    def report(self, output: str, load: Load) -> Report:  # noqa: ARG002
        mean, longest = (found(r"Latency +(\S+) +\S+ +(\S+)", output, i) for i in (1, 2))
        tail = {q: found(rf" {q}% +(\S+)", output) for q in (50, 90, 99)}
        return Report(
            count=int(found(r"(\d+) requests in", output)),
            per_s=float(found(r"Requests/sec: +([\d.]+)", output)),
            mean_ns=time_ns(mean),
            p50_ns=time_ns(tail[50]),
            p90_ns=time_ns(tail[90]),
            p99_ns=time_ns(tail[99]),
            max_ns=time_ns(longest),
            step_ns=max(step_of(tail[50]), step_of(mean)),
            source="--latency",
        )

    def samples_ns(self, load: Load) -> list[float]:
        raise NotImplementedError(NO_LOG)


class Ab:
    """ab -k; percentiles by -e, which has microseconds. Its log (-g) has whole milliseconds."""

    name = "ab"
    can = frozenset(("closed", "log"))
    cannot: ClassVar[dict[str, str]] = {"rate": NO_RATE, "poisson": NO_RATE}

    def installed(self) -> bool:
        return shutil.which("ab") is not None

    def version(self) -> str:
        return first_line(["ab", "-V"]).replace("This is ", "").split(" <")[0]

    def command(self, load: Load) -> list[str]:
        words = ["ab", "-k", "-q", "-c", str(load.connections), "-t", str(load.seconds)]
        words += ["-n", "2000000", "-e", str(self._percentiles(load))]
        return [*words, *(["-g", str(load.log_file)] if load.log else []), load.url]

    def report(self, output: str, load: Load) -> Report:
        rows = list(csv.reader(self._percentiles(load).read_text("ascii").splitlines()))[1:]
        tail = {int(row[0]): float(row[1]) * 1e6 for row in rows}
        longest = float(found(r"100% +(\d+)", output)) * 1e6
        coarse = load.log
        told = {q: float(found(rf"  {q}% +(\d+)", output)) * 1e6 for q in (50, 90, 95, 99)}
        return Report(
            count=int(found(r"Complete requests: +(\d+)", output)),
            per_s=float(found(r"Requests per second: +([\d.]+)", output)),
            mean_ns=None if coarse else float(np.mean(list(tail.values()))),
            p50_ns=told[50] if coarse else tail[50],
            p90_ns=told[90] if coarse else tail[90],
            p95_ns=told[95] if coarse else tail[95],
            p99_ns=told[99] if coarse else tail[99],
            max_ns=longest,
            step_ns=1e6 if coarse else 1e3,
            source="whole ms" if coarse else "-e; mean over its 100 percentiles",
        )

    def samples_ns(self, load: Load) -> list[float]:
        with load.log_file.open(encoding="ascii") as lines:
            return [float(row["ttime"]) * 1e6 for row in csv.DictReader(lines, delimiter="\t")]

    @staticmethod
    def _percentiles(load: Load) -> Path:
        return load.folder / "percentiles"


class H2load:
    """h2load --h1. It prints no percentiles: they are taken from its --log-file.

    With a rate each connection may have 64 requests under way, so that a server that stands still
    does not stop it from asking.
    """

    name = "h2load"
    can = frozenset(("closed", "rate", "log"))
    cannot: ClassVar[dict[str, str]] = {"poisson": NO_POISSON}

    def installed(self) -> bool:
        return shutil.which("h2load") is not None

    def version(self) -> str:
        return first_line(["h2load", "--version"])

    def command(self, load: Load) -> list[str]:
        words = ["h2load", "--h1", "-t", str(load.threads), "-D", str(load.seconds)]
        words += ["-c", str(load.connections), "--log-file", str(load.log_file)]
        if load.rate:
            words += ["--rps", f"{load.rate / load.connections:g}", "-m", "64"]
        return [*words, load.url]

    def report(self, output: str, load: Load) -> Report:
        times = r"time for request: +(\S+) +(\S+) +(\S+)"
        longest, mean = found(times, output, 2), found(times, output, 3)
        samples = [] if load.log else self.samples_ns(load)
        tail = [float(np.quantile(samples, q)) if samples else None for q in (0.5, 0.9, 0.95, 0.99)]
        return Report(
            count=int(found(r"(\d+) succeeded", output)),
            per_s=float(found(r"finished in \S+, ([\d.]+) req/s", output)),
            mean_ns=time_ns(mean),
            p50_ns=tail[0],
            p90_ns=tail[1],
            p95_ns=tail[2],
            p99_ns=tail[3],
            max_ns=time_ns(longest),
            step_ns=max(step_of(mean), step_of(longest)) if load.log else 1e3,
            source="its summary; it prints no percentiles" if load.log else "its log file",
        )

    def samples_ns(self, load: Load) -> list[float]:
        with load.log_file.open(encoding="ascii") as lines:
            rows = (line.split("\t") for line in lines)
            return [float(row[2]) * 1e3 for row in rows if row[1] != "-1"]


class Hey:
    """hey -z; with a rate each worker has its share of it (-q)."""

    name = "hey"
    can = frozenset(("closed", "rate"))
    cannot: ClassVar[dict[str, str]] = {
        "poisson": NO_POISSON,
        "log": "prints a summary or all requests, never both",
    }

    def installed(self) -> bool:
        return self._binary() is not None

    def version(self) -> str:
        return "hey (it tells no version)"

    def command(self, load: Load) -> list[str]:
        words = [self._binary() or "hey", "-z", f"{load.seconds}s", "-c", str(load.connections)]
        words += ["-q", f"{load.rate / load.connections:g}"] if load.rate else []
        return [*words, load.url]

    def report(self, output: str, load: Load) -> Report:  # noqa: ARG002
        tail = {q: float(found(rf" {q}%%? in ([\d.]+) secs", output)) for q in (50, 90, 95, 99)}
        counts = re.findall(r"\[2\d\d\]\s+(\d+) responses", output)
        return Report(
            count=sum(int(count) for count in counts),
            per_s=float(found(r"Requests/sec:\s+([\d.]+)", output)),
            mean_ns=float(found(r"Average:\s+([\d.]+)", output)) * 1e9,
            p50_ns=tail[50] * 1e9,
            p90_ns=tail[90] * 1e9,
            p95_ns=tail[95] * 1e9,
            p99_ns=tail[99] * 1e9,
            max_ns=float(found(r"Slowest:\s+([\d.]+)", output)) * 1e9,
            step_ns=UNITS_NS["us"] * 100,
            source="its summary",
        )

    def samples_ns(self, load: Load) -> list[float]:
        raise NotImplementedError(self.cannot["log"])

    @staticmethod
    def _binary() -> str | None:
        """On the PATH, or where `go install` puts it."""
        return shutil.which("hey") or shutil.which(Path.home() / "go" / "bin" / "hey")


WITHOUT_ADAPTER = ("oha", "vegeta")
"""Peers worth testing that this suite does not know how to drive yet."""


def found(pattern: str, output: str, group: int = 1) -> str:
    """What a tool printed in this place; an error that shows its output if it did not."""
    match = re.search(pattern, output)
    if match is None:
        raise ValueError(f"no {pattern!r} in\n{output}")
    return match[group]
