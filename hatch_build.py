"""Puts the engine into the wheel, beside the ``steelyard`` script, and documentation and schemas.

Why not maturin: it refuses a package that has both a binary and Python scripts
(``docs/decisions/002-hatchling-builds-the-wheel.md``).
"""

from __future__ import annotations

import os
import runpy
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

_OLDEST_GLIBC = {"riscv64": "manylinux_2_31"}
_OLDEST_GLIBC_ELSEWHERE = "manylinux_2_17"
"""A static engine asks for none; installers want one named. The standard of wheels has none that
is older for riscv64."""
_ENGINE = "steelyard-engine"


class EngineBuildHook(BuildHookInterface):  # type: ignore[type-arg]
    """One static binary, linked into the wheel's scripts folder.

    ``STEELYARD_WHEEL_ENGINE=none`` makes the wheel of the reading side, without it, for any
    machine; a path names an engine that was built before. ``STEELYARD_WHEEL_ENGINES`` is a folder
    of engines for several machines, ``steelyard-engine-aarch64`` and the like: one becomes the
    script, the others lie in the package, to be sent where they belong.
    ``STEELYARD_WHEEL_MACHINE`` is the machine that the wheel is for, by default this one.
    """

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        root = Path(self.root)
        if version != "editable":  # the checkout has them
            for folder in ("concepts", "guide", "methods", "reference"):
                build_data["force_include"][str(root / "docs" / folder)] = (
                    f"steelyard/docs/{folder}"
                )
            build_data["force_include"][str(root / "schemas")] = "steelyard/schemas"
        asked = os.environ.get("STEELYARD_WHEEL_ENGINE", "")
        if asked == "none":
            return
        machine = os.environ.get("STEELYARD_WHEEL_MACHINE", os.uname().machine)
        folder = os.environ.get("STEELYARD_WHEEL_ENGINES")
        if folder is not None and not asked:
            asked = str(Path(folder) / f"{_ENGINE}-{machine}")
            for other in sorted(Path(folder).glob(f"{_ENGINE}-*")):
                if other.name != Path(asked).name:
                    build_data["force_include"][str(other)] = f"steelyard/engines/{other.name}"
        build_data["shared_scripts"] = {asked or _built(root): _ENGINE}
        build_data["pure_python"] = False
        oldest = _OLDEST_GLIBC.get(machine, _OLDEST_GLIBC_ELSEWHERE)
        build_data["tag"] = f"py3-none-{oldest}_{machine}"


def _built(root: Path) -> str:
    build = runpy.run_path(str(root / "build_engine.py"))  # not importable from a build backend
    return str(build["build_engine"](root))
