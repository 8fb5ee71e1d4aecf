"""Quantities: what an author writes into exact numbers, and numbers into what a person reads.

Base units: bytes, seconds, bits per second, ratios (``2 %`` is 0.02), whole counts. Parsing is
decimal and exact; only the last step makes a float, where the base unit is not whole.
"""

from __future__ import annotations

import difflib
import re
from decimal import Decimal
from typing import Any, Literal, cast

Kind = Literal["size", "duration", "rate", "share", "count", "number"]

_UNITS: dict[Kind, dict[str, Decimal]] = {
    "size": {
        "B": Decimal(1),
        **{f"{p}B": Decimal(1000) ** i for i, p in enumerate("kMGT", start=1)},
        **{f"{p}iB": Decimal(1024) ** i for i, p in enumerate("KMGT", start=1)},
    },
    "duration": {
        "ns": Decimal("1e-9"),
        "us": Decimal("1e-6"),
        "µs": Decimal("1e-6"),
        "ms": Decimal("1e-3"),
        "s": Decimal(1),
        "min": Decimal(60),
        "h": Decimal(3600),
        "d": Decimal(86400),
    },
    "rate": {
        "bit/s": Decimal(1),
        **{f"{p}bit/s": Decimal(1000) ** i for i, p in enumerate("kMG", start=1)},
    },
    "share": {"%": Decimal("0.01")},
    "count": {},
    "number": {},
}
_EXAMPLES: dict[Kind, str] = {
    "size": "4 KiB",
    "duration": "100 ms",
    "rate": "100 Mbit/s",
    "share": "2 %",
    "count": "10",
    "number": "0.5",
}
_NOUNS: dict[Kind, str] = {kind: f"a {kind}" for kind in _UNITS} | {"count": "a whole number"}
_WHOLE: frozenset[Kind] = frozenset({"size", "count"})
MOST_COUNT = 2**53 - 1
"""Beyond it a float, and a reader of JSON, no longer holds every whole number."""
_LIMIT = Decimal(MOST_COUNT)
_NUMBER = re.compile(r"([+-]?[0-9]{1,18}(?:\.[0-9]{1,18})?)\s*(\S.*)?", re.ASCII | re.DOTALL)
_TOO_LARGE = re.compile(r"[+-]?[0-9]{19,}(?:\.[0-9]*)?\s*(?:[^0-9\s].*)?", re.ASCII | re.DOTALL)
_TOO_FINE = re.compile(r"[+-]?[0-9]{1,18}\.[0-9]{19,}\s*(?:[^0-9\s].*)?", re.ASCII | re.DOTALL)
_RANGE = re.compile(r"(.+?)\s*\.\.\s*(.+?)(?:\s+(?:(doubling)|by\s+(.+)))?", re.DOTALL)
MOST_LEVELS = 1000


class UnitError(ValueError):
    """A quantity cannot be read; ``hint`` says how to write it."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


def _shown(written: object) -> str:
    text = str(written).lower() if isinstance(written, bool) else str(written)
    return f"`{text if len(text) <= 40 else text[:37] + '...'}`"


def _unit_hint(kind: Kind, unit: str) -> str:
    known = list(_UNITS[kind])
    folded = {name.lower(): name for name in known}
    near = difflib.get_close_matches(unit.lower(), folded, n=1, cutoff=0.5)
    meant = f"did you mean `{folded[near[0]]}`? " if near else ""
    return f"{meant}known units: {', '.join(known)}"


def _factor(written: object, kind: Kind, number: str, unit: str | None) -> Decimal:
    units = _UNITS[kind]
    if unit is None:
        if units and Decimal(number) != 0:
            plain = next((name for name, size in units.items() if size == 1), "%")
            example = f"{number} {plain}"
            raise UnitError(
                f"{_shown(written)} has no unit: {_NOUNS[kind]} is expected",
                f"write it like `{_EXAMPLES[kind]}`; known units: {', '.join(units)} "
                f"(`{example}` if that is what was meant)",
            )
        return Decimal(1)
    if unit not in units:
        if not units:
            raise UnitError(
                f"{_shown(written)} is not {_NOUNS[kind]}", f"write it like `{_EXAMPLES[kind]}`"
            )
        raise UnitError(
            f"{_shown(written)} is not {_NOUNS[kind]}: unit {_shown(unit)} is not known",
            _unit_hint(kind, unit),
        )
    return units[unit]


def _digits_of(written: float | str) -> str:
    """Without the exponent that Python writes: YAML gives 0.00001 as 1e-05."""
    if isinstance(written, float):
        return format(Decimal(str(written)), "f")
    return str(written).strip()


def _exact(written: object, kind: Kind) -> Decimal:
    if isinstance(written, bool) or not isinstance(written, int | float | str):
        found = "a mapping" if isinstance(written, dict) else _shown(written)
        found = "a list" if isinstance(written, list) else found
        raise UnitError(f"{found} is not {_NOUNS[kind]}", f"write it like `{_EXAMPLES[kind]}`")
    text = _digits_of(written)
    if _TOO_LARGE.fullmatch(text):
        raise _too_large(written)
    if _TOO_FINE.fullmatch(text):
        raise UnitError(
            f"{_shown(written)} has too many digits", "write 18 after the point at most"
        )
    match = _NUMBER.fullmatch(text)
    if match is None:
        raise UnitError(
            f"{_shown(written)} is not {_NOUNS[kind]}", f"write it like `{_EXAMPLES[kind]}`"
        )
    value = Decimal(match[1]) * _factor(written, kind, match[1], match[2])
    if abs(value) > _LIMIT:
        raise _too_large(written)
    if kind in _WHOLE and value != value.to_integral_value():
        noun = "whole bytes" if kind == "size" else "a whole number"
        raise UnitError(f"{_shown(written)} is not {noun}", f"write it like `{_EXAMPLES[kind]}`")
    return value


def _too_large(written: object) -> UnitError:
    return UnitError(f"{_shown(written)} is too large", "write a smaller quantity")


def _number(value: Decimal, kind: Kind) -> int | float:
    whole = kind in _WHOLE or (kind == "number" and value == value.to_integral_value())
    return int(value) if whole else float(value)


def parse(written: object, kind: Kind) -> int | float:
    """One quantity in its base unit: whole for sizes and counts. Raises ``UnitError``."""
    value = _exact(written, kind)
    if value < 0 and kind != "number":
        raise UnitError(f"{_shown(written)} is below zero", f"write it like `{_EXAMPLES[kind]}`")
    return _number(value, kind)


def known(kind: Kind) -> dict[str, Decimal]:
    """Units of a kind, each with how many of the base unit it is."""
    return dict(_UNITS[kind])


def pattern(kind: Kind) -> str:
    """What ``parse`` reads as a quantity of this kind, for JSON schemas; it may read less."""
    names = "|".join(re.escape(name) for name in _UNITS[kind])
    sign = "[+-]?" if kind == "number" else r"(?:\+|-(?=0+(?:\.0+)?(?![0-9.])))?"
    number = rf"{sign}[0-9]{{1,18}}(?:\.[0-9]{{1,18}})?"
    zero = r"[+-]?0+(?:\.0+)?"
    return rf"^\s*(?:{number}\s*(?:{names})|{zero})\s*$" if names else rf"^\s*{number}\s*$"


def is_range(written: object) -> bool:
    """Whether this is written as a range: ``1..10``."""
    return isinstance(written, str) and _RANGE.fullmatch(written.strip()) is not None


def parse_range(written: str, kind: Kind) -> tuple[int | float, ...]:
    """Levels of ``1..10``, ``20..100 by 10`` or ``1 KiB..32 MiB doubling``, both ends included."""
    match = _RANGE.fullmatch(written.strip())
    if match is None:
        raise UnitError(f"{_shown(written)} is not a range", "write it like `20..100 by 10`")
    low, high = _exact(match[1], kind), _exact(match[2], kind)
    if low < 0 or low >= high:
        raise UnitError(f"{_shown(written)} does not rise", "write the smaller end first")
    if match[3]:
        levels = _doubling(written, low, high)
    else:
        levels = _stepping(written, kind, low, high, match[4])
    if levels[-1] != high:
        raise UnitError(
            f"{_shown(written)} does not end on a step",
            "choose an end that is a whole number of steps away",
        )
    return tuple(_number(level, kind) for level in levels)


def _doubling(written: str, low: Decimal, high: Decimal) -> list[Decimal]:
    if low == 0:
        raise UnitError(f"{_shown(written)} cannot double from zero", "start at 1")
    levels = [low]
    while levels[-1] * 2 <= high:
        levels.append(levels[-1] * 2)
    return levels


def _stepping(
    written: str, kind: Kind, low: Decimal, high: Decimal, by: str | None
) -> list[Decimal]:
    if by is None and kind != "count":
        raise UnitError(
            f"{_shown(written)} does not say its steps", "write `doubling` or `by ...` behind it"
        )
    step = Decimal(1) if by is None else _exact(by, kind)
    if step <= 0:
        raise UnitError(f"{_shown(written)} has no step above zero", "write `by` and a step")
    count = int((high - low) / step) + 1
    if count > MOST_LEVELS:
        raise UnitError(
            f"{_shown(written)} has {count} levels, more than {MOST_LEVELS}", "take larger steps"
        )
    return [low + step * i for i in range(count)]


def _rounded(value: float) -> str:
    """Three significant digits, without an exponent and without idle zeros."""
    if value == 0:
        return "0"
    rounded = Decimal(f"{value:.3g}")
    text = f"{rounded:,f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _scaled(value: float, steps: list[tuple[float, str]]) -> str:
    for size, unit in steps:
        if abs(value) >= size * 0.9995:
            return f"{_rounded(value / size)} {unit}"
    size, unit = steps[-1]
    return f"{_rounded(value / size)} {unit}"


_BYTE_STEPS = [(1024.0**i, unit) for i, unit in enumerate(["B", "KiB", "MiB", "GiB", "TiB"])][::-1]
_TIME_STEPS = [(1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns")]


def format_bytes(size_bytes: float) -> str:
    """``4 KiB``, to three digits."""
    return _scaled(size_bytes, _BYTE_STEPS)


def format_duration(duration_s: float) -> str:
    """``250 ms``, ``2.5 s``, ``3 min 5 s``, ``2 h 10 min``."""
    if abs(duration_s) < 59.95:
        return "0 s" if duration_s == 0 else _scaled(duration_s, _TIME_STEPS)
    minutes, seconds = divmod(round(duration_s), 60)
    hours, minutes = divmod(minutes, 60)
    parts = [(hours, "h"), (minutes, "min"), (0 if hours else seconds, "s")]
    return " ".join(f"{count} {unit}" for count, unit in parts if count)


def format_ns(duration_ns: float) -> str:
    """``1.23 ms`` from nanoseconds."""
    return format_duration(duration_ns / 1e9)


def format_share(share_ratio: float) -> str:
    """``2.1 %`` from 0.021."""
    return f"{_rounded(share_ratio * 100)} %"


def format_margin(margin_ratio: float) -> str:
    """``20 % (0.833 to 1.2 times, -16.7 % to +20 %)`` from 0.2: as far either way in logarithms."""
    more, less = (
        Decimal(f"{100 * share:.3g}") for share in (margin_ratio, margin_ratio / (1 + margin_ratio))
    )
    times = f"{1 - less / 100:f} to {1 + more / 100:f} times"
    return f"{more:f} % ({times}, -{less:f} % to +{more:f} %)"


def format_count(count: float) -> str:
    """``12,345``; three digits below a thousand."""
    return f"{count:,.0f}" if abs(count) >= 1000 else _rounded(count)


def format_level(value: Any, kind: Kind | str) -> str:
    """A level as an author would write it, exactly: 4096 of kind ``size`` is ``4 KiB``.

    Of all units the one with the shortest number, not below 1 if that can be; of several the
    largest.
    """
    known = _UNITS.get(cast("Kind", kind), {})
    if not known or isinstance(value, str | bool):
        return str(value)
    exact = Decimal(str(value))
    if exact == 0:
        return "0"
    forms = [(exact / size, unit) for unit, size in known.items() if unit != "us"]
    number, unit = min(reversed(forms), key=lambda form: (form[0] < 1, len(_plain(form[0]))))
    return f"{_plain(number)} {unit}"


def _plain(number: Decimal) -> str:
    """All digits, without an exponent and without idle zeros."""
    text = f"{number:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
