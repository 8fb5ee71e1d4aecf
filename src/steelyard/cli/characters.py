"""Characters that the encoding of stdout lacks, as in the locale ``C``: replaced, not fatal."""

from __future__ import annotations

import codecs
import io
import sys
from collections.abc import Sequence

_PLAIN, _JSON = "steelyard.plain", "steelyard.json"
_FATAL = {"strict", "surrogateescape"}
_NEAR = {"µ": "u", "–": "-", "—": "-", "−": "-", "×": "x", "·": "*"}
"""What tables and sentences hold; all others become ``?``."""


def replace_lacking(arguments: Sequence[str]) -> None:
    """From here on; with ``--json`` among the ``arguments`` by escapes of JSON, which lose nothing.

    A handler of errors that the environment names stays.
    """
    codecs.register_error(_PLAIN, _plain)
    codecs.register_error(_JSON, _escaped)
    handler = _JSON if "--json" in arguments else _PLAIN
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and stream.errors in _FATAL:
            stream.reconfigure(errors=handler)


def _plain(error: UnicodeError) -> tuple[str, int]:
    lacking, end = _lacking(error)
    return "".join(_NEAR.get(each, "?") for each in lacking), end


def _escaped(error: UnicodeError) -> tuple[str, int]:
    """Each by the number of its UTF-16 unit, or of two of them."""
    lacking, end = _lacking(error)
    units = lacking.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4)), end


def _lacking(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return error.object[error.start : error.end], error.end
