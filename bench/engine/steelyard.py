"""The engine's side: its load and its sink."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from bench.engine.contest import Shot
from bench.engine.process import SERVER_CORE, Unmeasurable, charged, ended, start

from steelyard.engine.locate import find_engine


def load(url: str, seconds: int, *options: str) -> Shot:
    """A closed run; operations of warm-up and window, as the CPU was charged for both."""
    return shot_of(*run_load(url, "-d", f"{seconds}s", *options))


def run_load(url: str, *options: str) -> tuple[dict[str, Any], float]:
    """The result of a load, and the CPU seconds of the process.

    Raises:
        Unmeasurable: an operation failed.
    """
    done = charged([engine(), "load", url, "-t", "1", "--json", *options])
    result: dict[str, Any] = json.loads(done.output)
    if result["counts"]["errors"] or result["counts"]["warmup_errors"]:
        raise Unmeasurable(f"the engine's operations failed: {result['errors']}")
    return result, done.cpu_s


def shot_of(result: dict[str, Any], cpu_s: float) -> Shot:
    """What all of it came to."""
    counts, rates = result["counts"], result["rates"]
    return Shot(counts["ok"] + counts["warmup"], cpu_s, rates["ok_per_s"])


@contextmanager
def sink(protocol: str, *options: str) -> Iterator[str]:
    """The engine's own server; its address."""
    with counting_sink(protocol, *options) as (address, _):
        yield address


@contextmanager
def counting_sink(protocol: str, *options: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """The engine's own server; its address, and its counters once the block is left."""
    process = start([engine(), "sink", protocol, "--listen", "127.0.0.1:0", *options], SERVER_CORE)
    counters: dict[str, Any] = {}
    assert process.stdout is not None
    try:
        first = process.stdout.readline()
        if not first:
            raise Unmeasurable(f"the sink of {protocol} did not start")
        yield json.loads(first)["listening"], counters
    finally:
        ended(process)
        counters.update(json.loads(process.stdout.read() or "{}"))
        process.stdout.close()


def engine() -> str:
    return str(find_engine())
