"""What the audit of dependencies refuses, what it asks of others, and the checkout itself."""

from __future__ import annotations

from pathlib import Path

import pytest
from audit.advisories import read_pip_audit
from audit.crates import foreign
from audit.distributions import pinned, unpinned
from audit.inventory import complaints, read_inventory
from audit.listing import known_licences, page
from audit.package import Package, duplicates, refusals
from audit.policy import Policy, read_policy, spdx

POLICY = Policy(
    allowed=frozenset({"MIT", "Apache-2.0", "ISC", "Apache-2.0 WITH LLVM-exception"}),
    for_tools=frozenset({"MPL-2.0"}),
    clarified={},
    duplicates=frozenset({"old@1.0.0"}),
    ignored_advisories=frozenset({"CVE-2026-1"}),
)
LOCK = """
[[package]]
name = "{name}"
version = "1.0.0"
source = "{source}"
{checksum}
"""


def crate(name: str, version: str = "1.0.0", licence: str | None = "MIT") -> Package:
    return Package(name, version, "crate", licence, shipped=True)


@pytest.mark.parametrize(
    ("licence", "shipped", "allowed"),
    [
        ("MIT", True, True),
        ("GPL-3.0-only OR MIT", True, True),
        ("GPL-3.0-only AND MIT", True, False),
        ("(MIT OR GPL-3.0-only) AND ISC", True, True),
        ("Apache-2.0 WITH LLVM-exception", True, True),
        ("GPL-3.0-only WITH GCC-exception-3.1", True, False),
        ("MPL-2.0", True, False),
        ("MPL-2.0", False, True),
        ("Proprietary", False, False),
        (None, False, False),
    ],
)
def test_a_licence_is_allowed_where_one_of_its_choices_is_allowed_whole(
    licence: str | None, shipped: bool, allowed: bool
) -> None:
    assert POLICY.allows(licence, shipped=shipped) is allowed
    package = Package("one", "1.0", "python", licence, shipped=shipped)
    assert bool(list(refusals([package], POLICY))) is not allowed


def test_crates_write_a_slash_where_spdx_writes_or() -> None:
    assert spdx("MIT/Apache-2.0") == "MIT OR Apache-2.0"
    assert spdx("see LICENSE") is None


def test_a_second_version_is_refused_unless_it_is_named_with_one_left() -> None:
    assert not list(duplicates([crate("old"), crate("old", "2.0.0")], POLICY))
    three = [crate("old", version) for version in ("1.0.0", "2.0.0", "3.0.0")]
    assert len(list(duplicates(three, POLICY))) == 2


def test_a_named_second_version_that_has_gone_is_said() -> None:
    assert len(list(duplicates([crate("old")], POLICY))) == 1


@pytest.mark.parametrize(
    ("source", "checksum", "count"),
    [
        ("registry+https://github.com/rust-lang/crates.io-index", 'checksum = "00"', 0),
        ("registry+https://github.com/rust-lang/crates.io-index", "", 1),
        ("git+https://example.org/one", 'checksum = "00"', 1),
    ],
)
def test_a_crate_comes_from_its_registry_with_a_checksum(
    tmp_path: Path, source: str, checksum: str, count: int
) -> None:
    lock = tmp_path / "Cargo.lock"
    lock.write_text(LOCK.format(name="one", source=source, checksum=checksum))
    assert len(list(foreign(lock))) == count


def test_a_line_that_pins_no_version_is_refused(tmp_path: Path) -> None:
    lines = ["one==1.0", "two>=1", "three @ https://example.org/three.whl"]
    constraints = tmp_path / "constraints.txt"
    constraints.write_text("\n".join(lines) + "\n")
    assert pinned(constraints) == {"one": "1.0"}
    assert len(list(unpinned(constraints))) == 2


def test_the_page_is_read_as_it_was_written() -> None:
    packages = [crate("one"), Package("two", "2", "python", "ISC", shipped=False)]
    text = page(packages)
    assert known_licences(text, "crate") == {"one@1.0.0": "MIT"}
    assert known_licences(text, "python") == {"two": "ISC"}


def test_advisories_are_found_or_ignored_by_any_of_their_names_and_silence_is_said() -> None:
    def vulnerable(name: str) -> dict[str, object]:
        return {"id": "PYSEC-1", "aliases": [name], "fix_versions": []}

    told = {
        "dependencies": [
            {"name": "one", "version": "1", "vulns": [vulnerable("CVE-2026-1")]},
            {"name": "two", "version": "1", "vulns": [vulnerable("CVE-2026-2")]},
            {"name": "three", "skip_reason": "not found"},
        ]
    }
    answer = read_pip_audit(told, POLICY)
    assert len(answer.found) == 1
    assert "two" in answer.found[0]
    assert answer.unasked is not None


def test_every_dependency_of_the_checkout_is_allowed_and_listed() -> None:
    policy = read_policy()
    assert list(complaints(read_inventory(policy), policy)) == []
