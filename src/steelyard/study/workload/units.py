"""Which units the responses of a tool may have. Pure.

Values are stored in one unit of each kind, so that systems and tools can be held against each
other; what a tool prints is multiplied once, where it is read.
"""

from __future__ import annotations

import difflib
import re
from decimal import Decimal

from steelyard import units

STORED = ("ns", "s", "bytes", "bytes/s", "ratio", "cores", "GFLOP/s", "W", "J")
"""Units of what is measured. What is counted has its plural noun, perhaps by the second."""

_COUNTED = re.compile(r"[a-z]+(?:[ -][a-z]+)*s(?:/s)?", re.ASCII)
_TIME = re.compile(r"[a-z]*sec(?:s|onds?)?", re.ASCII)
_BYTES = re.compile(r"[kmgtp]?i?(?:b|bits?|bytes?)(/s|/sec|ps)?", re.ASCII | re.IGNORECASE)
_WRITTEN_OUT = {
    "percent": "%",
    "sec": "s", "secs": "s", "second": "s", "seconds": "s",
    "msec": "ms", "msecs": "ms", "millisecond": "ms", "milliseconds": "ms",
    "usec": "us", "usecs": "us", "microsecond": "us", "microseconds": "us",
    "nsec": "ns", "nsecs": "ns", "nanosecond": "ns", "nanoseconds": "ns",
    "mins": "min", "minute": "min", "minutes": "min", "hour": "h", "hours": "h",
    "day": "d", "days": "d",
    "byte": "B", "kilobytes": "kB", "megabytes": "MB", "gigabytes": "GB",
    "bits": "bit", "bits/s": "bit/s", "kbits/s": "kbit/s", "Mbits/s": "Mbit/s",
    "Gbits/s": "Gbit/s", "bps": "bit/s", "kbps": "kbit/s", "Mbps": "Mbit/s", "Gbps": "Gbit/s",
}  # fmt: skip

Alike = dict[str, tuple[str, Decimal]]


def _alike() -> Alike:
    """What else is written for a stored unit: which that is, and how much of it one is."""
    alike: Alike = {
        "%": ("ratio", Decimal("0.01")),
        "mW": ("W", Decimal("0.001")),
        "kW": ("W", Decimal(1000)),
        "watts": ("W", Decimal(1)),
        "kJ": ("J", Decimal(1000)),
        "Wh": ("J", Decimal(3600)),
        "kWh": ("J", Decimal(3600000)),
        "joules": ("J", Decimal(1)),
        "MFLOP/s": ("GFLOP/s", Decimal("0.001")),
        "TFLOP/s": ("GFLOP/s", Decimal(1000)),
    }
    for name, size in units.known("duration").items():
        alike[name] = ("s", size) if size >= 1 else ("ns", size * 10**9)
    for name, size in units.known("size").items():
        alike |= {name: ("bytes", size)}
        alike |= {f"{name}/{second}": ("bytes/s", size) for second in ("s", "sec")}
    for name, size in units.known("rate").items():
        alike |= {name: ("bytes/s", size / 8), name.removesuffix("/s"): ("bytes", size / 8)}
    return alike | {word: alike[name] for word, name in _WRITTEN_OUT.items()}


_ALIKE = _alike()


def unit_mistake(unit: str, scale: float | None) -> tuple[str, str] | None:
    """What is wrong with the unit of a response, and what to write; ``None`` where it is right.

    ``scale`` is what its numbers are multiplied by already, where that is one number.
    """
    if unit in STORED:
        return None
    message = f"no value is stored in `{unit}`"
    if unit in _ALIKE:
        stored, factor = _ALIKE[unit]
        return message, f"values are stored in {stored}: write {_instead(stored, factor, scale)}"
    bytes_like = _BYTES.fullmatch(unit)
    if bytes_like is not None:
        stored = "bytes/s" if bytes_like[1] else "bytes"
        hint = f"values are stored in {stored}: write `unit: {stored}`, and as `scale` what one"
        return message, f"{hint} {unit} is in it"
    if _TIME.fullmatch(unit) is not None:
        return message, "times are stored in ns or s: write `unit: ns`, and as `scale` the factor"
    if _COUNTED.fullmatch(unit) is not None:
        return None
    near = difflib.get_close_matches(unit.lower(), STORED, n=1, cutoff=0.6)
    meant = f"did you mean `{near[0]}`? " if near else ""
    return message, f"{meant}units: {', '.join(STORED)}, and plural nouns, as `passes`, `passes/s`"


def _instead(stored: str, factor: Decimal, scale: float | None) -> str:
    """The keys to write; the scale only where it is one number that can be known."""
    if scale is None:
        return f"`unit: {stored}`, and `scale` for it"
    factor *= Decimal(str(scale))
    return f"`unit: {stored}`" + ("" if factor == 1 else f" and `scale: {_plain(factor)}`")


def _plain(number: Decimal) -> str:
    text = f"{number:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
