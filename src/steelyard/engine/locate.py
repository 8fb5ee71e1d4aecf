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
_OF_OTHERS = Path(steelyard.__file__).parent / "engines"
_SAME_ENGINE = {"armv8l": "armv7l"}
_INSTALL = (
    "run `make setup` in a checkout, or install the wheel that is for this machine: "
    "the one for any machine holds no engine"
)


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


def kind_of(machine: str) -> str:
    """Whose engine a machine runs whose ``uname -m`` says so.

    A 64-bit ARM core with a 32-bit system says ``armv8l``, and runs what is built for ``armv7l``.
    """
    return _SAME_ENGINE.get(machine, machine)


def variable_of(kind: str) -> str:
    """The environment variable that names the engine for such machines."""
    return f"STEELYARD_ENGINE_{kind.upper()}"


def engine_for(kind: str) -> Path | None:
    """The engine for machines of another kind: the one that is named, or that of the wheel."""
    named = os.environ.get(variable_of(kind))
    engine = Path(named) if named is not None else _OF_OTHERS / f"{NAME}-{kind}"
    return engine if engine.is_file() else None


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
