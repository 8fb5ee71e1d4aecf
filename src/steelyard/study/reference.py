"""Platforms, services, meters, workloads for people: what reference pages and ``show`` print."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from steelyard.study import catalogue
from steelyard.study.catalogue import Platform
from steelyard.study.declared import responses as declared
from steelyard.study.declared.setting import Setting
from steelyard.study.meter.entry import Meter
from steelyard.study.service.entry import Service
from steelyard.study.workload.entry import Workload, response_of


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


def service_lines(name: str, entry: Service) -> list[str]:
    """All that one who uses the service must know, as Markdown."""
    return [
        f"## {name}",
        "",
        entry.summary,
        "",
        *_service_facts(entry),
        *settings_table(entry.settings),
    ]


def _service_facts(entry: Service) -> Iterator[str]:
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


def meter_lines(name: str, entry: Meter) -> list[str]:
    """All that one who uses the meter must know, as Markdown."""
    return [
        f"## {name}",
        "",
        entry.summary,
        "",
        *_meter_facts(entry),
        *settings_table(entry.settings),
    ]


def _meter_facts(entry: Meter) -> Iterator[str]:
    if entry.http is not None:
        yield f"- asked over HTTP: `{entry.http.url}`"
    if entry.command is not None:
        yield f"- asked by `{' '.join(entry.command.run)}`, run on the controller"
    yield f"- a new reading each {entry.every:g} s at most; an answer may take {entry.timeout:g} s"
    for distribution, packages in entry.packages.items():
        yield f"- packages of {distribution.capitalize()}: {quoted(packages)}"
    if entry.notes:
        yield f"- {entry.notes}"
    if not entry.verified:
        yield f"- {UNVERIFIED}: tested against a fake one"
    yield ""


_GOOD = {"higher": "more", "lower": "less", "none": "neither"}
_ENDS = {
    "window": "runs for the window of the trials",
    "by itself": "ends by itself: `window` and `warmup` of the trials mean nothing to it",
}
_WARMUP = {
    "itself": "takes the warm-up itself",
    "beforehand": "is run for the warm-up first, and what it prints then is forgotten",
    "never": "has no warm-up",
}


def workload_lines(name: str, entry: Workload) -> list[str]:
    """All that one who uses the workload must know, as Markdown."""
    settings = settings_table(entry.settings)
    return [
        f"## {name}",
        "",
        entry.summary,
        "",
        *_workload_facts(entry),
        *settings,
        *_metrics(entry),
    ]


def _workload_facts(entry: Workload) -> Iterator[str]:
    yield f"- decided by `{entry.primary}` unless the study says otherwise"
    if entry.speaks:
        yield f"- needs a service that speaks {', '.join(entry.speaks)}"
    if entry.is_tool:
        yield from _tool_facts(entry)
    elif entry.load:
        yield "- driven by the load engine"
    if entry.notes:
        yield f"- {entry.notes}"
    if not entry.runs:
        yield "- not in this version"
    yield ""


def _tool_facts(entry: Workload) -> Iterator[str]:
    yield f"- runs on the {entry.on}"
    ends = _ENDS[entry.ends or "by itself"]
    warms = f", and {_WARMUP[entry.warmup]}" if entry.ends == "window" else ""
    yield f"- {ends}{warms}"
    for distribution, packages in entry.packages.items():
        yield f"- packages of {distribution.capitalize()}: {quoted(packages)}"
    if entry.needs == "root":
        yield "- run by root only"
    if entry.version is not None:
        before = entry.version.before
        until = "" if before is None else f" and before {before}"
        yield f"- supported: versions from {entry.version.least}{until}"


def _metrics(entry: Workload) -> Iterator[str]:
    if not entry.metrics:
        return
    standard = declared.responses()
    yield "| response | unit | good | meaning |"
    yield "|---|---|---|---|"
    for name, metric in entry.metrics.items():
        response = response_of(metric, standard.get(name))
        unit = response.unit.replace("{operation}", entry.operation)
        zero = "; may be zero" if response.may_be_zero else ""
        meaning = f"{response.label}: {response.meaning}{zero}".replace("|", "\\|")
        yield f"| `{name}` | {unit} | {_GOOD[response.direction]} | {meaning} |"
    yield ""


Row = tuple[str, ...]
COLUMNS: Row = ("platform", "driven by", "verified", "resets", "disks attached live", "since")
UNVERIFIED = "not yet run on the real thing"


def support_rows() -> list[Row]:
    """One row for each platform of the catalogue, by name."""
    return [_support_row(name, catalogue.platform(name)) for name in catalogue.names("platforms")]


def verified(platform: Platform) -> str:
    """Whether a platform has run on the real thing, in words."""
    if not platform.runs:
        return "cannot be run yet"
    return "in the tests, on the real thing" if platform.verified else UNVERIFIED


def _support_row(name: str, platform: Platform) -> Row:
    commands = platform.commands
    return (
        name,
        "its own class" if commands is None else "the commands of its file",
        verified(platform),
        ", ".join(platform.resets),
        "see its section" if commands is None else "yes" if commands.attach else "no",
        platform.since or "0.1",
    )
