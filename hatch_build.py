"""Puts the engine into the wheel, beside the ``steelyard`` script.

Why not maturin: it refuses a package that has both a binary and Python scripts
(``docs/decisions/002-hatchling-builds-the-wheel.md``).
"""

from __future__ import annotations

import os
import runpy
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class EngineBuildHook(BuildHookInterface):  # type: ignore[type-arg]
    """One static binary, linked into the wheel's scripts folder."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        del version
        root = Path(self.root)
        build = runpy.run_path(str(root / "build_engine.py"))  # not importable from a build backend
        build_data["shared_scripts"] = {str(build["build_engine"](root)): "steelyard-engine"}
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-linux_{os.uname().machine}"
