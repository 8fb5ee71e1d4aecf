"""The engine against its peers, interleaved, on the same server and the same cores.

Clients are pinned to core 0, servers to core 1. Pairs in random order. CPU is what the kernel
charged to the client process, divided by all operations that it completed. bench/README.md says
how to read the table.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

from bench.engine import files, footprint, machine, mail, mailbox, page, runs, streams, table, web
from bench.engine.contest import Contest, Probe, shoot_pairs
from bench.engine.needs import EVERYWHERE, first_lack
from bench.engine.process import Unmeasurable
from bench.engine.rows import Row, rows_of_pairs, rows_of_probe, rows_without

from steelyard.errors import EngineError


def main() -> int:
    """Runs what was asked for, prints the table, and writes figures to bench/runs/."""
    options = arguments()
    chosen = [one for one in everything() if wanted(one.name, options.only)]
    if not chosen:
        sys.exit(f"no contest is called {', '.join(options.only)}; --list shows them")
    if options.list:
        print("\n".join(f"{one.name:24} {one.setup}" for one in chosen))
        return 0
    begun = machine.facts()
    rows, raw = run_all(chosen, options.pairs, options.seconds)
    print(table.text(rows))
    asked = {"pairs": options.pairs, "seconds": options.seconds, "note": options.note}
    word = "engine-part" if options.only else page.ENGINE.word
    path = runs.store(word, {**begun, **asked}, rows, raw, options.out)
    print(f"written to {path}", file=sys.stderr)
    page.follow(page.ENGINE, path)
    return 1 if any(row.failed for row in rows) else 0


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.engine", description=__doc__)
    parser.add_argument("--only", action="append", default=[], help="name or its beginning")
    parser.add_argument("--pairs", type=int, default=10, help="of runs in each contest")
    parser.add_argument("--seconds", type=int, default=3, help="length of each run")
    parser.add_argument("--list", action="store_true", help="say what there is, run nothing")
    parser.add_argument("--note", help="what a reader of the figures must know about this run")
    parser.add_argument("--out", type=Path, default=page.RUNS, help="folder for the figures")
    return parser.parse_args()


def everything() -> list[Contest | Probe]:
    """Every contest and probe, in the order of the table."""
    return [
        *web.contests(),
        *mail.contests(),
        *mailbox.contests(),
        *files.contests(),
        *streams.contests(),
        *footprint.probes(),
    ]


def wanted(name: str, only: list[str]) -> bool:
    return not only or any(name.startswith(word) for word in only)


def run_all(
    chosen: list[Contest | Probe], pairs: int, seconds: int
) -> tuple[list[Row], dict[str, Any]]:
    """Rows of the table, and what they were made of."""
    rows: list[Row] = []
    raw: dict[str, Any] = {}
    for one in chosen:
        print(f"{one.name}: {one.setup}", file=sys.stderr, flush=True)
        lack = first_lack((*EVERYWHERE, *one.needs))
        if lack is not None:
            rows += rows_without(one, lack, failed=False)
            continue
        try:
            found, figures = run_one(one, pairs, seconds)
        except (Unmeasurable, EngineError, OSError) as error:
            rows += rows_without(one, str(error), failed=True)
            continue
        rows += found
        raw[one.name] = {"setup": one.setup, "runs": figures}
    return rows, raw


def run_one(one: Contest | Probe, pairs: int, seconds: int) -> tuple[list[Row], list[Any]]:
    if isinstance(one, Probe):
        readings = [one.measure(seconds) for _ in range(pairs)]
        return rows_of_probe(one, readings), readings
    seen = shoot_pairs(one, pairs, seconds)
    return rows_of_pairs(one, seen), [asdict(pair) for pair in seen]


if __name__ == "__main__":
    sys.exit(main())
