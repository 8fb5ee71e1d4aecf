"""``steelyard load``, ``sink`` and ``kernel``: the engine binary by another name."""

from __future__ import annotations

import os
from typing import NoReturn

import typer

from steelyard.engine.locate import check_version, find_engine


def load(context: typer.Context) -> None:
    """Drive load at a server: `steelyard load http://HOST:PORT/ -c 64 -d 5s [-R RATE] [--json]`."""
    become("load", context.args)


def sink(context: typer.Context) -> None:
    """Serve as a target: `steelyard sink http --listen 127.0.0.1:8080`, also `sink smtp`."""
    become("sink", context.args)


def kernel(context: typer.Context) -> None:
    """Measure the machine alone: `steelyard kernel linpack`, `kernel ram`, `kernel reference`."""
    become("kernel", context.args)


def become(mode: str, arguments: list[str]) -> NoReturn:
    """Turns this process into the engine, in ``mode``.

    Raises:
        EngineError: it is missing or of another version.
    """
    engine = find_engine()
    check_version(engine)
    os.execv(engine, [str(engine), mode, *arguments])  # noqa: S606 - our own binary, no shell
