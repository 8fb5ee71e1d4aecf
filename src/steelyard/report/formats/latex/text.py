"""Plain text as LaTeX sets it: every character as itself, in ASCII, with base fonts alone."""

from __future__ import annotations

import re
import unicodedata

_SPECIAL = {c: f"\\{c}" for c in "&%$#_{}"} | {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "`": r"\textasciigrave{}",
}
_SIGNS = {
    "\u00a0": "~",
    "−": "$-$",
    "–": "--",
    "—": "---",
    "…": r"\dots{}",
    "‘": "`",
    "’": "'",
    "“": "``",
    "”": "''",
    "«": r"$\ll$",
    "»": r"$\gg$",
    "×": r"$\times$",
    "÷": r"$\div$",
    "±": r"$\pm$",
    "·": r"$\cdot$",
    "≤": r"$\leq$",
    "≥": r"$\geq$",
    "≠": r"$\neq$",
    "≈": r"$\approx$",
    "→": r"$\to$",
    "←": r"$\leftarrow$",
    "∞": r"$\infty$",
    "µ": r"\textmu{}",
    "μ": r"\textmu{}",
    "α": r"$\alpha$",
    "β": r"$\beta$",
    "λ": r"$\lambda$",
    "σ": r"$\sigma$",
    "°": r"\textdegree{}",
    "²": "$^2$",
    "³": "$^3$",
    "€": r"\texteuro{}",
    "§": r"\S{}",
    "ß": r"\ss{}",
    "æ": r"\ae{}",
    "Æ": r"\AE{}",
    "œ": r"\oe{}",
    "Œ": r"\OE{}",
    "ø": r"\o{}",
    "Ø": r"\O{}",
    "ł": r"\l{}",
    "Ł": r"\L{}",
}
_ACCENTS = dict(zip("\u0300\u0301\u0302\u0303\u0304\u0306\u0307\u0308\u030a\u030b\u030c\u0327",
                    "`'^~=u.\"rHvc", strict=True))  # fmt: skip
_JOINED_WITH_ITSELF = "-',"
"""Two of these in a row would be set as one other sign."""


def typeset(text: str) -> str:
    """One line with true minus signs, and figures kept with their percent."""
    line = re.sub(r"(?<=\d) (?=%)", "\u00a0", " ".join(text.split()))
    return re.sub(r"(?<![\w.-])-(?=\d)", "−", line)


def escaped(text: str) -> str:
    """Text that LaTeX sets as it is, whatever it holds; there are no commands in it."""
    return characters(typeset(text))


def characters(text: str) -> str:
    """Each character as itself."""
    return "".join(
        ("{}" if sign == before and sign in _JOINED_WITH_ITSELF else "") + _character(sign)
        for before, sign in zip(f" {text}", text, strict=False)
    )


def _character(sign: str) -> str:
    found = _SPECIAL.get(sign) or _SIGNS.get(sign)
    if found is not None:
        return found
    return sign if " " <= sign <= "\u007e" else _composed(sign)


def _composed(sign: str) -> str:
    """A letter under its accents; the number of a character that base fonts do not have."""
    parts = unicodedata.normalize("NFD", sign)
    letter, marks = parts[0], parts[1:]
    if not (marks and letter.isascii() and all(mark in _ACCENTS for mark in marks)):
        return rf"\texttt{{U+{ord(sign):04X}}}"
    for mark in marks:
        letter = rf"\{_ACCENTS[mark]}{{{letter}}}"
    return letter
