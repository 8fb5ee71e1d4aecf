"""CPU per request of the HTTP loop against wrk, on the same sink, interleaved.

Both clients: one thread, 64 keep-alive connections, the same duration, pinned to core 0; the sink
is pinned to core 1. Pairs in random order. CPU is what the kernel charged to the client process.
The engine's warm-up is part of its CPU, and its requests are counted into the division, so that
both are charged for everything they do.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import re
import shutil
import statistics
import subprocess
import sys
import sysconfig
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

ENGINE = Path(sysconfig.get_path("scripts")) / "steelyard-engine"
RUNS = Path(__file__).parent / "runs"
CONNECTIONS = 64


@dataclass(frozen=True)
class Shot:
    """One run of one client."""

    client: str
    requests: int
    cpu_s: float
    wall_s: float

    @property
    def cpu_us_per_request(self) -> float:
        return self.cpu_s * 1e6 / self.requests

    @property
    def requests_per_s(self) -> float:
        return self.requests / self.wall_s


def main() -> None:
    """Runs the pairs, prints ratios, and writes them to bench/runs/."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=7)
    parser.add_argument("--seconds", type=int, default=5)
    options = parser.parse_args()
    if shutil.which("wrk") is None:
        sys.exit("wrk is not installed (Debian: apt install wrk)")
    with sink() as address:
        pairs = [pair(address, options.seconds) for _ in range(options.pairs)]
    summary = summarise(pairs)
    for line in summary["lines"]:
        print(line)
    store(summary, pairs)


@contextmanager
def sink() -> Iterator[str]:
    """The engine's own HTTP server on core 1; its address."""
    command = [str(ENGINE), "sink", "http", "--listen", "127.0.0.1:0"]
    process = subprocess.Popen(
        pinned(command, 1), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    assert process.stdout is not None
    try:
        yield json.loads(process.stdout.readline())["listening"]
    finally:
        process.terminate()
        process.wait()


def pinned(command: list[str], core: int) -> list[str]:
    """The command on one core, where there are two."""
    return ["taskset", "-c", str(core % (os.cpu_count() or 1)), *command]


def pair(address: str, seconds: int) -> dict[str, Shot]:
    """One shot of each client, in random order."""
    clients: list[Callable[[str, int], Shot]] = [shoot_wrk, shoot_steelyard]
    random.shuffle(clients)
    shots = [client(address, seconds) for client in clients]
    return {shot.client: shot for shot in shots}


def shoot_wrk(address: str, seconds: int) -> Shot:
    """One run of wrk; requests as it counts them."""
    command = ["wrk", "-t", "1", "-c", str(CONNECTIONS), "-d", f"{seconds}s", f"http://{address}/"]
    output, cpu_s, wall_s = charged(pinned(command, 0))
    found = re.search(r"(\d+) requests in", output)
    assert found is not None, output
    return Shot("wrk", int(found[1]), cpu_s, wall_s)


def shoot_steelyard(address: str, seconds: int) -> Shot:
    """One run of the engine; requests of warm-up and window."""
    command = [str(ENGINE), "load", f"http://{address}/", "-c", str(CONNECTIONS), "-t", "1"]
    output, cpu_s, wall_s = charged(pinned([*command, "-d", f"{seconds}s", "--json"], 0))
    counts = json.loads(output)["counts"]
    return Shot("steelyard", counts["ok"] + counts["warm_up"], cpu_s, wall_s)


def charged(command: list[str]) -> tuple[str, float, float]:
    """Output, CPU seconds charged to the process, wall seconds."""
    start = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    process.stdout.close()
    assert process.returncode == 0, output
    return output, usage.ru_utime + usage.ru_stime, time.monotonic() - start


def summarise(pairs: list[dict[str, Shot]]) -> dict[str, list[str]]:
    """Medians, and the spread of the ratio from pair to pair."""
    lines = [f"{len(pairs)} pairs, {CONNECTIONS} connections, 1 thread"]
    figures = (("CPU us/request", "cpu_us_per_request"), ("requests/s", "requests_per_s"))
    for name, figure in figures:
        ours = [getattr(shots["steelyard"], figure) for shots in pairs]
        theirs = [getattr(shots["wrk"], figure) for shots in pairs]
        ratios = sorted(a / b for a, b in zip(ours, theirs, strict=True))
        mine, other, ratio = map(statistics.median, (ours, theirs, ratios))
        spread = f"{ratios[0]:.3f} to {ratios[-1]:.3f}"
        lines.append(
            f"{name:15} steelyard {mine:12.2f}   wrk {other:12.2f}   ratio {ratio:.3f}  ({spread})"
        )
    return {"lines": lines}


def store(summary: dict[str, list[str]], pairs: list[dict[str, Shot]]) -> None:
    """Keeps raw figures and set-up of this run."""
    RUNS.mkdir(exist_ok=True)
    document = {
        "benchmark": "http_against_wrk",
        "kernel": platform.release(),
        "machine": platform.machine(),
        "cores": os.cpu_count(),
        "summary": summary["lines"],
        "pairs": [{name: asdict(shot) for name, shot in shots.items()} for shots in pairs],
    }
    path = RUNS / f"{time.strftime('%Y-%m-%d')}-http-against-wrk.json"
    path.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    print(f"written to {path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path}")


if __name__ == "__main__":
    main()
