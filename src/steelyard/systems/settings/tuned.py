"""Profiles of tuned: through its daemon where one answers, at once and without it elsewhere.

Without the daemon tuned writes values and forgets them. So every value is read before and after;
each that has changed gets an inverse of its own, and the record says which they were.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from steelyard.engine.agent import AgentRefusal
from steelyard.hosts.failures import SystemFailure
from steelyard.hosts.host import Host
from steelyard.hosts.kernel_values import changed_values, read_values
from steelyard.hosts.tool import attempt, tell
from steelyard.hosts.undo.actions.command import Command
from steelyard.hosts.undo.actions.files import RestoreFile, sha256_of, value_inverse
from steelyard.hosts.undo.actions.tuned import TunedProfile, active_profile
from steelyard.hosts.undo.actions.values import RestoreValues
from steelyard.study.declared.setting import OFF
from steelyard.study.declared.tuned_profiles import is_own
from steelyard.study.model import Level
from steelyard.systems.settings.applied import Applied
from steelyard.systems.settings.changes import Changes
from steelyard.systems.settings.profiles import (
    NOT_UNDONE,
    plugins_of,
    profile_text,
    with_included,
)

TUNED_TIMEOUT_S = 120.0
_DAEMON_LINE = re.compile(r"^\s*daemon\s*=.*$", re.MULTILINE)
_RUN = "/run/tuned"
_AT_ONCE = (
    'mount --bind "$1" /etc/tuned && mount --bind "$2" /run/tuned && '
    'exec tuned --no-dbus --no-socket --log "$2/log" --profile "$3"'
)
Pairs = dict[str, tuple[str | None, str | None]]


def change_tuned(changes: Changes, name: str, levels: Mapping[str, Level]) -> list[Applied]:
    """A profile, or none.

    Raises:
        SystemFailure: ``tool_missing``; ``not_supported``: no such profile, it did not become
            active, or it uses what could not be undone.
    """
    level = str(levels[""])
    active = active_profile(changes.host)
    if active is not None:
        return [_by_daemon(changes, name, level, active)]
    if level == OFF:
        return [Applied(name, level, facts={name: "off (no daemon)"})]
    return [_at_once(changes, name, level)]


def _by_daemon(changes: Changes, name: str, level: str, active: str) -> Applied:
    host, first = changes.host, len(changes.made)
    profile = _own_profile(changes, level) if is_own(level) else level
    if profile != OFF:
        profile_text(host, profile)
    if profile != (active or OFF):
        changes.plan(TunedProfile(active))
        words = ["off"] if profile == OFF else ["profile", profile]
        tell(host, ["tuned-adm", *words], timeout_s=TUNED_TIMEOUT_S)
    now = active_profile(host)
    if (now or OFF) != profile:
        message = f"on {host.name}: the profile `{profile}` of tuned did not become active: {now}"
        raise SystemFailure("not_supported", message)
    facts = {name: profile}
    if profile != OFF:
        verified = attempt(host, ["tuned-adm", "verify"], timeout_s=TUNED_TIMEOUT_S)
        facts[f"{name}.verified"] = "yes" if verified.succeeded else "no, by tuned-adm verify"
    return Applied(name, level, tuple(changes.made[first:]), facts)


def _own_profile(changes: Changes, path: str) -> str:
    """A user's own profile where the daemon finds it, under a name of its content."""
    text = changes.place.profiles[path]
    name = f"steelyard-{sha256_of(text)[:12]}"
    folder = f"/etc/tuned/{name}"
    unless = ("test", "!", "-d", folder)
    changes.plan(Command(("rmdir", folder), f"remove the folder {folder}", unless=unless))
    changes.host.make_directory(folder)
    file = f"{folder}/tuned.conf"
    changes.plan(RestoreFile(file, None, None, sha256_of(text)))
    changes.host.write_file(file, text, mode=0o644, create=True, durable=True)
    return name


def _at_once(changes: Changes, name: str, level: str) -> Applied:
    host, first = changes.host, len(changes.made)
    text = changes.place.profiles[level] if is_own(level) else profile_text(host, level)
    texts = with_included(host, text)
    _refuse_what_stays(host, level, texts)
    folder = f"{changes.place.folder}/tuned"
    profile = _private_configuration(changes, folder, level, text)
    changed = _values_changed(changes, folder, profile)
    facts = {name: level, f"{name}.sha256": sha256_of(text), f"{name}.changed": _said(changed)}
    facts |= _not_held(host, name, f"{folder}/run/log", texts)
    host.remove_tree(folder)
    also_set = tuple(path for path, (_, is_now) in changed.items() if is_now is not None)
    return Applied(name, level, tuple(changes.made[first:]), facts, also_set=also_set)


def _values_changed(changes: Changes, folder: str, profile: str) -> Pairs:
    """Runs tuned; all values are kept until each that has changed has an inverse of its own."""
    host = changes.host
    before = read_values(host)
    coarse = changes.plan(_kept(host, folder, before))
    words = ["sh", "-c", _AT_ONCE, "sh", f"{folder}/etc", f"{folder}/run", profile]
    tell(host, ["unshare", "--mount", *words], timeout_s=TUNED_TIMEOUT_S)
    changed = changed_values(before, read_values(host))
    for path, (was, is_now) in changed.items():
        if was is not None and is_now is not None:
            changes.plan(value_inverse(host, path, was))
    changes.settled(coarse)
    return changed


def _refuse_what_stays(host: Host, level: str, texts: list[str]) -> None:
    """A guest is removed with its changes, so there nothing is refused."""
    staying = sorted(plugins_of(texts) & NOT_UNDONE)
    if staying and not host.name.startswith("inside:"):
        raise SystemFailure(
            "not_supported",
            f"on {host.name}: the profile `{level}` uses {', '.join(staying)}, which cannot be "
            "undone without the daemon of tuned",
            "start tuned there, or use the profile in a guest",
        )


def _private_configuration(changes: Changes, folder: str, level: str, text: str) -> str:
    """A copy of the machine's own, with the daemon switched off; the profile's name in it."""
    host = changes.host
    if not host.path_facts(_RUN).exists:
        unless = ("test", "!", "-d", _RUN)
        changes.plan(Command(("rmdir", _RUN), f"remove the folder {_RUN}", unless=unless))
        host.make_directory(_RUN)
    host.make_directory(f"{folder}/etc")
    host.make_directory(f"{folder}/run")
    tell(host, ["cp", "-a", "/etc/tuned/.", f"{folder}/etc"])
    main = f"{folder}/etc/tuned-main.conf"
    settings = _DAEMON_LINE.sub("", host.read_file(main)) if host.path_facts(main).exists else ""
    host.write_file(main, f"{settings.rstrip()}\ndaemon = 0\n", create=True)
    if not is_own(level):
        return level
    host.make_directory(f"{folder}/etc/steelyard-own")
    host.write_file(f"{folder}/etc/steelyard-own/tuned.conf", text, create=True)
    return "steelyard-own"


def _kept(host: Host, folder: str, values: dict[str, str]) -> RestoreValues:
    content, path = json.dumps(values), f"{folder}/before.json"
    host.write_file(path, content, create=True, durable=True)
    return RestoreValues(path, sha256_of(content), host.boot_id, host.network)


def _not_held(host: Host, name: str, log: str, texts: list[str]) -> dict[str, str]:
    """What tuned complained of, and what does not hold without its daemon; it succeeds anyway."""
    not_held = {}
    try:
        lines = [line.partition(" ERROR ")[2].strip() for line in host.read_file(log).splitlines()]
    except AgentRefusal:
        lines = ["unreadable log"]
    if any(lines):
        not_held[f"{name}.errors"] = "; ".join(line for line in lines if line)
    if any("force_latency" in text for text in texts):
        not_held[f"{name}.not_held"] = "force_latency"
    return not_held


def _said(changed: Pairs) -> str:
    said = [f"{path}: {was} -> {now}" for path, (was, now) in changed.items()]
    return "; ".join(said) or "nothing"
