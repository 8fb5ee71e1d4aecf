"""Does memory stay as it is? One long open run, looked at each second."""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from bench.engine import machine, page, runs, table
from bench.engine.contest import Goal, Probe
from bench.engine.footprint import resident_now
from bench.engine.process import CLIENT_CORE, Unmeasurable, start
from bench.engine.rows import rows_of_probe
from bench.engine.steelyard import engine, sink

CONNECTIONS = 64
PER_S = 500
SETTLE_S = 30
"""Left out at the start: histograms and pools fill, which is no growth."""
FLAT_PERCENT = 1.0


def main() -> int:
    """Runs for so many minutes, and keeps what came of it."""
    parser = argparse.ArgumentParser(prog="python -m bench.engine.soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--out", type=Path, default=page.RUNS, help="folder for the figures")
    options = parser.parse_args()
    begun = machine.facts()
    probe = long_run(options.minutes)
    readings = [probe.measure(0)]
    rows = rows_of_probe(probe, readings)
    print(table.text(rows))
    asked = {"pairs": 1, "seconds": int(options.minutes * 60)}
    raw = {probe.name: {"setup": probe.setup, "runs": readings}}
    path = runs.store(probe.name, {**begun, **asked}, rows, raw, options.out)
    page.follow(page.SOAK, path)
    return 0


def long_run(minutes: float) -> Probe:
    """Growth of the client's memory over so many minutes."""
    seconds = int(minutes * 60)
    return Probe(
        "memory-soak",
        f"resident memory of the client over {minutes:g} min, HTTP, {CONNECTIONS} connections, "
        f"{PER_S} requests/s: the last tenth to the first after {SETTLE_S} s",
        (),
        lambda _: soak(seconds),
        (Goal("growth_percent", "% grown", FLAT_PERCENT, at_most=True),),
    )


def soak(seconds: int) -> dict[str, float]:
    """The run, and what became of its memory."""
    with sink("http") as address:
        options = ["-c", str(CONNECTIONS), "-t", "1", "-R", str(PER_S), "-d", f"{seconds}s"]
        process = start([engine(), "load", f"http://{address}/", *options, "--json"], CLIENT_CORE)
        seen = []
        while process.poll() is None and len(seen) < seconds:
            seen.append(float(resident_now(process.pid)))
            time.sleep(1)
        assert process.stdout is not None
        process.stdout.read()
        if process.wait() != 0:
            raise Unmeasurable(f"the engine ended with {process.returncode}")
    return growth(seen)


def growth(resident_bytes: Sequence[float]) -> dict[str, float]:
    """Medians of a tenth after the start and of the last tenth, from one reading a second.

    Raises:
        Unmeasurable: the run was too short to tell start from end.
    """
    settled = resident_bytes[SETTLE_S:]
    tenth = len(settled) // 10
    if tenth < 1:
        raise Unmeasurable(f"{len(resident_bytes)} s are too short for a slope")
    first, last = statistics.median(settled[:tenth]), statistics.median(settled[-tenth:])
    return {
        "growth_percent": 100 * (last - first) / first,
        "first_bytes": first,
        "last_bytes": last,
    }


if __name__ == "__main__":
    sys.exit(main())
