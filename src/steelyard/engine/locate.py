"""Finds the engine binary that belongs to this package."""

from __future__ import annotations

import os
import shutil
import subprocess
import sysconfig
from collections.abc import Iterator
from pathlib import Path

import steelyard
from steelyard.errors import EngineError

NAME = "steelyard-engine"
_INSTALL = "run `make setup` in a checkout, or install the steelyard wheel again"


def find_engine() -> Path:
    """Path of the engine: ``$STEELYARD_ENGINE``, beside this Python's scripts, or on ``PATH``.

    Raises:
        EngineError: none is there, or the named one cannot be run.
    """
    for candidate in _candidates():
        if candidate.is_file() and os.access(candidate, os.X_OK):
            return candidate
    named = os.environ.get("STEELYARD_ENGINE")
    where = f"$STEELYARD_ENGINE names {named}, which" if named else f"{NAME}"
    raise EngineError(
        f"{where} is not there or cannot be run",
        hint=_INSTALL,
        slug="engine-is-missing",
    )


def check_version(engine: Path) -> str:
    """The engine's version.

    Raises:
        EngineError: it cannot be run, or is not the version of this package.
    """
    try:
        told = subprocess.run(
            [engine, "--version"], capture_output=True, text=True, check=True, timeout=10
        ).stdout.split()
    except (OSError, subprocess.SubprocessError) as error:
        raise EngineError(
            f"{engine} does not answer to --version: {error}",
            hint=_INSTALL,
            slug="engine-is-missing",
        ) from error
    version = told[-1] if told else "nothing"
    if version != steelyard.__version__:
        raise EngineError(
            f"{engine} is version {version}, this package is {steelyard.__version__}",
            hint=_INSTALL,
            slug="engine-of-another-version",
        )
    return version


def _candidates() -> Iterator[Path]:
    named = os.environ.get("STEELYARD_ENGINE")
    if named is not None:
        yield Path(named)
        return
    yield Path(sysconfig.get_path("scripts")) / NAME
    found = shutil.which(NAME)
    if found is not None:
        yield Path(found)
