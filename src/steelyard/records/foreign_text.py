"""Text of programs that are measured, before it reaches a terminal, a report or a record.

A control character may move the cursor, rename the window or hide what follows; a character that
changes the direction of writing shows a text other than it is. Each is shown by its number.
"""

from __future__ import annotations

import re

_UNSAFE = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]"
)
"""All but line feed and tab."""


def visible(text: str) -> str:
    r"""The text with what would act on a terminal written out, as ``\x1b``."""
    return _UNSAFE.sub(_by_number, text.replace("\r\n", "\n"))


def _by_number(found: re.Match[str]) -> str:
    number = ord(found[0])
    return f"\\x{number:02x}" if number < 256 else f"\\u{number:04x}"
