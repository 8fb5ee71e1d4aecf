"""The line of a system: how fast, how late and how surely what it sends arrives, by tc.

``line.rate`` alone is a token bucket (tc-tbf(8)); with delay or loss all is done by tc-netem(8).
Both act on what leaves; ``line.received_rate`` leads what arrives through a device of its own
(ifb).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace

from steelyard.hosts.failures import SystemFailure
from steelyard.hosts.host import Host
from steelyard.hosts.tool import attempt, failed, tell
from steelyard.hosts.undo.actions.command import Command
from steelyard.study.declared.setting import OFF
from steelyard.study.model import Level
from steelyard.systems.settings.applied import Applied
from steelyard.systems.settings.changes import Changes

RECEIVED = "received_rate"
_MARK = "5ee1:"
_INGRESS = "steelyard-in"
_BURSTS_A_SECOND = 100
_LEAST_BURST_BYTES = 16_384
_LONGEST_QUEUE = "50ms"
_NETEM_PACKETS = 100_000
_NO_QDISC = '! tc qdisc show dev "$1" root | grep -q " $2 "'
_NO_INGRESS = '! tc filter show dev "$1" parent ffff: 2> /dev/null | grep -q "$2"'
_NO_DEVICE = '! ip link show dev "$1" > /dev/null 2>&1'
_MODULES = {"tbf": "sch_tbf", "netem": "sch_netem"}


def change_line(changes: Changes, name: str, levels: Mapping[str, Level]) -> list[Applied]:
    """What is sent, then what is received, on the device that leads to the other machines.

    The last of them bears all inverses.

    Raises:
        SystemFailure: ``not_supported``: the kernel cannot do it; ``no_rights``, ``tool_missing``.
    """
    applied = [Applied(f"{name}.{key}", level) for key, level in levels.items() if level == OFF]
    sent = {key: level for key, level in levels.items() if level != OFF and key != RECEIVED}
    received = levels.get(RECEIVED, OFF)
    device = _device(changes.host) if sent or received != OFF else ""
    first = len(changes.made)
    if sent:
        applied += _shaped(changes, name, device, sent)
    if received != OFF:
        device = _led_aside(changes, device)
        applied += _shaped(changes, name, device, {RECEIVED: received})
    return [*applied[:-1], replace(applied[-1], undos=tuple(changes.made[first:]))]


def refuse_unavailable_line(host: Host, key: str) -> None:
    """Tries it in a network namespace that is gone at once.

    Raises:
        SystemFailure: ``not_supported``, ``no_rights``.
    """
    isolated = ["unshare", "--net"]
    if key == RECEIVED:
        _told(host, [*isolated, "ip", "link", "add", _INGRESS, "type", "ifb"], "ifb")
        key = "rate"
    example = {"rate": 1_000_000, "delay": 0.001, "loss": 0.01}[key]
    words = discipline({key: example})
    _told(host, [*isolated, "tc", "qdisc", "add", "dev", "lo", "root", *words], words[0])


def discipline(levels: Mapping[str, Level]) -> list[str]:
    """The words of tc for a rate (bit/s), a delay (s) and a share of packets that are lost."""
    rate = levels.get("rate", levels.get(RECEIVED))
    bits = [] if rate is None else ["rate", f"{round(float(rate))}bit"]
    if levels.keys().isdisjoint({"delay", "loss"}):
        burst_bytes = max(_LEAST_BURST_BYTES, round(float(rate or 0) / 8 / _BURSTS_A_SECOND))
        return ["tbf", *bits, "burst", f"{burst_bytes}b", "latency", _LONGEST_QUEUE]
    words = ["netem", "limit", str(_NETEM_PACKETS)]
    if "delay" in levels:
        words += ["delay", f"{round(float(levels['delay']) * 1e6)}us"]
    if "loss" in levels:
        words += ["loss", f"{float(levels['loss']) * 100:g}%"]
    return [*words, *bits]


def _shaped(changes: Changes, name: str, device: str, levels: Mapping[str, Level]) -> list[Applied]:
    host, words = changes.host, discipline(levels)
    gone = ("sh", "-c", _NO_QDISC, "sh", device, _MARK)
    remove = ("tc", "qdisc", "del", "dev", device, "root")
    changes.plan(Command(remove, f"remove the traffic shaping of {device}", unless=gone))
    add = ["tc", "qdisc", "add", "dev", device, "root", "handle", _MARK, *words]
    _told(host, add, words[0])
    now = tell(host, ["tc", "qdisc", "show", "dev", device, "root"])
    settings = {f"{name}.{key}": level for key, level in levels.items()}
    return [Applied(each, level, facts={each: now}) for each, level in settings.items()]


def _led_aside(changes: Changes, device: str) -> str:
    """The device through which all goes that arrives at another."""
    host = changes.host
    gone = ("sh", "-c", _NO_DEVICE, "sh", _INGRESS)
    remove = ("ip", "link", "delete", _INGRESS)
    changes.plan(Command(remove, f"remove the network device {_INGRESS}", unless=gone))
    _told(host, ["ip", "link", "add", _INGRESS, "type", "ifb"], "ifb")
    tell(host, ["ip", "link", "set", _INGRESS, "up"])
    not_ours = ("sh", "-c", _NO_INGRESS, "sh", device, _INGRESS)
    receive = ("tc", "qdisc", "del", "dev", device, "ingress")
    changes.plan(Command(receive, f"let {device} receive as before", unless=not_ours))
    tell(host, ["tc", "qdisc", "add", "dev", device, "handle", "ffff:", "ingress"])
    every = ["parent", "ffff:", "protocol", "all", "u32", "match", "u32", "0", "0"]
    aside = ["action", "mirred", "egress", "redirect", "dev", _INGRESS]
    tell(host, ["tc", "filter", "add", "dev", device, *every, *aside])
    return _INGRESS


def _device(host: Host) -> str:
    """The network device by which other machines are reached."""
    told = tell(host, ["ip", "-json", "-4", "route", "show", "default"])
    devices = [route["dev"] for route in json.loads(told or "[]") if "dev" in route]
    if not devices:
        message = f"on {host.name}: no route leads to other machines"
        raise SystemFailure("not_supported", message, "give the system `network: lab`")
    return str(devices[0])


def _told(host: Host, argv: list[str], kind: str) -> None:
    """Runs a command that needs a part of the kernel.

    Raises:
        SystemFailure: ``not_supported``: the kernel lacks it, with how to get it.
    """
    ran = attempt(host, argv)
    if ran.succeeded:
        return
    failure = failed(host, argv, ran)
    if failure.kind != "tool_failed":
        raise failure
    module = _MODULES.get(kind, kind)
    message = f"on {host.name}: the kernel has no {module}, or cannot use it: {failure.message}"
    hint = (
        f"try `modprobe {module}`; where it is missing, install the modules of the kernel (Debian: "
        "linux-image-amd64 in place of the cloud kernel; Fedora: kernel-modules-extra), or take "
        "a guest whose kernel has it"
    )
    raise SystemFailure("not_supported", message, hint, last_words=ran.stderr)
