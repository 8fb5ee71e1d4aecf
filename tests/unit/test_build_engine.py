"""What building the engine needs is asked for before anything is built or downloaded."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
RUST = "#!/bin/sh\necho 'rustc {version}.0 (of a test)'\n"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A folder as the only one of PATH, with a Rust that is new enough and nothing else."""
    for name in ("cargo", "rustc"):
        program(tmp_path / name, RUST.format(version="9.99"))
    return tmp_path


def program(file: Path, text: str) -> None:
    file.write_text(text, encoding="ascii")
    file.chmod(0o755)


def check(path: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "build_engine.py"), "--check"]
    environment = {"PATH": str(path)}
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def refusal(path: Path) -> str:
    done = check(path)
    assert done.returncode == 3
    (line,) = done.stderr.splitlines()
    return line


def test_a_compiler_that_links_is_all_that_is_asked_for_besides_rust(path: Path) -> None:
    program(path / "cc", "#!/bin/sh\nexit 0\n")
    assert check(path).returncode == 0


def test_a_machine_without_a_compiler_is_refused_with_the_package_that_has_one(path: Path) -> None:
    assert "apt install gcc libc6-dev" in refusal(path)


def test_a_compiler_without_the_files_of_the_c_library_is_refused(path: Path) -> None:
    program(path / "cc", "#!/bin/sh\necho 'stdlib.h: No such file' >&2\nexit 1\n")
    assert "libc6-dev" in refusal(path)


def test_a_machine_without_rust_is_refused_with_the_place_to_get_it(path: Path) -> None:
    (path / "cargo").unlink()
    assert "rustup" in refusal(path)


def test_an_old_rust_is_named_with_the_one_that_is_needed(path: Path) -> None:
    program(path / "rustc", RUST.format(version="1.60"))
    line = refusal(path)
    assert "1.60" in line
    assert "1.89" in line
