"""What each platform can do, and how far that is proved: one row each, for people."""

from __future__ import annotations

from steelyard.study import catalogue
from steelyard.study.catalogue import Platform

Row = tuple[str, ...]
COLUMNS: Row = ("platform", "driven by", "proven", "resets", "disks attached live", "since")
UNPROVEN = "not yet run on the real thing"


def support_rows() -> list[Row]:
    """One row for each platform of the catalogue, by name."""
    return [_row(name, catalogue.platform(name)) for name in catalogue.names("platforms")]


def proven(platform: Platform) -> str:
    """Whether a platform has run on the real thing, in words."""
    if not platform.runs:
        return "cannot be run yet"
    return "in the tests, on the real thing" if platform.proven else UNPROVEN


def _row(name: str, platform: Platform) -> Row:
    commands = platform.commands
    return (
        name,
        "its own class" if commands is None else "the commands of its file",
        proven(platform),
        ", ".join(platform.resets),
        "see its section" if commands is None else "yes" if commands.attach else "no",
        platform.since or "0.1",
    )
