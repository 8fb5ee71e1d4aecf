"""Known vulnerabilities, asked of the databases that can be reached, and cargo-deny where it is.

A database that cannot be reached is said and fails nothing; what one reports does.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from audit.policy import ROOT, Policy

_TIMEOUT_S = 180
_MANIFESTS = (ROOT / "Cargo.toml", ROOT / "fuzz" / "Cargo.toml")


@dataclass(frozen=True)
class Answer:
    """``found`` fail the audit; ``unasked`` is why something could not be asked."""

    asked: str
    found: tuple[str, ...] = ()
    unasked: str | None = None


def answers(policy: Policy) -> Iterator[Answer]:
    """Of pip-audit, then of cargo-deny."""
    yield _of_pip_audit(policy)
    yield from _of_cargo_deny()


def read_pip_audit(told: dict[str, Any], policy: Policy) -> Answer:
    """From its JSON: vulnerabilities, and packages that the index tells nothing of."""
    packages = told["dependencies"]
    skipped = [each["name"] for each in packages if "skip_reason" in each]
    found = [
        f"{each['name']} {each['version']}: {one['id']}, fixed in {one['fix_versions'] or 'none'}"
        for each in packages
        for one in each.get("vulns", ())
        if policy.ignored_advisories.isdisjoint([one["id"], *one.get("aliases", ())])
    ]
    asked = f"pip-audit: {len(packages) - len(skipped)} of {len(packages)} pinned Python packages"
    unasked = f"the index has no advisories for {len(skipped)} packages" if skipped else None
    return Answer(asked, tuple(found), unasked)


def _of_pip_audit(policy: Policy) -> Answer:
    argv = [sys.executable, "-m", "pip_audit", "--disable-pip", "--no-deps", "--format=json"]
    argv += ["--progress-spinner=off", "--requirement", str(ROOT / "constraints.txt")]
    asked = "pip-audit"
    try:
        ran = subprocess.run(argv, capture_output=True, text=True, timeout=_TIMEOUT_S, check=False)
    except subprocess.TimeoutExpired:
        return Answer(asked, unasked=f"no answer within {_TIMEOUT_S} s")
    try:
        return read_pip_audit(json.loads(ran.stdout), policy)
    except json.JSONDecodeError:
        return Answer(asked, unasked=_last(ran.stderr))


def _of_cargo_deny() -> Iterator[Answer]:
    asked = "cargo-deny"
    if shutil.which("cargo-deny") is None:
        yield Answer(asked, unasked="it is not installed: cargo install cargo-deny --locked")
        return
    for manifest in _MANIFESTS:
        name = f"{asked}, {manifest.relative_to(ROOT)}"
        yield _checked(manifest, f"{name}: licences, bans, sources", "licenses", "bans", "sources")
    got = _deny(ROOT / "Cargo.toml", "fetch", "db")
    for manifest in _MANIFESTS:
        name = f"{asked}, {manifest.relative_to(ROOT)}: advisories"
        if got.returncode:
            yield Answer(name, unasked=_last(got.stderr))
        else:
            yield _checked(manifest, name, "--disable-fetch", "advisories")


def _checked(manifest: Path, asked: str, *what: str) -> Answer:
    ran = _deny(manifest, "check", *what)
    lines = [line for line in ran.stderr.splitlines() if line.strip()]
    return Answer(asked, tuple(lines) if ran.returncode else ())


def _deny(manifest: Path, *words: str) -> subprocess.CompletedProcess[str]:
    argv = ["cargo-deny", "--color=never", f"--config={ROOT / 'deny.toml'}"]
    argv += [f"--manifest-path={manifest}", *words]
    return subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, check=False)


def _last(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1][:200] if lines else "it said nothing"
