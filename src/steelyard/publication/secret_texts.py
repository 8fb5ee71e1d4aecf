"""Secrets that a file must not hold when it is published: kinds that a pattern is sure of.

Passwords of a study are not recorded (``hosts/secrets.py``), but its author may write anything
into a study file, and a tool may print anything.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple


class SecretKind(StrEnum):
    """What a pattern finds."""

    PRIVATE_KEY = "private_key"
    ACCESS_KEY_OF_AWS = "access_key_of_aws"
    TOKEN_OF_GITHUB = "token_of_github"  # noqa: S105 - the name of a kind
    TOKEN_OF_GITLAB = "token_of_gitlab"  # noqa: S105 - the same
    TOKEN_OF_SLACK = "token_of_slack"  # noqa: S105 - the same
    PASSWORD_IN_URL = "password_in_url"  # noqa: S105 - the same
    PASSWORD_IN_STUDY = "password_in_study"  # noqa: S105 - the same


_PATTERNS = {
    SecretKind.PRIVATE_KEY: rb"-----BEGIN [A-Z ]*PRIVATE KEY-----",
    SecretKind.ACCESS_KEY_OF_AWS: rb"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b",
    SecretKind.TOKEN_OF_GITHUB: rb"\b(?:gh[pousr]_[0-9A-Za-z]{36,}|github_pat_[0-9A-Za-z_]{60,})",
    SecretKind.TOKEN_OF_GITLAB: rb"\bglpat-[0-9A-Za-z_-]{20,}",
    SecretKind.TOKEN_OF_SLACK: rb"\bxox[abposr]-[0-9A-Za-z-]{10,}",
    SecretKind.PASSWORD_IN_URL: rb"\b[a-z][a-z0-9+.-]*://"
    rb"[^\s/:@\"'<>{}]+:[^\s/@\"'<>{}$]+@[^\s/\"'<>]",
    SecretKind.PASSWORD_IN_STUDY: rb"(?m)^[^#\n]*\bpassword:[ \t]*"
    rb"(?![ \t]|[\"']?\$\{|[^\s,}]*\{n\}|[#&*|>]|$)[^\s#]",
}
_STUDY_SUFFIXES = {".yaml", ".yml"}


class SecretFound(NamedTuple):
    """One secret: never what it is, only where; ``line`` counts from 1."""

    path: Path
    line: int
    kind: SecretKind


def secrets_in(path: Path, data: bytes) -> Iterator[SecretFound]:
    """Every secret in the bytes of a file, by kind."""
    for kind, pattern in _PATTERNS.items():
        if kind is SecretKind.PASSWORD_IN_STUDY and path.suffix not in _STUDY_SUFFIXES:
            continue
        for match in re.finditer(pattern, data):
            yield SecretFound(path, data.count(b"\n", 0, match.start()) + 1, kind)
