"""Faults at every step of a short run, and kills at random: prints every figure.

SIGTERM ends it with the cases that are running; what was tried is kept.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

from bench.torture import page
from bench.torture.bench import Bench
from bench.torture.case import ANY_PROCESS
from bench.torture.controller import Controllers
from bench.torture.faults import FAULTS, POWER_CUT
from bench.torture.messages import KILL_AGENT
from bench.torture.platforms import PLATFORMS, Platform
from bench.truth.__main__ import machine, unused

ROOT = Path(__file__).parents[2]
RUNS = ROOT / "bench" / "runs"
PAGE = ROOT / "docs" / "methods" / "reliability.md"
EVERY_FAULT = [*FAULTS, POWER_CUT, ANY_PROCESS, KILL_AGENT]


def main() -> int:
    """0 when all held, else 1."""
    options = arguments()
    path = options.source
    earlier = None if options.add_to is None else _read(options.add_to)
    document = tortured(options, _tried(earlier)) if path is None else _read(path)
    if earlier is not None:
        document = page.together(earlier, document)
    if path is None or options.add_to is not None:
        path = unused(RUNS / f"{time.strftime('%Y-%m-%d')}-torture.json")
        path.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    print(page.table(document))
    if options.write_page:
        PAGE.write_text(page.whole(document, path.name), encoding="utf-8")
    return 1 if any(case["wrong"] for case in document["cases"]) else 0


def arguments() -> argparse.Namespace:
    names = [each.name for each in PLATFORMS]
    parser = argparse.ArgumentParser(prog="python -m bench.torture", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0, help="end after so long")
    parser.add_argument("--only", nargs="+", choices=names, default=names, help="only these")
    parser.add_argument("--faults", nargs="+", choices=EVERY_FAULT, help="only these")
    parser.add_argument("--jobs", type=int, default=2, help="cases at a time")
    parser.add_argument("--seed", type=int, default=1, help="of the order of steps and the kills")
    parser.add_argument("--keep", type=Path, help="keep the folders of cases that failed here")
    parser.add_argument("--write-page", action="store_true", help=f"renew {PAGE.name} in docs/")
    parser.add_argument("--from", dest="source", type=Path, help="run nothing, use this file")
    parser.add_argument("--add-to", type=Path, help="its cases count, and no step is tried again")
    return parser.parse_args()


def _read(path: Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return document


Tried = set[tuple[str, str, float]]


def _tried(earlier: dict[str, Any] | None) -> Tried:
    """Platform, fault and step of each case."""
    cases = [] if earlier is None else earlier["cases"]
    return {(case["platform"], case["fault"], case["at"]) for case in cases}


def tortured(options: argparse.Namespace, tried: Tried) -> dict[str, Any]:
    """All cases there is time for that were not tried, told as they come."""
    chance = random.Random(options.seed)
    skipped = {
        p.name: p.needs() or "not asked for"
        for p in PLATFORMS
        if p.name not in options.only or p.needs()
    }
    controllers = Controllers()
    with (
        tempfile.TemporaryDirectory(prefix="steelyard-torture-") as folder,
        ThreadPoolExecutor(options.jobs) as pool,
    ):
        platforms = [p for p in PLATFORMS if p.name not in skipped]
        bench = Bench(controllers, Path(folder), options.keep)
        signal.signal(signal.SIGTERM, lambda *_: bench.ends.set())
        list(pool.map(bench.prepare, platforms))
        began_s = time.monotonic()
        planned = _in_turn(platforms, options.faults or EVERY_FAULT, bench, chance)
        work = [each for each in planned if (each[0].name, *each[1:]) not in tried]
        end_s = began_s + options.minutes * 60
        cases = [c for c in pool.map(partial(bench.one, end_s), enumerate(work)) if c is not None]
    return {
        "bench": "torture",
        "began": time.strftime("%Y-%m-%d"),
        "took_s": round(time.monotonic() - began_s),
        "seed": options.seed,
        "machine": machine(),
        "load_average": os.getloadavg()[0],
        "steps": bench.steps,
        "messages": bench.messages,
        "skipped": skipped,
        "cases": [case.document() for case in cases],
    }


Work = tuple[Platform, str, float]


def _in_turn(
    platforms: list[Platform], faults: list[str], bench: Bench, chance: random.Random
) -> list[Work]:
    """Every step with every fault on every platform, each pair in turn, its steps in random order;
    with each step a kill at a random time. Of the agents, a kill at every message.
    """
    most = max([*bench.steps.values(), *bench.messages.values()], default=0)
    lists = [
        (platform, fault, _times(platform, fault, bench, chance))
        for platform in platforms
        for fault in faults
        if (fault == POWER_CUT) is platform.loses_power
    ]
    return [
        (platform, fault, times[number])
        for number in range(most)
        for platform, fault, times in lists
        if number < len(times)
    ]


def _times(platform: Platform, fault: str, bench: Bench, chance: random.Random) -> list[float]:
    steps = (bench.messages if fault == KILL_AGENT else bench.steps)[platform.name]
    if fault == ANY_PROCESS:
        return [round(chance.uniform(0.0, platform.takes_s), 3) for _ in range(steps)]
    return list(chance.sample(range(1, steps + 1), steps))


if __name__ == "__main__":
    sys.exit(main())
