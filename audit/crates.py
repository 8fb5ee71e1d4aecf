"""Crates of the engine, from ``Cargo.lock`` and what cargo says of those that are here."""

from __future__ import annotations

import json
import re
import subprocess
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from audit.package import CRATES_IO, Package
from audit.policy import ROOT, spdx

ENGINE = "steelyard-engine"
_TARGETS = ("x86_64-unknown-linux-musl", "aarch64-unknown-linux-musl")
_LINE = re.compile(r"(\d+)(\S+) v(\S+)")


def licences(*, all_systems: bool = False) -> dict[str, str | None]:
    """By name and version, of what Linux needs or of everything.

    Downloads what is not here yet, which after a build is what only other systems need.

    Raises:
        subprocess.CalledProcessError: cargo cannot tell.
    """
    words = ["metadata", "--format-version", "1", "--locked"]
    if not all_systems:
        words += [f"--filter-platform={target}" for target in _TARGETS]
    told = json.loads(_cargo(words))["packages"]
    return {f"{each['name']}@{each['version']}": spdx(each["license"]) for each in told}


def uses() -> dict[str, set[str]]:
    """What each part of the engine's binary uses, the project's own crates among them.

    By name and version, on any of the machines that the engine is built for; what only tests use
    is not there.
    """
    found: dict[str, set[str]] = {}
    words = ["tree", "--locked", "--package", ENGINE, "--edges", "normal,build"]
    for target in _TARGETS:
        above: list[str] = []
        for line in _cargo([*words, "--prefix", "depth", "--target", target]).splitlines():
            read = _LINE.match(line)
            if read is None:
                continue
            key = f"{read[2]}@{read[3]}"
            found.setdefault(key, set())
            above[int(read[1]) :] = [key]
            if len(above) > 1:
                found[above[-2]].add(key)
    return found


def crates(
    known: Mapping[str, str | None], used: Mapping[str, set[str]], lock: Path
) -> list[Package]:
    """All of a ``Cargo.lock`` but the project's own; ``known`` are :func:`licences`."""
    return [
        Package(
            name=each["name"],
            version=each["version"],
            kind="crate",
            licence=known.get(key := f"{each['name']}@{each['version']}"),
            shipped=key in used,
            sha256=each.get("checksum"),
            needs=tuple(sorted(used.get(key, ()))),
        )
        for each in _locked(lock)
        if "source" in each
    ]


def foreign(lock: Path) -> Iterator[str]:
    """Crates from elsewhere than crates.io, or without a checksum."""
    for each in _locked(lock):
        source = each.get("source")
        if source is not None and (source != CRATES_IO or "checksum" not in each):
            yield f"{lock.name}: {each['name']} {each['version']} comes from {source}"


def _cargo(words: list[str]) -> str:
    ran = _run([*words, "--offline"], check=False)
    return ran.stdout if ran.returncode == 0 else _run(words, check=True).stdout


def _run(words: list[str], *, check: bool) -> subprocess.CompletedProcess[str]:
    errors = None if check else subprocess.DEVNULL
    return subprocess.run(
        ["cargo", *words], cwd=ROOT, stdout=subprocess.PIPE, stderr=errors, text=True, check=check
    )


def _locked(lock: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = tomllib.loads(lock.read_text())["package"]
    return found
