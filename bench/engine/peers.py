"""Peers of our own, compiled when first needed."""

from __future__ import annotations

import functools
import subprocess
from pathlib import Path

from bench.engine import outputs
from bench.engine.contest import Shot
from bench.engine.process import Unmeasurable, charged, scratch

SOURCES = Path(__file__).parent.parent / "peers"
C_FLAGS = ["-O2"]


@functools.cache
def built(name: str) -> str:
    """Path of the compiled peer.

    Raises:
        Unmeasurable: it does not compile.
    """
    program = Path(scratch().name) / name
    command = ["gcc", *C_FLAGS, str(SOURCES / f"{name}.c"), "-o", str(program)]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode:
        raise Unmeasurable(f"{name}.c does not compile: {done.stderr[-200:]}")
    return str(program)


def least_shot(name: str, *words: object) -> Shot:
    """One run of a least client; `words` are what its source says of its usage."""
    done = charged([built(name), *map(str, words)])
    counted = outputs.least(done.output)
    return Shot(counted.operations, done.cpu_s, counted.per_s)
