"""What a built wheel brings: installed elsewhere, commands work without the checkout."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import httpx
import pytest

from steelyard.engine.locate import find_engine
from tests.integration.conftest import LONGEST_S

ROOT = Path(__file__).parents[2]
FINDINGS = ROOT / "docs" / "examples" / "quickstart" / "findings.json"
TIMES = ROOT / "tests" / "cases" / "imports" / "hyperfine" / "1.15.0-two-commands.json"
TABLE = "metric,unit,value\nlatency_p50,ms,4\nlatency_p99,ms,2\n"
OTHER, ELF_NUMBER_OF_RISCV = "riscv64", 243
ORDER = "abbabaababbaabababbaab"


def pip(*words: str, **environment: str) -> None:
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet", *words]
    done = subprocess.run(
        command, cwd=ROOT, env=os.environ | environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def wheel_of(folder: Path, **environment: str) -> Path:
    pip("wheel", ".", "--no-deps", "--no-build-isolation", "--wheel-dir", str(folder),
        **environment)  # fmt: skip
    (wheel,) = folder.glob("*.whl")
    return wheel


def engines(folder: Path) -> str:
    """That of this machine, and one of another: the head of a binary is all that is looked at."""
    folder.mkdir()
    shutil.copy(find_engine(), folder / f"steelyard-engine-{os.uname().machine}")
    head = bytearray(b"\x7fELF" + bytes(60))
    head[18:20] = ELF_NUMBER_OF_RISCV.to_bytes(2, "little")
    (folder / f"steelyard-engine-{OTHER}").write_bytes(head)
    return str(folder)


def installed(wheel: Path, folder: Path) -> Path:
    """The scripts of an environment that has the wheel, and of this one its dependencies alone.

    A path in a file of site-packages is searched, and files like it there are not followed: so
    the package of the checkout, which is installed by such a file, is not there.
    """
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    pip("--python", str(folder), "install", "--no-deps", "--no-index", str(wheel))
    (packages,) = folder.glob("lib/python*/site-packages")
    (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return folder / "bin"


class Installed:
    """A person with the wheel, in an empty folder."""

    def __init__(self, scripts: Path, folder: Path) -> None:
        self._scripts, self.folder = scripts, folder

    def run(self, *words: str, code: int = 0) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [str(self._scripts / words[0]), *words[1:]],
            cwd=self.folder,
            env={"PATH": "/usr/bin:/bin", "NO_COLOR": "1", "HOME": str(self.folder)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == code, done.stderr
        return done

    def served(self, results: str) -> str:
        """The page of all runs."""
        command = [self._scripts / "steelyard", "serve", results, "--listen", "127.0.0.1:0"]
        process = subprocess.Popen(command, cwd=self.folder, stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        try:
            address = process.stdout.readline().strip()
            return httpx.get(address, timeout=LONGEST_S, follow_redirects=True).text
        finally:
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=LONGEST_S)


def trials(folder: Path) -> str:
    rows = [f"{i},{name},{100 + 40 * (name == 'b') + i % 3}" for i, name in enumerate(ORDER)]
    (folder / "trials.csv").write_text("\n".join(["order,system,response", *rows]) + "\n")
    return "trials.csv"


@pytest.mark.extended
def test_commands_of_a_wheel_need_no_checkout(tmp_path: Path) -> None:
    wheel = wheel_of(tmp_path / "wheels", STEELYARD_WHEEL_ENGINES=engines(tmp_path / "engines"))
    assert re.search(r"-py3-none-manylinux_2_17_\w+\.whl$", wheel.name)
    person = Installed(installed(wheel, tmp_path / "venv"), tmp_path)
    where = person.run("python", "-c", "import steelyard; print(steelyard.__file__)").stdout
    assert where.startswith(str(tmp_path / "venv"))
    assert "judge" in person.run("steelyard", "--help").stdout
    design = ("--baseline", "a", "--margin", "2%", "--design", "pairs")
    assert "b" in person.run("steelyard", "judge", trials(tmp_path), *design).stdout
    person.run("steelyard", "report", str(FINDINGS), "--to", "report", "--format", "html,md")
    assert (tmp_path / "report" / "report.html").stat().st_size > 100_000
    person.run("steelyard", "init", "mine")
    assert person.run("steelyard", "plan", "mine").stdout
    assert person.run("steelyard-engine", "--version").stdout
    ask = "from steelyard.engine.locate import engine_for as of; print(of(%r), of('s390x'))"
    other, none = person.run("python", "-c", ask % OTHER).stdout.split()
    assert (Path(other).name, none) == (f"steelyard-engine-{OTHER}", "None")
    said = person.run("steelyard", "plan", "nowhere", code=2).stderr
    page, _, anchor = said.partition("more: ")[2].strip().partition("#")
    assert f"## {anchor}" in Path(page).read_text(encoding="utf-8").replace("`", "")


@pytest.mark.extended
def test_a_wheel_for_another_machine_has_its_engine_as_the_command(tmp_path: Path) -> None:
    folder = engines(tmp_path / "engines")
    wheel = wheel_of(
        tmp_path / "wheels", STEELYARD_WHEEL_ENGINES=folder, STEELYARD_WHEEL_MACHINE=OTHER
    )
    assert wheel.name.endswith(f"-py3-none-manylinux_2_31_{OTHER}.whl")
    archive = zipfile.ZipFile(wheel)
    (command,) = (name for name in archive.namelist() if name.endswith("/scripts/steelyard-engine"))
    assert archive.read(command)[18] == ELF_NUMBER_OF_RISCV
    assert f"steelyard/engines/steelyard-engine-{os.uname().machine}" in archive.namelist()


@pytest.mark.extended
def test_the_wheel_of_the_reading_side_is_for_any_machine_and_judges(tmp_path: Path) -> None:
    wheel = wheel_of(tmp_path / "wheels", STEELYARD_WHEEL_ENGINE="none")
    assert wheel.name.endswith("-py3-none-any.whl")
    held = zipfile.ZipFile(wheel).namelist()
    assert not any("steelyard-engine" in name for name in held)
    assert {"steelyard/schemas/study.schema.json", "steelyard/docs/reference/messages.md"} <= {
        *held
    }
    assert any(name.endswith("/share/man/man1/steelyard-run.1") for name in held)
    person = Installed(installed(wheel, tmp_path / "venv"), tmp_path)
    design = ("--baseline", "a", "--margin", "2%", "--design", "pairs")
    assert "b" in person.run("steelyard", "judge", trials(tmp_path), *design).stdout
    person.run("steelyard", "report", str(FINDINGS), "--to", "report", "--format", "md")
    (tmp_path / "table.csv").write_text(TABLE)
    person.run("steelyard", "check", "table.csv", code=6)
    person.run("steelyard", "import", "hyperfine", str(TIMES), "--as", "system=a,b")
    assert "<h1" in person.served("results")
    assert "engine" in person.run("steelyard", "load", "http://127.0.0.1:1/", code=3).stderr
