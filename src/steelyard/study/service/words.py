"""A service as people read it: what the reference and ``steelyard service show`` print."""

from __future__ import annotations

from collections.abc import Iterator

from steelyard.study.service.entry import Service
from steelyard.study.setting_words import quoted, settings_table


def service_lines(name: str, entry: Service) -> list[str]:
    """All that one who uses the service must know, as Markdown."""
    return [f"## {name}", "", entry.summary, "", *_facts(entry), *settings_table(entry.settings)]


def _facts(entry: Service) -> Iterator[str]:
    speaks = ", ".join(entry.speaks) or "what its setting `speaks` says"
    yield f"- speaks: {speaks}"
    for distribution, packages in entry.packages.items():
        yield f"- packages of {distribution.capitalize()}: {quoted(packages)}"
    if entry.needs == "root":
        yield "- started by root only"
    if entry.accounts:
        users = [user for key, user in entry.accounts.items() if not key.endswith("group")]
        yield f"- runs as {quoted(dict.fromkeys(users))} when root starts it"
    for limit, refused in entry.limits.items():
        yield f"- limit `{limit}`: {refused}"
    if entry.notes:
        yield f"- {entry.notes}"
    if not entry.runs:
        yield "- not in this version"
    yield ""
