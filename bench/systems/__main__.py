"""``make bench-systems``: resets of containers and emulated guests, and starts on a barrier."""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bench.engine.machine import cpu_model, said
from bench.systems.barriers import BARRIERS, Barrier, spreads_s
from bench.systems.timings import FIGURES, Figure, measure

from steelyard.hosts.failures import SystemFailure

ROWS: tuple[Figure | Barrier, ...] = (*FIGURES, *BARRIERS)
RUNS = Path(__file__).parents[1] / "runs"
TOOLS = {
    "qemu": (["qemu-system-x86_64", "--version"], r"version \S+"),
    "podman": (["podman", "--version"], r"version \S+"),
    "runc": (["runc", "--version"], r"version \S+"),
}


def main() -> int:
    """Prints a row for each figure and writes them all; 1 when one could not be measured."""
    asked = _asked()
    document: dict[str, Any] = {"machine": _machine(), "note": asked.note, "figures": {}}
    for figure in ROWS:
        if not asked.only or figure.name in asked.only:
            row = _row(figure, asked.repetitions)
            document["figures"][figure.name] = row
            print(_words(figure, row), flush=True)
    document["load_average_at_end"] = os.getloadavg()
    path = _free(asked.out, f"{datetime.now(UTC).date()}-systems")
    path.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    print(path)
    return int(any("failure" in row for row in document["figures"].values()))


def _row(figure: Figure | Barrier, repetitions: int) -> dict[str, Any]:
    load_average = os.getloadavg()
    with tempfile.TemporaryDirectory(prefix="steelyard-bench-") as folder:
        try:
            if isinstance(figure, Barrier):
                seconds = spreads_s(figure, repetitions, Path(folder))
            else:
                seconds = measure(figure, repetitions, Path(folder))
        except SystemFailure as failure:
            return {"goal_s": figure.goal_s, "failure": f"{failure.kind}: {failure.message}"}
    median_s = statistics.median(seconds)
    return {
        "goal_s": figure.goal_s,
        "instances": figure.instances,
        "median_s": round(median_s, 6),
        "least_s": round(min(seconds), 6),
        "greatest_s": round(max(seconds), 6),
        "met": median_s <= figure.goal_s,
        "load_average": load_average,
        "seconds": [round(value, 6) for value in seconds],
    }


def _words(figure: Figure | Barrier, row: dict[str, Any]) -> str:
    if "failure" in row:
        return f"{figure.name:16} not measured: {row['failure']}"
    met = "met" if row["met"] else "not met"
    unit, scale = ("ms", 1e3) if figure.goal_s < 0.1 else ("s", 1.0)
    median, least, greatest, goal = (
        value * scale
        for value in (row["median_s"], row["least_s"], row["greatest_s"], figure.goal_s)
    )
    spread = f"{least:.2f} to {greatest:.2f}"
    return f"{figure.name:16} {median:6.2f} {unit} ({spread})  goal {goal:g} {unit}: {met}"


def _machine() -> dict[str, Any]:
    return {
        "kernel": platform.release(),
        "cpu_model": cpu_model(),
        "cores": os.cpu_count(),
        "load_average_at_start": os.getloadavg(),
        "versions": {name: said(*words) for name, words in TOOLS.items()},
    }


def _free(folder: Path, name: str) -> Path:
    """A name that no earlier run of the day has."""
    folder.mkdir(parents=True, exist_ok=True)
    tried = [folder / f"{name}.json", *(folder / f"{name}-{n}.json" for n in range(2, 100))]
    return next(path for path in tried if not path.exists())


def _asked() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="bench.systems")
    parser.add_argument("--only", action="append", choices=[figure.name for figure in ROWS])
    parser.add_argument("--repetitions", type=int, default=10)
    parser.add_argument("--note", default="", help="what the figures' reader must know")
    parser.add_argument("--out", type=Path, default=RUNS)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
