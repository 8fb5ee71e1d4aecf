"""What the suite asks of a load generator, and steelyard's own answer to it."""

from __future__ import annotations

import csv
import json
import re
import shutil
import subprocess
import sysconfig
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Protocol

from bench.truth.judge import Report


@dataclass(frozen=True)
class Load:
    """One load: closed with `connections` users, or at a rate over so many connections."""

    address: str
    seconds: int
    connections: int
    folder: Path
    rate: int | None = None
    poisson: bool = False
    threads: int = 1
    log: bool = False

    @property
    def url(self) -> str:
        return f"http://{self.address}/"

    @property
    def log_file(self) -> Path:
        return self.folder / "log"


class Tool(Protocol):
    """A load generator. `can` holds closed, rate, poisson and log; `cannot` says why not."""

    name: str
    can: frozenset[str]
    cannot: ClassVar[dict[str, str]]

    def installed(self) -> bool: ...
    def version(self) -> str: ...
    def command(self, load: Load) -> list[str]: ...
    def report(self, output: str, load: Load) -> Report: ...
    def samples_ns(self, load: Load) -> list[float]: ...


class Steelyard:
    """This project's engine, by its JSON document."""

    name = "steelyard"
    can = frozenset(("closed", "rate", "poisson", "log"))
    cannot: ClassVar[dict[str, str]] = {}

    def __init__(self, engine: str | None = None) -> None:
        self.engine = engine or f"{sysconfig.get_path('scripts')}/steelyard-engine"

    def installed(self) -> bool:
        return shutil.which(self.engine) is not None

    def version(self) -> str:
        return first_line([self.engine, "--version"])

    def command(self, load: Load) -> list[str]:
        words = [self.engine, "load", load.url, "--json", "-d", f"{load.seconds}s"]
        words += ["-c", str(load.connections), "-t", str(load.threads)]
        words += ["-R", str(load.rate)] if load.rate else []
        words += ["--arrival", "poisson"] if load.poisson else []
        return words + (["--log-all", str(load.log_file)] if load.log else [])

    def report(self, output: str, load: Load) -> Report:  # noqa: ARG002
        result = json.loads(output)
        response, late = result["latency_ns"]["response"], result["latency_ns"]["lateness"]
        return Report(
            count=result["counts"]["ok"],
            per_s=result["rates"]["ok_per_s"],
            mean_ns=response["mean"],
            p50_ns=response["p50"],
            p90_ns=response["p90"],
            p95_ns=response["p95"],
            p99_ns=response["p99"],
            max_ns=response["max"],
            lateness_p99_ns=late["p99"],
            lateness_max_ns=late["max"],
            step_share=0.001,
            doubts=tuple(each["kind"] for each in result["verdict"]["warnings"]),
            source="--json, response",
        )

    def samples_ns(self, load: Load) -> list[float]:
        """Response times: from due, or without a schedule from sent."""
        begin = "intended_ns" if load.rate else "sent_ns"
        with load.log_file.open(encoding="ascii") as lines:
            return [
                float(row["done_ns"]) - float(row[begin])
                for row in csv.DictReader(lines)
                if row["part"] == "window" and row["outcome"] == "ok"
            ]


UNITS_NS = {"ns": 1.0, "us": 1e3, "µs": 1e3, "ms": 1e6, "s": 1e9, "m": 60e9, "h": 3600e9}


def time_ns(text: str) -> float:
    """A time as tools print it, 5.08ms or 47us."""
    found = re.fullmatch(r"([\d.]+)\s*(ns|us|µs|ms|s|m|h)", text.strip())
    if found is None:
        raise ValueError(f"{text!r} is no time")
    return float(found[1]) * UNITS_NS[found[2]]


def step_of(text: str) -> float:
    """The value of the last digit of a printed time."""
    found = re.fullmatch(r"\d+\.?(\d*)\s*(ns|us|µs|ms|s|m|h)", text.strip())
    if found is None:
        raise ValueError(f"{text!r} is no time")
    return float(UNITS_NS[found[2]] / 10 ** len(found[1]))


def first_line(command: list[str]) -> str:
    """First line of what a tool says of itself."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return (done.stdout or done.stderr).strip().split("\n")[0]
