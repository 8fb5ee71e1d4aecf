"""Settings as people read them: what the references and ``show`` print."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from steelyard.study.setting import Setting


def settings_table(settings: Mapping[str, Setting]) -> Iterator[str]:
    """One row for each, as Markdown; nothing where there are none."""
    if not settings:
        return
    yield "| setting | meaning | default |"
    yield "|---|---|---|"
    for name, setting in settings.items():
        later = "" if setting.runs else " (*later*)"
        yield f"| `{name}`{later} | {_meaning(setting)} | {_default(setting)} |"
    yield ""


def _meaning(setting: Setting) -> str:
    choices = f"; one of {quoted(setting.choices)}" if setting.choices else ""
    return (setting.meaning + choices).replace("|", "\\|")


def _default(setting: Setting) -> str:
    match setting.default:
        case None | "":
            return ""
        case bool() as flag:
            return f"`{str(flag).lower()}`"
        case list() as items:
            return ", ".join(str(item) for item in items)
        case str() as text:
            return f"`{text}`" if setting.kind in ("word", "text") else text
        case other:
            return str(other)


def quoted(words: Iterable[str]) -> str:
    """Words as code, with commas between."""
    return ", ".join(f"`{word}`" for word in words)
