"""Python packages, from ``constraints.txt`` and the metadata of those that are installed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from audit.package import Package
from audit.policy import Policy, spdx

_PINNED = re.compile(r"([A-Za-z0-9._-]+)==([A-Za-z0-9.!+_-]+)")
_CLASSIFIERS = {
    "MIT License": "MIT",
    "Apache Software License": "Apache-2.0",
    "ISC License (ISCL)": "ISC",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "Python Software Foundation License": "PSF-2.0",
}
"""Those that stand for one licence; "BSD License" stands for several."""


def pinned(constraints: Path) -> dict[str, str]:
    """Version by name; every line that is no name with one version is left out (see below)."""
    found = map(_PINNED.fullmatch, constraints.read_text().split("\n"))
    return {canonicalize_name(each[1]): each[2] for each in found if each}


def unpinned(constraints: Path) -> Iterator[str]:
    """Lines that name a file, an address, or more than one version."""
    for line in constraints.read_text().splitlines():
        if not _PINNED.fullmatch(line):
            yield f"{constraints.name}: `{line}` is not NAME==VERSION"


def distributions(constraints: Path, policy: Policy, known: Mapping[str, str]) -> list[Package]:
    """All that are pinned; ``known`` gives the licence of those that are not installed here."""
    shipped = _shipped()
    return [
        Package(
            name=name,
            version=version,
            kind="python",
            licence=_licence(name, version, policy) or known.get(name),
            shipped=name in shipped,
            needs=tuple(sorted(shipped.get(name, ()))),
        )
        for name, version in sorted(pinned(constraints).items())
    ]


def package_needs() -> tuple[str, ...]:
    """What the package itself names."""
    return tuple(sorted(_needs("steelyard")))


def _licence(name: str, version: str, policy: Policy) -> str | None:
    if name in policy.clarified:
        return policy.clarified[name]
    found = _installed(name)
    if found is None or found.version != version:
        return None
    told = found.metadata.json
    named = spdx(str(told.get("license_expression"))) or spdx(str(told.get("license")))
    return named or _classified(found)


def _classified(found: Distribution) -> str | None:
    lines = found.metadata.get_all("Classifier") or []
    told = [line.split("::")[-1].strip() for line in lines if line.startswith("License ::")]
    return _CLASSIFIERS.get(told[0]) if len(told) == 1 else None


def _installed(name: str) -> Distribution | None:
    try:
        return distribution(name)
    except PackageNotFoundError:
        return None


def _shipped() -> dict[str, set[str]]:
    """All that ``pip install steelyard`` brings, and what each of them needs."""
    waiting = list(package_needs())
    found: dict[str, set[str]] = {}
    while waiting:
        name = waiting.pop()
        if name not in found:
            found[name] = _needs(name)
            waiting += found[name]
    return found


def _needs(name: str) -> set[str]:
    found = _installed(name)
    lines = (found.requires or []) if found else []
    asked = map(Requirement, lines)
    return {
        canonicalize_name(each.name)
        for each in asked
        if each.marker is None or each.marker.evaluate({"extra": ""})
    }
