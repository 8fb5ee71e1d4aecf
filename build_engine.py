"""Builds the engine with cargo: one static release binary. Needs nothing but Python itself.

``python build_engine.py`` installs it beside the Python that runs this;
``python build_engine.py --check`` says what this machine lacks for it, and builds nothing.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NoReturn

ROOT = Path(__file__).parent
_WANTED_RUST = r'rust-version = "(\d+)\.(\d+)"'
_SMALLEST_PROGRAM = "#include <stdlib.h>\nint main(void) { return EXIT_SUCCESS; }\n"


def build_engine(root: Path) -> Path:
    """Path of the freshly built release binary."""
    check(root)
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
    if subprocess.run(command, cwd=root, env=environment, check=False).returncode != 0:
        _refuse("cargo could not build the engine; its own message stands above")
    target = Path(os.environ.get("CARGO_TARGET_DIR", root / "target"))
    return target / host / "release" / "steelyard-engine"


def check(root: Path) -> None:
    """Ends the program with a message and exit code 3 where building must fail on this machine."""
    if shutil.which("cargo") is None or shutil.which("rustc") is None:
        _refuse("cargo is missing; install Rust (https://rustup.rs) and try again")
    manifest = (root / "Cargo.toml").read_text(encoding="utf-8")
    found, wanted = _rust_version(), _version(manifest, _WANTED_RUST)
    if found < wanted:
        is_, least = (".".join(map(str, version)) for version in (found, wanted))
        _refuse(f"Rust {is_} is too old; install Rust {least} or newer and try again")
    if not _links_static_programs():
        _refuse(
            "cc is missing, or cannot link a static C program; "
            "install a C compiler and a static C library (Debian: apt install gcc libc6-dev)"
        )


def _rust_version() -> tuple[int, ...]:
    done = subprocess.run(["rustc", "--version"], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        _refuse(f"rustc does not run: {done.stderr.strip()}")
    return _version(done.stdout, r"rustc (\d+)\.(\d+)")


def _links_static_programs() -> bool:
    if shutil.which("cc") is None:
        return False
    with tempfile.TemporaryDirectory() as folder:
        command = ["cc", "-static", "-x", "c", "-", "-o", f"{folder}/program"]
        done = subprocess.run(
            command, input=_SMALLEST_PROGRAM, capture_output=True, text=True, check=False
        )
    return done.returncode == 0


def _version(text: str, pattern: str) -> tuple[int, ...]:
    match = re.search(pattern, text)
    return tuple(int(part) for part in match.groups()) if match else ()


def _host_triple() -> str:
    done = subprocess.run(["rustc", "-vV"], capture_output=True, text=True, check=True)
    return next(line.split()[1] for line in done.stdout.splitlines() if line.startswith("host:"))


def _refuse(message: str) -> NoReturn:
    sys.stderr.write(f"steelyard: {message}\n")
    raise SystemExit(3)


def _install(binary: Path) -> None:
    installed = Path(sys.prefix) / "bin" / "steelyard-engine"
    temporary = installed.with_suffix(".new")
    shutil.copy2(binary, temporary)
    temporary.replace(installed)


if __name__ == "__main__":
    if sys.argv[1:] == ["--check"]:
        check(ROOT)
    else:
        _install(build_engine(ROOT))
