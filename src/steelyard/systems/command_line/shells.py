"""Words for whoever reads them: no shell, a POSIX shell far away, or PowerShell far away."""

from __future__ import annotations

import base64
import shlex
from collections.abc import Callable, Sequence
from xml.sax.saxutils import escape

from steelyard.study.declared.placeholders import Quote, Value, as_it_is

_PREAMBLE = "$ErrorActionPreference = 'Stop'; $ProgressPreference = 'SilentlyContinue'\n"
_POWERSHELL = ("powershell", "-NoProfile", "-NonInteractive", "-OutputFormat", "Text")
_SINGLE_QUOTES = "'\u2018\u2019\u201a\u201b"
"""PowerShell takes typographic quotation marks for single quotes, too."""


def xml(_value: Value, text: str) -> str:
    """A value as text or attribute of XML."""
    return escape(text, {'"': "&quot;", "'": "&apos;"})


def powershell(value: Value, text: str) -> str:
    """A value as a literal of PowerShell: in single quotes nothing is expanded."""
    if isinstance(value, bool):
        return f"${text}"
    if isinstance(value, int | float):
        return text
    return f"'{''.join(2 * c if c in _SINGLE_QUOTES else c for c in text)}'"


def sh(_value: Value, text: str) -> str:
    """A value as one word of a POSIX shell."""
    return shlex.quote(text)


QUOTES: dict[str, Quote] = {"none": as_it_is, "xml": xml, "sh": sh, "powershell": powershell}


def _words(words: Sequence[str]) -> tuple[str, ...]:
    return tuple(words)


def _joined(words: Sequence[str]) -> tuple[str, ...]:
    return (shlex.join(words),)


FAR_WORDS: dict[str, Callable[[Sequence[str]], tuple[str, ...]]] = {
    "none": _words,
    "powershell": _words,
    "sh": _joined,
}
"""What words become behind ``through``: ssh gives them to a shell, which must see one text."""


def far_script(shell: str, script: str) -> tuple[str, ...]:
    """The words that run a script in the shell far away.

    PowerShell takes it encoded, so that neither ssh nor the shell before it changes a letter; its
    exit code is that of the last program, or 1 for an error.
    """
    if shell == "powershell":
        encoded = base64.b64encode((_PREAMBLE + script).encode("utf-16-le")).decode()
        return (*_POWERSHELL, "-EncodedCommand", encoded)
    return (script,)
