"""The commands, each imported when it is asked for, and what it needs when it is called.

Statistics, charts and tables take seconds of processor time to import: who asks for help, or
for a command that needs none of them, does not wait. numpy is loaded with one thread, because
its pool would disturb what is measured.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import wraps
from importlib import import_module
from typing import Any, NamedTuple

import typer
from typer.core import TyperGroup
from typer.main import get_command, get_group

from steelyard.cli.ending import with_exit_code

Command = Any
"""A command of click: Typer brings click itself or a copy of it, by its version."""

PLAIN: Mapping[str, Any] = {
    "add_completion": False,
    "rich_markup_mode": None,
    "pretty_exceptions_enable": False,
    "context_settings": {"max_content_width": 100},
}
"""Of every application: what draws boxes takes longer to load than all else that help needs."""

_BLAS_THREADS = "OPENBLAS_NUM_THREADS"
_COLLECT_AFTER = 50_000
"""So many objects more, in place of 700."""


class Entry(NamedTuple):
    """Where a command is, as ``module:name`` below ``steelyard.cli``, and its line of help.

    The name is that of a function, or of the Typer application of a group. ``group`` is where
    the list of commands has it, ``examples`` end its help. ``needs`` is the module below
    ``steelyard`` with all that is slow to load, loaded when the command is called.
    """

    place: str
    help: str
    group: str
    examples: tuple[str, ...] = ()
    needs: str = ""
    settings: Mapping[str, Any] = {}


def table(entries: Mapping[str, Entry], **settings: Any) -> typer.Typer:
    """An application that lists all commands by their lines, and loads the one that is called."""

    class Loading(TyperGroup):
        def resolve_command(
            self, ctx: Any, args: list[str]
        ) -> tuple[str | None, Command, list[str]]:
            name, known, rest = super().resolve_command(ctx, args)
            command = known if name is None else load(name, entries[name])
            return name, command, rest

        def format_commands(self, ctx: Any, formatter: Any) -> None:
            del ctx
            widest = max(map(len, entries))
            for group in dict.fromkeys(entry.group for entry in entries.values()):
                own = {name: each for name, each in entries.items() if each.group == group}
                rows = [(name.ljust(widest), each.help) for name, each in own.items()]
                with formatter.section(group):
                    formatter.write_dl(rows)

    app = typer.Typer(cls=Loading, **{**PLAIN, **settings})
    for name, entry in entries.items():
        app.command(name, help=entry.help)(_unloaded)
    return app


def load(name: str, entry: Entry) -> Command:
    """The command itself."""
    module, attribute = entry.place.split(":")
    found: typer.Typer | Callable[..., int | None] = getattr(
        import_module(f"steelyard.cli.{module}"), attribute
    )
    if isinstance(found, typer.Typer):
        _collect()
        group = get_group(found)
        group.epilog = _examples(entry)
        return group
    alone = typer.Typer(**PLAIN)
    prepared = _prepared(found, entry.needs)
    ending = with_exit_code(prepared) if not entry.settings else prepared
    alone.command(name, epilog=_examples(entry), **entry.settings)(ending)
    return get_command(alone)


def _examples(entry: Entry) -> str | None:
    """Lines that are not wrapped."""
    return (
        "\n".join(("\b\nExamples:", *(f"  {each}" for each in entry.examples)))
        if (entry.examples)
        else None
    )


def _prepared(command: Callable[..., int | None], needs: str) -> Callable[..., int | None]:
    @wraps(command)
    def prepared(*arguments: Any, **options: Any) -> int | None:
        if needs:
            with _one_thread():
                import_module(f"steelyard.{needs}")
        _collect()
        return command(*arguments, **options)

    return prepared


def _collect() -> None:
    """From here on garbage is collected, apart from all that was loaded."""
    gc.freeze()
    gc.set_threshold(_COLLECT_AFTER)
    gc.enable()


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
