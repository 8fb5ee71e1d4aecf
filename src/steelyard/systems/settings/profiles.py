"""Profiles of tuned as files: where they lie, and which of its plugins one uses."""

from __future__ import annotations

import re
from collections.abc import Iterable

from steelyard.hosts.failures import SystemFailure
from steelyard.hosts.host import Host

FOLDERS = ("/etc/tuned", "/etc/tuned/profiles", "/usr/lib/tuned", "/usr/lib/tuned/profiles")
NOT_UNDONE = frozenset(
    {"bootloader", "irqbalance", "modules", "script", "selinux", "service", "systemd"}
)
"""Plugins whose changes are no values of the kernel: only tuned itself could undo them."""

_SECTION = re.compile(r"^\[([^\]]+)\]", re.MULTILINE)
_NO_PLUGINS = frozenset({"main", "variables"})


def profile_text(host: Host, name: str) -> str:
    """The ``tuned.conf`` of a profile.

    Raises:
        SystemFailure: ``not_supported``: there is none of this name.
    """
    for folder in FOLDERS:
        path = f"{folder}/{name}/tuned.conf"
        if host.path_facts(path).exists:
            return host.read_file(path)
    message = f"on {host.name}: tuned has no profile `{name}`"
    raise SystemFailure("not_supported", message, "`tuned-adm list` shows those it has")


def with_included(host: Host, text: str) -> list[str]:
    """A profile, and those that it includes by name.

    Raises:
        SystemFailure: ``not_supported``: one of them is missing.
    """
    texts, todo, seen = list[str](), [text], set[str]()
    while todo:
        texts.append(todo.pop())
        names = _included(texts[-1]) - seen
        seen |= names
        todo += [profile_text(host, name) for name in sorted(names)]
    return texts


def plugins_of(texts: Iterable[str]) -> set[str]:
    """The plugins that any of these profiles uses."""
    sections = [section for text in texts for section in _sections(text)]
    return {body.get("type", name) for name, body in sections if name not in _NO_PLUGINS}


def _included(text: str) -> set[str]:
    """Names; one with a variable in it is worked out by tuned alone."""
    lines = [body.get("include", "") for name, body in _sections(text) if name == "main"]
    names = {name for line in lines for name in re.split(r"[,;\s]+", line)}
    return {name for name in names if name and "$" not in name}


def _sections(text: str) -> list[tuple[str, dict[str, str]]]:
    heads = list(_SECTION.finditer(text))
    ends = [head.start() for head in heads[1:]] + [len(text)]
    return [
        (head[1].strip(), _body(text[head.end() : end]))
        for head, end in zip(heads, ends, strict=True)
    ]


def _body(text: str) -> dict[str, str]:
    lines = [line.partition("=") for line in text.splitlines() if not line.startswith(("#", ";"))]
    return {key.strip(): value.strip() for key, sign, value in lines if sign}
