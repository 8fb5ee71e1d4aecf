"""All dependencies of the checkout, and all that is wrong with them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from audit.crates import crates, foreign, licences, uses
from audit.distributions import distributions, package_needs, unpinned
from audit.listing import known_licences, page, read_page
from audit.package import Package, duplicates, refusals
from audit.policy import ROOT, Policy

_LOCK = ROOT / "Cargo.lock"
_CONSTRAINTS = ROOT / "constraints.txt"


@dataclass(frozen=True)
class Inventory:
    """``engine_needs`` and ``package_needs`` are the keys of what the two use themselves."""

    crates: list[Package]
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
    known = known_licences(text, "crate") | licences(all_systems=fetch)
    used = uses()
    listed = crates(known, used, _LOCK)
    python = distributions(_CONSTRAINTS, policy, known_licences(text, "python"))
    return Inventory(listed, python, _engine_needs(listed, used), package_needs())


def _engine_needs(listed: list[Package], used: dict[str, set[str]]) -> tuple[str, ...]:
    """What any of the project's own crates uses."""
    foreign_keys = {package.key for package in listed}
    own = (keys for key, keys in used.items() if key not in foreign_keys)
    return tuple(sorted(foreign_keys.intersection(*[set().union(*own)])))


def complaints(found: Inventory, policy: Policy) -> Iterator[str]:
    """Every reason for which the audit fails."""
    yield from refusals(found.packages, policy)
    yield from duplicates((each for each in found.crates if each.shipped), policy)
    yield from foreign(_LOCK)
    yield from foreign(ROOT / "fuzz" / "Cargo.lock")
    yield from unpinned(_CONSTRAINTS)
    if page(found.packages) != read_page():
        yield "docs/reference/licences.md is not what the checkout holds: make licences"
