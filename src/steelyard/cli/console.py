"""The two streams: data on stdout, everything else on stderr."""

from __future__ import annotations

import sys
from pathlib import Path

from rich.console import Console
from rich.markup import escape

from steelyard.errors import Complaint, SteelyardError, StudyError
from steelyard.records.message_text import visible

MESSAGES_PAGE = "docs/reference/messages.md"
MOST_COMPLAINTS = 50
"""Of one file; the first ones are often the cause of the rest."""

stderr = Console(stderr=True, highlight=False, soft_wrap=True)


def say(line: str = "") -> None:
    """One line of data."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def tell(line: str = "") -> None:
    """One line for the person who watches."""
    stderr.print(escape(visible(line)))


def print_error(error: SteelyardError) -> None:
    """The message, every complaint with its place, and the hint."""
    if isinstance(error, StudyError):
        for complaint in error.complaints[:MOST_COMPLAINTS]:
            stderr.print(f"{escape(visible(str(complaint)))}")
            if complaint.hint:
                _hint(complaint.hint)
        if len(error.complaints) > MOST_COMPLAINTS:
            stderr.print(f"and {len(error.complaints) - MOST_COMPLAINTS} more")
    stderr.print(f"[bold red]error:[/] {escape(visible(error.message))}")
    if error.hint:
        _hint(error.hint)
    stderr.print(f"[dim]more: {MESSAGES_PAGE}#{error.slug}[/]")


def print_notice(notice: Complaint) -> None:
    """Something in a file that is read for now, and what to write instead."""
    stderr.print(f"{escape(visible(str(notice)))}")
    if notice.hint:
        _hint(notice.hint)


def _hint(text: str) -> None:
    stderr.print(f"  [cyan]hint:[/] {escape(visible(text))}")


def shown(path: Path) -> str:
    """A path as short as it can be said from here."""
    try:
        return str(path.absolute().relative_to(Path.cwd()))
    except ValueError:
        return str(path)
