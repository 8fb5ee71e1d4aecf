"""A service as people read it: what the reference and ``steelyard service show`` print."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from steelyard.study.service.entry import Service
from steelyard.study.setting import Setting


def service_lines(name: str, entry: Service) -> list[str]:
    """All that one who uses the service must know, as Markdown."""
    return [f"## {name}", "", entry.summary, "", *_facts(entry), *_settings(entry)]


def _facts(entry: Service) -> Iterator[str]:
    speaks = ", ".join(entry.speaks) or "what its setting `speaks` says"
    yield f"- speaks: {speaks}"
    for distribution, packages in entry.packages.items():
        yield f"- packages of {distribution.capitalize()}: {_quoted(packages)}"
    if entry.needs == "root":
        yield "- started by root only"
    if entry.accounts:
        users = [user for key, user in entry.accounts.items() if not key.endswith("group")]
        yield f"- runs as {_quoted(dict.fromkeys(users))} when root starts it"
    for limit, refused in entry.limits.items():
        yield f"- limit `{limit}`: {refused}"
    if entry.notes:
        yield f"- {entry.notes}"
    if not entry.runs:
        yield "- not in this version"
    yield ""


def _settings(entry: Service) -> Iterator[str]:
    if not entry.settings:
        return
    yield "| setting | meaning | default |"
    yield "|---|---|---|"
    for name, setting in entry.settings.items():
        later = "" if setting.runs else " (*later*)"
        yield f"| `{name}`{later} | {_meaning(setting)} | {_default(setting)} |"
    yield ""


def _meaning(setting: Setting) -> str:
    choices = f"; one of {_quoted(setting.choices)}" if setting.choices else ""
    return (setting.meaning + choices).replace("|", "\\|")


def _default(setting: Setting) -> str:
    match setting.default:
        case None:
            return ""
        case bool() as flag:
            return f"`{str(flag).lower()}`"
        case list() as items:
            return ", ".join(str(item) for item in items)
        case str() as text:
            return f"`{text}`" if setting.kind in ("word", "text") else text
        case other:
            return str(other)


def _quoted(words: Iterable[str]) -> str:
    return ", ".join(f"`{word}`" for word in words)
