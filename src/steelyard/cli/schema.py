"""``steelyard schema``: JSON schemas of the files that are written and read, for editors."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import steelyard
from steelyard.cli.console import say

_ENDING = ".schema.json"
NameArgument = Annotated[
    str | None,
    typer.Argument(
        autocompletion=lambda incomplete: [n for n in names() if n.startswith(incomplete)],
        help="As `study`; without it the names are listed.",
        show_default=False,
    ),
]


def schema(name: NameArgument = None) -> None:
    """Print the JSON schema of a kind of file: what editors complete and check by."""
    if name is None:
        for each in names():
            say(each)
        return
    if name not in names():
        raise typer.BadParameter(f"{name!r} is none of {', '.join(names())}", param_hint="NAME")
    say(text(name).rstrip())


def names() -> list[str]:
    """What there are schemas of."""
    return sorted(file.name.removesuffix(_ENDING) for file in _folder().glob(f"*{_ENDING}"))


def text(name: str) -> str:
    """The schema of this name, which must be one of ``names``."""
    return (_folder() / f"{name}{_ENDING}").read_text(encoding="utf-8")


def _folder() -> Path:
    """A wheel brings them, a checkout has them."""
    package = Path(steelyard.__file__).parent
    brought = package / "schemas"
    return brought if brought.is_dir() else package.parents[1] / "schemas"
