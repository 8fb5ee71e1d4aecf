"""Builds the engine binary with cargo and puts it beside the ``steelyard`` script of the wheel.

Why not maturin: it refuses a package that has both a binary and Python scripts
(``docs/decisions/002-hatchling-builds-the-wheel.md``).
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

_WANTED_RUST = r'rust-version = "(\d+)\.(\d+)"'


class EngineBuildHook(BuildHookInterface):  # type: ignore[type-arg]
    """One static binary, linked into the wheel's scripts folder."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        del version
        binary = build_engine(Path(self.root))
        build_data["shared_scripts"] = {str(binary): "steelyard-engine"}
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{_platform()}"


def build_engine(root: Path) -> Path:
    """Path of the freshly built release binary."""
    if shutil.which("cargo") is None:
        sys.exit("steelyard: cargo is missing. Install Rust (https://rustup.rs) and try again.")
    _refuse_old_rust(root)
    host = _host_triple()
    environment = {**os.environ, "RUSTFLAGS": "-C target-feature=+crt-static"}
    command = [
        "cargo",
        "build",
        "--release",
        "--locked",
        "--target",
        host,
        "-p",
        "steelyard-engine",
    ]
    subprocess.run(command, cwd=root, env=environment, check=True)
    target = Path(os.environ.get("CARGO_TARGET_DIR", root / "target"))
    return target / host / "release" / "steelyard-engine"


def _refuse_old_rust(root: Path) -> None:
    told = subprocess.run(["rustc", "--version"], capture_output=True, text=True, check=True).stdout
    manifest = (root / "Cargo.toml").read_text(encoding="utf-8")
    found, wanted = _version(told, r"rustc (\d+)\.(\d+)"), _version(manifest, _WANTED_RUST)
    if found < wanted:
        least = ".".join(map(str, wanted))
        sys.exit(
            f"steelyard: {told.strip()} is too old; install Rust {least} or newer and try again"
        )


def _version(text: str, pattern: str) -> tuple[int, ...]:
    match = re.search(pattern, text)
    return tuple(int(part) for part in match.groups()) if match else ()


def _host_triple() -> str:
    told = subprocess.run(["rustc", "-vV"], capture_output=True, text=True, check=True).stdout
    return next(line.split()[1] for line in told.splitlines() if line.startswith("host:"))


def _platform() -> str:
    return f"linux_{os.uname().machine}"


if __name__ == "__main__":  # `make engine`: rebuild in place without reinstalling the package
    built = build_engine(Path(__file__).parent)
    installed = Path(sys.prefix) / "bin" / "steelyard-engine"
    temporary = installed.with_suffix(".new")
    shutil.copy2(built, temporary)
    temporary.replace(installed)
