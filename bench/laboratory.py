"""``python -m bench.laboratory [MACHINES...]``: what a verdict on all machines takes.

Time is simulated: visits are drawn, not waited for. Each size is judged in a new process, and the
growth from size to size is fitted as a power of the number of visits.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import time

import numpy as np
from bench.archive.__main__ import peak_kib

MACHINES = (3, 10, 30, 100)
VISITS = 40
NOISE_LOG, EFFECT_LOG, INTERACTION_LOG = 0.02, 0.01, 0.005


def measure(machines: int, visits: int) -> dict[str, float | str]:
    """Time and peak of this process, imports included."""
    from steelyard.judge import judge_trials  # noqa: PLC0415 - its time is counted

    draw = random.Random(1)  # noqa: S311 - figures of a benchmark
    systems, values, of = [], [], []
    for machine in range(machines):
        effect = {"one": 0.0, "two": EFFECT_LOG + draw.gauss(0, INTERACTION_LOG)}
        for _ in range(visits // 2):
            for system in draw.sample(["one", "two"], 2):
                systems.append(system)
                values.append(100 * float(np.exp(effect[system] + draw.gauss(0, NOISE_LOG))))
                of.append(machine)
    found = judge_trials(systems, values, baseline="one", design="pairs", machine=of)
    return {
        "cpu_s": time.process_time(),
        "peak_mib": peak_kib() / 1024,
        "word": str(found.of("two").word.value),
    }


def main() -> None:
    """A line for each size, then how time and memory grow."""
    words = argparse.ArgumentParser(prog="python -m bench.laboratory")
    words.add_argument("machines", nargs="*", type=int, default=MACHINES)
    words.add_argument("--visits", type=int, default=VISITS, help="on each machine")
    words.add_argument("--one", action="store_true", help="measure the first size, as JSON")
    asked = words.parse_args()
    if asked.one:
        print(json.dumps(measure(asked.machines[0], asked.visits)))
        return
    print(f"load average {os.getloadavg()[0]:.1f}, {os.cpu_count()} processors")
    print("machines   visits    CPU s  peak MiB  on all of these")
    found = []
    for machines in asked.machines:
        command = [sys.executable, "-m", "bench.laboratory", str(machines), "--one"]
        command += ["--visits", str(asked.visits)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        one, count = json.loads(done.stdout), machines * asked.visits
        found.append((count, one["cpu_s"], one["peak_mib"]))
        print(
            f"{machines:8d} {count:8d} {one['cpu_s']:8.1f} {one['peak_mib']:9.0f}  {one['word']}",
            flush=True,
        )
    _print_growth(found)


def _print_growth(found: list[tuple[int, float, float]]) -> None:
    """Of what is above the smallest size, which is mostly imports."""
    if len(found) < 3:
        return
    first, rest = found[0], found[1:]
    more = np.log([(n - first[0], cpu - first[1], mib - first[2]) for n, cpu, mib in rest])
    for name, column in (("processor time", 1), ("memory", 2)):
        power = np.polyfit(more[:, 0], more[:, column], 1)[0]
        print(f"{name} grows as the number of visits to the power of {power:.2f}")


if __name__ == "__main__":
    main()
