"""The two streams: data on stdout, everything else on stderr."""

from __future__ import annotations

import re
import sys
from functools import cache
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

from steelyard.errors import Complaint, SteelyardError, StudyError
from steelyard.records.message_text import visible

if TYPE_CHECKING:
    from rich.console import Console

MESSAGES_PAGE = "docs/reference/messages.md"
_PAGE = re.compile(r"\bdocs/(?=(?:reference|guide|concepts|methods)/[\w-]+\.md)")
_PACKAGE = Path(__file__).parents[1]
MOST_COMPLAINTS = 50
"""Of one file; the first ones are often the cause of the rest."""


class Telling:
    """Progress and notices: all beside data and errors. Off with ``--quiet``."""

    quiet = False

    @classmethod
    def is_live(cls) -> bool:
        """Whether someone sees lines that change."""
        return not cls.quiet and stderr().is_terminal


@cache
def stderr() -> Console:
    """Made for its first line: help is printed without it."""
    from rich.console import Console

    return Console(stderr=True, highlight=False, soft_wrap=True)


def say(line: str = "") -> None:
    """One line of data."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def say_json(document: object) -> None:
    """A document as data, its keys in their order."""
    from json import dumps

    say(dumps(document, indent=2, ensure_ascii=False))


def tell(line: str = "") -> None:
    """One line for the person who watches."""
    if not Telling.quiet:
        _print("", line)


def warn(line: str) -> None:
    """One line on what is left out, which is an error in a part and said to everyone."""
    _print("", line)


def print_error(error: SteelyardError) -> None:
    """The message, every complaint with its place, and the hint."""
    if isinstance(error, StudyError):
        for complaint in error.complaints[:MOST_COMPLAINTS]:
            _complain(complaint)
        if len(error.complaints) > MOST_COMPLAINTS:
            _print("", f"and {len(error.complaints) - MOST_COMPLAINTS} more")
    _print("[bold red]error:[/] ", error.message)
    if error.hint:
        _hint(error.hint)
    stderr().print(f"[dim]more: {with_places(MESSAGES_PAGE)}#{error.slug}[/]")


def print_notice(notice: Complaint) -> None:
    """Something in a file that is read for now, and what to write instead."""
    if not Telling.quiet:
        _complain(notice)


def _complain(complaint: Complaint) -> None:
    _print("", str(complaint))
    if complaint.hint:
        _hint(complaint.hint)


def _hint(text: str) -> None:
    _print("  [cyan]hint:[/] ", with_places(text))


def _print(marked: str, text: str) -> None:
    """``marked`` may hold colours, ``text`` is printed as it stands."""
    from rich.markup import escape

    stderr().print(f"{marked}{escape(visible(text))}")


def with_places(text: str, package: Path = _PACKAGE) -> str:
    """Pages of the documentation by where they are: a wheel brings them, a checkout has them."""
    brought = package / "docs"
    return _PAGE.sub(f"{brought}/", text) if brought.is_dir() else text


def command(words: str, path: Path) -> str:
    """A command of this program on a path, to be copied into a shell."""
    return f"steelyard {words} {quote(shown(path))}"


def shown(path: Path) -> str:
    """A path as short as it can be said from here."""
    try:
        return str(path.absolute().relative_to(Path.cwd()))
    except ValueError:
        return str(path)
