"""All dependencies of the checkout, and all that is wrong with them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from audit.crates import crates, engine_needs, foreign, metadata, on_linux
from audit.distributions import distributions, package_needs, unpinned
from audit.listing import known_licences, page, read_page
from audit.package import Package, duplicates, refusals
from audit.policy import ROOT, Policy

_LOCK = ROOT / "Cargo.lock"
_CONSTRAINTS = ROOT / "constraints.txt"


@dataclass(frozen=True)
class Inventory:
    """``on_linux`` are those of ``crates`` that a build on Linux uses, tests included."""

    crates: list[Package]
    on_linux: list[Package]
    python: list[Package]
    engine_needs: tuple[str, ...]
    package_needs: tuple[str, ...]

    @property
    def packages(self) -> list[Package]:
        """Of both languages."""
        return [*self.crates, *self.python]


def read_inventory(policy: Policy, *, fetch: bool = False) -> Inventory:
    """As the checkout has it; licences of what is not here are those of the page.

    With ``fetch`` cargo downloads what only other systems need, and the page is not asked.
    """
    text = "" if fetch else read_page()
    linux = metadata()
    told = metadata(all_systems=True) if fetch else linux
    listed = crates(told, linux, known_licences(text, "crate"), _LOCK)
    python = distributions(_CONSTRAINTS, policy, known_licences(text, "python"))
    used = on_linux(listed, linux)
    return Inventory(listed, used, python, engine_needs(linux), package_needs())


def complaints(found: Inventory, policy: Policy) -> Iterator[str]:
    """Every reason for which the audit fails."""
    yield from refusals(found.packages, policy)
    yield from duplicates(found.on_linux, policy)
    yield from foreign(_LOCK)
    yield from foreign(ROOT / "fuzz" / "Cargo.lock")
    yield from unpinned(_CONSTRAINTS)
    if page(found.packages) != read_page():
        yield "docs/reference/licences.md is not what the checkout holds: make licences"
