"""Crates of the engine, from ``Cargo.lock`` and what cargo says of those that are here."""

from __future__ import annotations

import json
import subprocess
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from audit.package import CRATES_IO, Package
from audit.policy import ROOT, spdx

ENGINE = "steelyard-engine"
MACHINES = ("x86_64", "aarch64")


def metadata(*, all_systems: bool = False) -> dict[str, Any]:
    """``cargo metadata`` of the checkout, of what Linux needs or of everything.

    Downloads what is not here yet, which after a build is what only other systems need.

    Raises:
        subprocess.CalledProcessError: cargo cannot tell.
    """
    argv = ["cargo", "metadata", "--format-version", "1", "--locked"]
    if not all_systems:
        argv += [f"--filter-platform={each}-unknown-linux-musl" for each in MACHINES]
        ran = subprocess.run([*argv, "--offline"], cwd=ROOT, capture_output=True, check=False)
        if ran.returncode == 0:
            return _document(ran.stdout)
    return _document(subprocess.run(argv, cwd=ROOT, stdout=subprocess.PIPE, check=True).stdout)


def _document(printed: bytes) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(printed)
    return found


def crates(
    told: Mapping[str, Any], linux: Mapping[str, Any], known: Mapping[str, str], lock: Path
) -> list[Package]:
    """All of a ``Cargo.lock`` but the project's own.

    ``told`` is what cargo says of those that are here, ``linux`` of those that Linux needs;
    ``known`` gives the licence, by name and version, of those that are not here.
    """
    licences = dict(known) | {
        f"{each['name']}@{each['version']}": spdx(each["license"]) for each in told["packages"]
    }
    shipped = _shipped(linux)
    return [
        Package(
            name=each["name"],
            version=each["version"],
            kind="crate",
            licence=licences.get(key := f"{each['name']}@{each['version']}"),
            shipped=key in shipped,
            sha256=each["checksum"],
            needs=tuple(sorted(shipped.get(key, ()))),
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


def on_linux(packages: Iterable[Package], linux: Mapping[str, Any]) -> list[Package]:
    """Those that a build on Linux uses, tests included."""
    used = set(_names(linux).values())
    return [package for package in packages if package.key in used]


def engine_needs(linux: Mapping[str, Any]) -> tuple[str, ...]:
    """The keys of all crates that the engine's binary is built from."""
    return tuple(sorted(_shipped(linux)))


def _locked(lock: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = tomllib.loads(lock.read_text())["package"]
    return found


def _names(linux: Mapping[str, Any]) -> dict[str, str]:
    here = {each["id"] for each in linux["resolve"]["nodes"]}
    return {
        each["id"]: f"{each['name']}@{each['version']}"
        for each in linux["packages"]
        if each["id"] in here
    }


def _shipped(linux: Mapping[str, Any]) -> dict[str, set[str]]:
    """From the engine along all that is not for tests only: each crate, and what it uses."""
    names = _names(linux)
    uses = {each["id"]: list(_uses(each)) for each in linux["resolve"]["nodes"]}
    own = {each["id"] for each in linux["packages"] if each["source"] is None}
    waiting = [each["id"] for each in linux["packages"] if each["name"] == ENGINE]
    seen: set[str] = set()
    while waiting:
        one = waiting.pop()
        if one not in seen:
            seen.add(one)
            waiting += uses[one]
    return {names[one]: {names[used] for used in uses[one]} for one in seen - own}


def _uses(node: Mapping[str, Any]) -> Iterator[str]:
    for used in node["deps"]:
        if any(kind["kind"] != "dev" for kind in used["dep_kinds"]):
            yield used["pkg"]
