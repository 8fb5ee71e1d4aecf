"""Carries the engine to a machine that a command can be run on, once for each build of it.

It lies there in ``~/.cache/steelyard/engine-SHA256``, the first characters of its sha256: found
again by later sessions, distinguished from other builds, verified each time. Only this stays on a
machine.
"""

from __future__ import annotations

import hashlib
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from steelyard.engine.locate import engine_for, find_engine, kind_of, variable_of
from steelyard.hosts.failures import SystemFailure
from steelyard.hosts.transport import Way

LOOK_TIMEOUT_S = 60.0
CARRY_TIMEOUT_S = 300.0
_PREFIX_LENGTH = 16
_MACHINES = {3: "i686", 62: "x86_64", 183: "aarch64", 243: "riscv64", 40: "armv7l"}
"""``e_machine`` of an ELF file, as ``uname -m`` calls it."""

_LOOK = """\
file="${XDG_CACHE_HOME:-$HOME/.cache}/steelyard/engine-$1"
echo "engine belongs at $file"
echo "$(uname -s) $(uname -m)"
if [ -x "$file" ]; then sha256sum "$file"; fi
"""
_TAKE = """\
umask 077
mkdir -p "${1%/*}" && cat > "$1.$$" && chmod 700 "$1.$$" && mv "$1.$$" "$1" && sha256sum "$1"
"""

_MARK = "engine belongs at "

Explain = Callable[[int, str], SystemFailure]
"""From the exit code and the words of a way that failed to what that means."""


def carry_engine(way: Way, name: str, explain: Explain) -> str:
    """Path of this package's engine on the machine called ``name``, there and verified.

    Raises:
        SystemFailure: what ``explain`` makes of a way that fails; ``engine_unfit`` when the machine
            is of another architecture; ``timed_out``.
        EngineError: there is no engine here.
    """
    errand = _EngineTransfer(way, name, explain)
    own = find_engine()
    digest = _digest(own)
    found = errand.look(digest)
    engine = _fitting(own, found.machine, name)
    if engine != own:
        digest = _digest(engine)
        found = errand.look(digest)
    if found.digest != digest:
        errand.take(found.path, engine, digest)
    return found.path


def machine_of(engine: Path) -> str:
    """The architecture that a binary is for, as ``uname -m`` calls it."""
    with engine.open("rb") as file:
        head = file.read(20)
    number = int.from_bytes(head[18:20], "little")
    return _MACHINES.get(number, f"ELF machine {number}")


def _fitting(engine: Path, machine: str, name: str) -> Path:
    """This engine, or the one for the other architecture."""
    kind = kind_of(machine)
    if machine_of(engine) == kind:
        return engine
    other = engine_for(kind)
    if other is not None and machine_of(other) == kind:
        return other
    raise SystemFailure(
        "engine_unfit",
        f"{name} is {machine}, the engine here is for {machine_of(engine)}",
        f"build the engine for {kind} and let ${variable_of(kind)} name it",
    )


@dataclass(frozen=True)
class _Found:
    """The architecture of a machine, where the engine belongs there, and the sha256 of what is."""

    machine: str
    path: str
    digest: str | None


@dataclass(frozen=True)
class _EngineTransfer:
    """One machine that an engine is carried to."""

    way: Way
    name: str
    explain: Explain

    def look(self, digest: str) -> _Found:
        """Of an engine of this sha256; all by one command, as each takes a connection."""
        lines = self._run(_LOOK, digest[:_PREFIX_LENGTH]).splitlines()
        marks = [i for i, line in enumerate(lines) if line.startswith(_MARK)]
        if not marks:
            message = f"{self.name} does not say where the engine belongs"
            raise SystemFailure("engine_unfit", message, last_words="\n".join(lines)[-600:])
        path = lines[marks[-1]].removeprefix(_MARK)
        system, _, told = " ".join(lines[marks[-1] + 1 :]).partition(" ")
        if system != "Linux" or not told:
            raise SystemFailure(
                "engine_unfit",
                f"{self.name} does not say that it is Linux, but {f'{system} {told}'[:200]!r}",
                "the engine runs on Linux only",
            )
        machine, *sums = told.split()
        return _Found(machine, path, sums[0].lstrip("\\") if sums else None)

    def take(self, path: str, engine: Path, digest: str) -> None:
        """Carries it there; it appears whole or not at all."""
        told = self._run(_TAKE, path, content=engine.read_bytes()).split()
        if digest not in told:
            raise SystemFailure(
                "engine_unfit",
                f"the engine that was carried to {self.name} has another sha256 there",
                "look at the disk and the memory of both machines",
                last_words=" ".join(told)[-600:],
            )

    def _run(self, script: str, *arguments: str, content: bytes = b"") -> str:
        words = self.way(["sh", "-c", script, "sh", *arguments])
        timeout_s = CARRY_TIMEOUT_S if content else LOOK_TIMEOUT_S
        try:
            ran = subprocess.run(
                words, input=content, capture_output=True, timeout=timeout_s, check=False
            )
        except FileNotFoundError as error:
            message = f"cannot run {words[0]}: it is not installed here"
            raise SystemFailure("tool_missing", message, f"install {words[0]}") from error
        except subprocess.TimeoutExpired as error:
            message = f"{self.name}: `{words[0]}` has not ended in {timeout_s:g} s"
            raise SystemFailure("timed_out", message, "the machine may be overloaded") from error
        if ran.returncode != 0:
            raise self.explain(ran.returncode, ran.stderr.decode(errors="replace"))
        return ran.stdout.decode(errors="replace")


def _digest(engine: Path) -> str:
    with engine.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
