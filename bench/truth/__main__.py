"""Runs the truth tests and writes table, JSON and, if asked, the block in the documentation."""

from __future__ import annotations

import argparse
import itertools
import json
import os
import platform
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

from bench.truth import criteria, experiments, floor, page, pairs
from bench.truth.experiments import EXPERIMENTS, Cell
from bench.truth.least import Least
from bench.truth.peers import WITHOUT_ADAPTER, Ab, H2load, Hey, Wrk
from bench.truth.soak import soak
from bench.truth.tools import Steelyard, Tool

ROOT = Path(__file__).parents[2]
RUNS = ROOT / "bench" / "runs"


def main() -> None:
    """Measures, or only writes the page again from a stored run."""
    options = arguments()
    path = options.source or unused(RUNS / f"{time.strftime('%Y-%m-%d')}-truth.json")
    if options.source is None:
        document = measured(options)
        RUNS.mkdir(exist_ok=True)
        path.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
        print(f"written to {path.relative_to(ROOT)}")
    document = json.loads(path.read_text(encoding="utf-8"))
    print(page.summary(document))
    if options.write_page:
        page.write(ROOT / "docs" / "concepts" / "honest-latency.md", document, path.name)


def unused(path: Path) -> Path:
    """This name, or with a number behind it: no run overwrites another."""
    numbered = (path.with_stem(f"{path.stem}-{number}") for number in itertools.count(2))
    return next(name for name in itertools.chain([path], numbered) if not name.exists())


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.truth", description=__doc__)
    tests = [test.key for test in criteria.TESTS]
    parser.add_argument("--tests", nargs="+", choices=tests, default=tests, help="only these")
    parser.add_argument("--tools", nargs="+", help="only these")
    parser.add_argument("--engine", help="engine to test instead of the installed one")
    parser.add_argument("--soak", type=float, metavar="MINUTES", help="also the long run")
    parser.add_argument(
        "--soak-peers", action="store_true", help="the long run of every tool, not only steelyard"
    )
    parser.add_argument("--write-page", action="store_true", help="renew the table in docs/")
    parser.add_argument(
        "--from", dest="source", type=Path, metavar="FILE", help="measure nothing, use this run"
    )
    return parser.parse_args()


def measured(options: argparse.Namespace) -> dict[str, Any]:
    """All cells asked for, told as they come."""
    tools: list[Tool] = [Steelyard(options.engine), H2load(), Wrk(), Ab(), Hey(), Least()]
    if options.tools:
        tools = [tool for tool in tools if tool.name in options.tools]
    cells = []
    for test in options.tests:
        for tool in tools:
            cells.append(one(tool, test, options))
            print(page.line(asdict(cells[-1])), flush=True)
    return {
        "benchmark": "truth",
        "made": time.strftime("%Y-%m-%d %H:%M:%S %z"),
        "machine": machine(),
        "tools": {tool.name: tool.version() if tool.installed() else None for tool in tools},
        "not_run": {name: missing(name) for name in WITHOUT_ADAPTER},
        "cells": [asdict(cell) for cell in cells],
    }


def one(tool: Tool, test: str, options: argparse.Namespace) -> Cell:
    """One cell; a tool that breaks off is reported as such and stops nothing else."""
    if test == "cpu":
        return Cell(tool.name, test, "not run", note="see make bench-engine")
    if test == "soak" and not tool.installed():
        return Cell(tool.name, test, "not run", note=f"{tool.name} is not installed")
    if test == "soak" and (
        not options.soak or (tool.name != "steelyard" and not options.soak_peers)
    ):
        return Cell(tool.name, test, "not run", note="not asked for")
    try:
        if test == "soak":
            return soak(tool, options.soak)
        return (pairs if test in floor.FIGURES else experiments).cell(tool, test)
    except (AssertionError, ValueError, OSError) as error:
        return Cell(tool.name, test, "broke off", note=str(error)[:300])


def missing(name: str) -> str:
    """Why there is no column for a peer."""
    return f"{name}: the suite has no adapter for it yet"


def machine() -> dict[str, Any]:
    """What the figures depend on."""
    model = [
        line.split(":", 1)[1].strip()
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").split("\n")
        if line.startswith("model name")
    ]
    return {
        "kernel": platform.release(),
        "cpu": model[0] if model else platform.machine(),
        "cores": os.cpu_count(),
    }


assert set(EXPERIMENTS) | {"cpu", "soak"} == {test.key for test in criteria.TESTS}

if __name__ == "__main__":
    main()
