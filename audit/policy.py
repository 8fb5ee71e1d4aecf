"""What is allowed: ``deny.toml``, which cargo-deny reads too, and for Python ``pyproject.toml``."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from license_expression import ExpressionError, get_spdx_licensing

ROOT = Path(__file__).parents[1]
_LICENSING = get_spdx_licensing()


@dataclass(frozen=True)
class Policy:
    """``for_tools`` are licences of packages that no user gets: those of tests and of the build.

    ``clarified`` holds the licence of Python packages whose metadata does not name one that SPDX
    knows; ``duplicates`` the crates, as ``NAME@VERSION``, that may be there in several versions.
    """

    allowed: frozenset[str]
    for_tools: frozenset[str]
    clarified: dict[str, str]
    duplicates: frozenset[str]
    ignored_advisories: frozenset[str]

    def allows(self, licence: str | None, *, shipped: bool) -> bool:
        """Whether one of the choices that an SPDX expression gives is allowed whole."""
        if licence is None:
            return False
        try:
            parsed = _LICENSING.parse(licence, validate=True)
        except ExpressionError:
            return False
        return _holds(parsed, self.allowed if shipped else self.allowed | self.for_tools)


def read_policy(root: Path = ROOT) -> Policy:
    """As the two files of the checkout have it."""
    deny = tomllib.loads((root / "deny.toml").read_text())
    project = tomllib.loads((root / "pyproject.toml").read_text())
    python = project["tool"]["steelyard"]["licences"]
    return Policy(
        allowed=frozenset(deny["licenses"]["allow"]),
        for_tools=frozenset(python["tools"]),
        clarified=python["clarified"],
        duplicates=frozenset(each["crate"] for each in deny["bans"]["skip"]),
        ignored_advisories=frozenset(map(_identifier, deny["advisories"]["ignore"])),
    )


def spdx(text: str | None) -> str | None:
    """The expression where SPDX knows every licence of it; crates may write `/` for `OR`."""
    if not text:
        return None
    try:
        return str(_LICENSING.parse(text.replace("/", " OR "), validate=True).render())
    except ExpressionError:
        return None


def _holds(parsed: Any, allowed: frozenset[str]) -> bool:
    parts = [_holds(part, allowed) for part in getattr(parsed, "args", ())]
    if not parts:
        return parsed.render() in allowed
    return any(parts) if isinstance(parsed, _LICENSING.OR) else all(parts)


def _identifier(ignored: str | dict[str, str]) -> str:
    return ignored if isinstance(ignored, str) else ignored["id"]
