"""The programs in C that the benches bring along (bench/peers/), compiled when first needed."""

from __future__ import annotations

import functools
import subprocess
import tempfile
from pathlib import Path

SOURCES = Path(__file__).parent / "peers"
FLAGS = ("-O2",)
LIBRARIES = ("-lm",)


@functools.cache
def scratch() -> tempfile.TemporaryDirectory[str]:
    """Where they lie; gone when the process ends."""
    return tempfile.TemporaryDirectory(prefix="bench-peers-")


@functools.cache
def built(name: str) -> Path:
    """Path of the program made from bench/peers/NAME.c.

    Raises:
        OSError: there is no compiler, or it refuses; its words are in the message.
    """
    program = Path(scratch().name) / name
    command = ["cc", *FLAGS, "-o", str(program), str(SOURCES / f"{name}.c"), *LIBRARIES]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode:
        raise OSError(f"{name}.c does not compile: {done.stderr[-200:]}")
    return program
