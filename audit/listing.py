"""``docs/reference/licences.md``: every dependency and its licence, by ``make licences``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from audit.package import Package
from audit.policy import ROOT

PAGE = ROOT / "docs" / "reference" / "licences.md"
_ROW = re.compile(r"\| `([^`]+)` \| `([^`]+)` \| ([^|`]+) \|")
_HEAD = """\
# Licences of dependencies

<!-- Written by `make licences` from Cargo.lock, constraints.txt and the metadata of packages. -->

Steelyard is under the [Apache License 2.0](../../LICENSE). All {count} packages that it is built
from and tested with are listed here with their versions and licences (SPDX); `deny.toml` says
which licences are allowed. CI fails where this page is not what `Cargo.lock` and
`constraints.txt` hold, and where a licence is not allowed or not known
([dependencies](../guide/dependencies.md)).
"""
_SECTIONS = (
    ("In the engine", "crate", True, "The binary is built from these."),
    ("Installed with the package", "python", True, "`pip install` brings these."),
    (
        "For tests and other systems, crates",
        "crate",
        False,
        "None is in the binary that `make wheel` builds for Linux.",
    ),
    (
        "For tests, documentation and development, Python",
        "python",
        False,
        "Nothing that users install needs these.",
    ),
)


def page(packages: Iterable[Package]) -> str:
    """The whole page."""
    listed = sorted(packages, key=lambda each: (each.name.lower(), each.version))
    return "\n".join([_HEAD.format(count=len(listed)), *_sections(listed)])


def known_licences(text: str, kind: str) -> dict[str, str]:
    """Licence of each package of a kind, as the page has it, by :attr:`Package.key`."""
    found: dict[str, str] = {}
    for title, section_kind, _, _ in _SECTIONS:
        part = text.partition(f"## {title}\n")[2].partition("\n## ")[0]
        for name, version, licence in _ROW.findall(part):
            if section_kind == kind:
                found[f"{name}@{version}" if kind == "crate" else name] = licence
    return found


def read_page(path: Path = PAGE) -> str:
    """Empty where there is none yet."""
    return path.read_text() if path.exists() else ""


def _sections(listed: list[Package]) -> Iterator[str]:
    for title, kind, shipped, words in _SECTIONS:
        rows = [each for each in listed if (each.kind, each.shipped) == (kind, shipped)]
        yield f"## {title}\n\n{words}\n\n| name | version | licence |\n|---|---|---|"
        yield from (f"| `{each.name}` | `{each.version}` | {each.licence} |" for each in rows)
        yield ""
