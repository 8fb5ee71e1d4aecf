"""A workload as people read it: what the reference and ``steelyard workload show`` print."""

from __future__ import annotations

from collections.abc import Iterator

from steelyard.study import catalogue
from steelyard.study.setting_words import quoted, settings_table
from steelyard.study.workload.entry import Workload, response_of

_GOOD = {"higher": "more", "lower": "less", "none": "neither"}
_ENDS = {
    "window": "runs for the window of the trials",
    "by itself": "ends by itself: `window` and `warmup` of the trials mean nothing to it",
}
_WARMS_UP = {
    "itself": "takes the warm-up itself",
    "beforehand": "is run for the warm-up first, and what it prints then is forgotten",
    "never": "has no warm-up",
}


def workload_lines(name: str, entry: Workload) -> list[str]:
    """All that one who uses the workload must know, as Markdown."""
    settings = settings_table(entry.settings)
    return [f"## {name}", "", entry.summary, "", *_facts(entry), *settings, *_metrics(entry)]


def _facts(entry: Workload) -> Iterator[str]:
    yield f"- decided by `{entry.primary}` unless the study says otherwise"
    if entry.speaks:
        yield f"- needs a service that speaks {', '.join(entry.speaks)}"
    if entry.is_tool:
        yield from _of_a_tool(entry)
    elif entry.load:
        yield "- driven by the load engine"
    if entry.notes:
        yield f"- {entry.notes}"
    if not entry.runs:
        yield "- not in this version"
    yield ""


def _of_a_tool(entry: Workload) -> Iterator[str]:
    yield f"- runs on the {entry.on}"
    ends = _ENDS[entry.ends or "by itself"]
    warms = f", and {_WARMS_UP[entry.warms_up]}" if entry.ends == "window" else ""
    yield f"- {ends}{warms}"
    for distribution, packages in entry.packages.items():
        yield f"- packages of {distribution.capitalize()}: {quoted(packages)}"
    if entry.needs == "root":
        yield "- run by root only"
    if entry.version is not None:
        before = entry.version.before
        until = "" if before is None else f" and before {before}"
        yield f"- understood: versions from {entry.version.least}{until}"


def _metrics(entry: Workload) -> Iterator[str]:
    if not entry.metrics:
        return
    standard = catalogue.responses()
    yield "| response | unit | good | meaning |"
    yield "|---|---|---|---|"
    for name, metric in entry.metrics.items():
        response = response_of(metric, standard.get(name))
        unit = response.unit.replace("{operation}", entry.operation)
        zero = "; may be zero" if response.may_be_zero else ""
        meaning = f"{response.label}: {response.meaning}{zero}".replace("|", "\\|")
        yield f"| `{name}` | {unit} | {_GOOD[response.direction]} | {meaning} |"
    yield ""
