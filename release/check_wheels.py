"""Checks wheels that hold several engines: ``python release/check_wheels.py build/wheels``.

Each is taken by pip for its own kind of machine and holds the engine of that machine as a command
and those of the others to be sent. The one for this machine is installed into a fresh environment
from files alone, and used.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import NoReturn

ROOT = Path(__file__).parents[1]
MACHINES = {"x86_64": 62, "aarch64": 183, "armv7l": 40, "riscv64": 243, "i686": 3}
"""``e_machine`` of an ELF file, for what ``uname -m`` says."""
ENGINE = "steelyard-engine"
ASK = "from steelyard.engine.locate import engine_for as of; print(*map(of, {others}))"


def check(folder: Path) -> None:
    """Ends the program with exit code 3 where a wheel is not what its name says."""
    for machine in MACHINES:
        found = list(folder.glob(f"{ENGINE.partition('-')[0]}-*_{machine}.whl"))
        if len(found) != 1:
            _refuse(f"{folder} holds {len(found)} wheels for {machine}; remove it and make wheels")
        _check_engines(found[0], machine)
        _check_that_pip_takes(found[0])
        megabytes = found[0].stat().st_size / 1e6
        sys.stdout.write(
            f"{found[0].name}: {megabytes:.1f} MB, engines of {len(MACHINES)} machines\n"
        )
    _check_an_installation(folder)


def _check_engines(wheel: Path, machine: str) -> None:
    with zipfile.ZipFile(wheel) as archive:
        heads = {
            name: archive.read(name)[:20]
            for name in archive.namelist()
            if name.rpartition("/")[2].startswith(ENGINE) and "/man1/" not in name
        }
    of_others = {f"steelyard/engines/{ENGINE}-{each}": number for each, number in MACHINES.items()}
    del of_others[f"steelyard/engines/{ENGINE}-{machine}"]
    (own,) = (name for name in heads if name.endswith(f".data/scripts/{ENGINE}"))
    wanted = {own: MACHINES[machine], **of_others}
    held = {name: int.from_bytes(head[18:20], "little") for name, head in heads.items()}
    if held != wanted:
        _refuse(f"{wheel.name} holds {held}, not {wanted}")


def _check_that_pip_takes(wheel: Path) -> None:
    platform = wheel.stem.rpartition("-")[2]
    with tempfile.TemporaryDirectory() as folder:
        _pip("install", "--no-index", "--no-deps", "--only-binary=:all:", "--platform", platform,
             "--target", folder, "--find-links", str(wheel.parent), "steelyard")  # fmt: skip


def _check_an_installation(folder: Path) -> None:
    """Offline: dependencies are fetched first, then pip may look nowhere else."""
    machine = os.uname().machine
    (wheel,) = folder.glob(f"steelyard-*_{machine}.whl")
    dependencies = folder / "dependencies"
    _pip("download", "--constraint", str(ROOT / "constraints.txt"), "--only-binary=:all:",
         "--dest", str(dependencies), str(wheel))  # fmt: skip
    with tempfile.TemporaryDirectory() as place:
        _run(sys.executable, "-m", "venv", place)
        scripts = Path(place) / "bin"
        links = ("--find-links", str(dependencies))
        _run(str(scripts / "pip"), "install", "--quiet", "--no-index", *links, str(wheel))
        steelyard = str(scripts / "steelyard")
        sys.stdout.write(_run(steelyard, "--version", cwd=place))
        others = [each for each in MACHINES if each != machine]
        ask = ASK.format(others=others)
        engines = _run(str(scripts / "python"), "-c", ask, cwd=place).split()
        if [Path(each).name for each in engines] != [f"{ENGINE}-{each}" for each in others]:
            _refuse(f"the installed package has {engines} for {others}")
        timed = (steelyard, "time", "sleep 0.01", "sleep 0.03", "--budget", "10 s")
        sys.stdout.write(_run(*timed, cwd=place))


def _pip(*words: str) -> None:
    _run(sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet", *words)


def _run(*words: str, cwd: str | None = None) -> str:
    done = subprocess.run(words, cwd=cwd, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        _refuse(f"{' '.join(words)} ended with {done.returncode}: {done.stderr.strip()}")
    return done.stdout


def _refuse(message: str) -> NoReturn:
    sys.stderr.write(f"steelyard: {message}\n")
    raise SystemExit(3)


if __name__ == "__main__":
    check(Path(sys.argv[1]))
