"""The engine's kernels against their peers, interleaved.

linpack against dgesv of OpenBLAS, triad against a triad of our own in C (``bench/peers``), each on
one thread of one core, in pairs in random order. Wall time; the median of the pairs' ratios says
how they compare, the spread how far to trust it.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from bench.engine import machine, page

from steelyard.engine.locate import find_engine

PEERS = Path(__file__).parent / "peers"
RUNS = Path(__file__).parent / "runs"
CORE = 0
C_FLAGS = ["-O3", "-march=native", "-fopenmp-simd"]
STORES = ("streaming", "cached")
LINPACK_GOAL, TRIAD_GOAL = 0.8, 0.95


@dataclass(frozen=True)
class Contest:
    """One figure that both sides give, larger is better, and the least that is good enough."""

    name: str
    peer: str
    unit: str
    goal: float
    ours: Callable[[], float]
    theirs: Callable[[], float]


@dataclass(frozen=True)
class Pair:
    """One shot of each side."""

    ours: float
    theirs: float

    @property
    def ratio(self) -> float:
        return self.ours / self.theirs


def main() -> None:
    """Runs the pairs, prints ratios, and writes them to bench/runs/."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=7)
    parser.add_argument("--size", type=int, action="append", help="unknowns; may be repeated")
    parser.add_argument("--isa", action="append", help="instruction set; may be repeated")
    options = parser.parse_args()
    if shutil.which("gcc") is None:
        sys.exit("gcc is not installed (Debian: apt install gcc libopenblas-dev)")
    with tempfile.TemporaryDirectory() as folder:
        dgesv = built("dgesv", Path(folder), ["-lopenblas"])
        triad = built("triad", Path(folder), [])
        contests = linpack(dgesv, options.size or [1000, 2000, 4000], options.isa or [""])
        contests += memory(triad)
        seen = {contest.name: pairs(contest, options.pairs) for contest in contests}
    rows = [row(contest, seen[contest.name]) for contest in contests]
    print("\n".join(map(line, rows)))
    path = store(rows, seen)
    print(f"written to {path}", file=sys.stderr)
    page.follow(page.KERNELS, path)


def built(name: str, folder: Path, libraries: list[str]) -> Path:
    """The peer, compiled for this very machine."""
    program = folder / name
    source = str(PEERS / f"{name}.c")
    command = ["gcc", *C_FLAGS, source, "-o", str(program), *libraries]
    if subprocess.run(command, check=False).returncode:
        sys.exit(f"{name} could not be built (Debian: apt install gcc libopenblas-dev)")
    return program


def linpack(dgesv: Path, sizes: list[int], isas: list[str]) -> list[Contest]:
    """One contest for each size and instruction set."""

    def contest(size: int, isa: str) -> Contest:
        return Contest(
            f"linpack {size}{' ' + isa if isa else ''}",
            "OpenBLAS dgesv",
            "GFLOP/s",
            LINPACK_GOAL,
            lambda: solve_ours(size, isa),
            lambda: solve_theirs(dgesv, size),
        )

    return [contest(size, isa) for size in sizes for isa in isas]


def solve_ours(size: int, isa: str) -> float:
    """One solution; its residual was checked, or the engine would end with 1."""
    options = ["--size", str(size), "--repeat", "1", *(["--isa", isa] if isa else [])]
    result = json.loads(output([str(find_engine()), "kernel", "linpack", *options, "--json"]))
    figure: float = result["solutions"][0]["gflops_per_s"]["median"]
    return figure


def solve_theirs(dgesv: Path, size: int) -> float:
    """One solution of OpenBLAS on one thread, paid for as many operations."""
    seconds = float(output([str(dgesv), str(size), "1"]))
    return (2 / 3 * size**3 + 2 * size**2) / seconds / 1e9


def memory(triad: Path) -> list[Contest]:
    """Triad past the caches, as the engine chooses, and through them, as the C program does."""

    def contest(stores: str) -> Contest:
        theirs = lambda: triad_theirs(triad)  # noqa: E731 - beside its twin
        return Contest(
            f"triad {stores}",
            "STREAM's loop",
            "GB/s",
            TRIAD_GOAL,
            lambda: triad_ours(stores),
            theirs,
        )

    return [contest(stores) for stores in STORES]


def triad_ours(stores: str) -> float:
    """Median rate of five repeats; the contents were checked."""
    options = ["--element", "float", "--operation", "triad", "--stores", stores, "--json"]
    result = json.loads(output([str(find_engine()), "kernel", "ram", *options]))
    figure: float = result["passes"][0]["bytes_per_s"]["median"]
    return figure / 1e9


def triad_theirs(triad: Path) -> float:
    """Median rate of five repeats over arrays of the size that the engine takes."""
    size = array_bytes()
    seconds = [float(word) for word in output([str(triad), str(size), "5"]).split()]
    return 3 * size / statistics.median(seconds) / 1e9


def array_bytes() -> int:
    """Four times the last cache, and at least 64 MiB."""
    folder = Path("/sys/devices/system/cpu/cpu0/cache")
    sizes = [int(file.read_text().strip().removesuffix("K")) for file in folder.glob("index*/size")]
    return max(4 * 1024 * max(sizes, default=0), 64 << 20)


def output(command: list[str]) -> str:
    """What the command writes, pinned to one core, with one thread for OpenBLAS."""
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    pinned = ["taskset", "-c", str(CORE), *command]
    return subprocess.run(
        pinned, check=True, stdout=subprocess.PIPE, text=True, env=environment
    ).stdout


def pairs(contest: Contest, count: int) -> list[Pair]:
    """So many pairs, the order within each random."""
    return [pair(contest) for _ in range(count)]


def pair(contest: Contest) -> Pair:
    """One shot of each side, in random order."""
    sides = {"ours": contest.ours, "theirs": contest.theirs}
    order = list(sides)
    random.shuffle(order)
    seen = {side: sides[side]() for side in order}
    return Pair(**seen)


def row(contest: Contest, seen: list[Pair]) -> dict[str, Any]:
    """Medians of both sides and of the pairs' ratios, and how far those lie apart."""
    ratios = [pair.ratio for pair in seen]
    median = statistics.median(ratios)
    return {
        "name": contest.name,
        "peer": contest.peer,
        "unit": contest.unit,
        "goal": f">= {contest.goal:g}",
        "ours": statistics.median(pair.ours for pair in seen),
        "theirs": statistics.median(pair.theirs for pair in seen),
        "median": median,
        "low": min(ratios),
        "high": max(ratios),
        "met": median >= contest.goal,
    }


def line(row: dict[str, Any]) -> str:
    """One contest, in columns."""
    return (
        f"{row['name']:18} {row['ours']:7.2f} against {row['theirs']:7.2f} {row['unit']:8} "
        f"({row['peer']})  ratio {row['median']:.3f} ({row['low']:.3f} to {row['high']:.3f}), "
        f"goal {row['goal']}: {'met' if row['met'] else 'MISSED'}"
    )


def store(rows: list[dict[str, Any]], seen: dict[str, list[Pair]]) -> Path:
    """Keeps raw figures and set-up of this run, in the place of an earlier one of the day."""
    RUNS.mkdir(exist_ok=True)
    document = {
        "benchmark": "kernels_against_peers",
        "kernel": platform.release(),
        "machine": platform.machine(),
        "cpu_model": machine.cpu_model(),
        "cores": os.cpu_count(),
        "load_average": os.getloadavg(),
        "c_flags": C_FLAGS,
        "pairs": len(next(iter(seen.values()))),
        "summary": rows,
        "contests": {name: [asdict(pair) for pair in found] for name, found in seen.items()},
    }
    path = RUNS / f"{time.strftime('%Y-%m-%d')}-kernels-against-peers.json"
    path.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    return path


if __name__ == "__main__":
    main()
