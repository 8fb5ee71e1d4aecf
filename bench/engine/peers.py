"""Peers of our own, compiled when first needed."""

from __future__ import annotations

from bench import compiled
from bench.engine import outputs
from bench.engine.contest import Shot
from bench.engine.process import Unmeasurable, charged


def built(name: str) -> str:
    """Path of the compiled peer.

    Raises:
        Unmeasurable: it does not compile.
    """
    try:
        return str(compiled.built(name))
    except OSError as error:
        raise Unmeasurable(str(error)) from error


def least_shot(name: str, *words: object) -> Shot:
    """One run of a minimal client; `words` are what its source says of its usage."""
    done = charged([built(name), *map(str, words)])
    counted = outputs.least(done.output)
    return Shot(counted.operations, done.cpu_s, counted.per_s)
