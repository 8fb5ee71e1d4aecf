"""The commands, each imported when it is asked for and not before.

Statistics, charts and tables take seconds of processor time to import: who asks for help, or
for a command that needs none of them, does not wait. numpy is loaded with one thread, because
its pool would disturb what is measured.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from typing import Any, NamedTuple

import typer
from typer.core import TyperGroup
from typer.main import get_command, get_group

from steelyard.cli.ending import with_exit_code

Command = Any
"""A command of click: Typer brings click itself or a copy of it, by its version."""

_BLAS_THREADS = "OPENBLAS_NUM_THREADS"


class Entry(NamedTuple):
    """Where a command is, as ``module:name`` below ``steelyard.cli``, and its line of help.

    The name is that of a function, or of the Typer application of a group.
    """

    place: str
    help: str
    settings: Mapping[str, Any] = {}


def table(entries: Mapping[str, Entry], **settings: Any) -> typer.Typer:
    """An application that lists all commands by their lines, and loads the one that is called."""

    class Loading(TyperGroup):
        def resolve_command(
            self, ctx: Any, args: list[str]
        ) -> tuple[str | None, Command, list[str]]:
            name, known, rest = super().resolve_command(ctx, args)
            command = known if name is None else load(name, entries[name], settings)
            return name, command, rest

    app = typer.Typer(cls=Loading, **settings)
    for name, entry in entries.items():
        app.command(name, help=entry.help)(_unloaded)
    return app


def load(name: str, entry: Entry, settings: Mapping[str, Any]) -> Command:
    """The command itself."""
    module, attribute = entry.place.split(":")
    with _one_thread():
        found: typer.Typer | Callable[..., int | None] = getattr(
            import_module(f"steelyard.cli.{module}"), attribute
        )
    if isinstance(found, typer.Typer):
        return get_group(found)
    alone = typer.Typer(**{**settings, "no_args_is_help": False, "help": None, "epilog": None})
    alone.command(name, **entry.settings)(with_exit_code(found))
    return get_command(alone)


def _unloaded() -> None:
    """Stands for a command in the list of commands."""


@contextmanager
def _one_thread() -> Iterator[None]:
    """The variable for numpy is reset at once, so that no service under test inherits it."""
    before = os.environ.get(_BLAS_THREADS)
    os.environ[_BLAS_THREADS] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[_BLAS_THREADS]
        else:
            os.environ[_BLAS_THREADS] = before
