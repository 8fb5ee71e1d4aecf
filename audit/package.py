"""A dependency, whichever language it is of, and what is wrong with several of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from audit.policy import Policy

CRATES_IO = "registry+https://github.com/rust-lang/crates.io-index"


@dataclass(frozen=True, order=True)
class Package:
    """``shipped``: it comes to users, with the engine or as a dependency of the package.

    ``licence`` is an SPDX expression, ``None`` where nothing names one. ``needs`` are the names of
    the packages that it uses where it is shipped; of crates with their versions.
    """

    name: str
    version: str
    kind: Literal["crate", "python"]
    licence: str | None
    shipped: bool
    sha256: str | None = None
    needs: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """What names it among those of its kind."""
        return f"{self.name}@{self.version}" if self.kind == "crate" else self.name


def refusals(packages: Iterable[Package], policy: Policy) -> Iterator[str]:
    """Each licence that is not allowed, and each that is not known."""
    for package in sorted(packages):
        where = f"{package.kind} {package.name} {package.version}"
        if package.licence is None:
            yield f"{where}: its metadata names no licence; read it and name it in pyproject.toml"
        elif not policy.allows(package.licence, shipped=package.shipped):
            yield f"{where}: {package.licence} is not allowed by deny.toml"


def duplicates(packages: Iterable[Package], policy: Policy) -> Iterator[str]:
    """Crates in several versions beside those that the policy skips, and skips without a use."""
    listed = sorted(packages)
    left = Counter(each.name for each in listed if each.key not in policy.duplicates)
    for package in listed:
        if package.key not in policy.duplicates and left[package.name] > 1:
            yield f"crate {package.name} {package.version}: there are {left[package.name]} of it"
    several = Counter(each.name for each in listed)
    needed = {each.key for each in listed if several[each.name] > 1}
    for name in sorted(policy.duplicates - needed):
        yield f"deny.toml skips {name}, of which there is one version or none"
