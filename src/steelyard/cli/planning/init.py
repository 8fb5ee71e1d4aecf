"""``steelyard init``: a study to start from, by the question that it asks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Annotated

import typer

from steelyard.cli import schema
from steelyard.cli.console import command, shown, tell, with_places
from steelyard.errors import HostError

QUESTIONS = {
    "mail": "what durable delivery costs a mail server",
    "web": "what HTTPS costs a web server",
    "disk": "what flushing each block costs on this disk",
    "command": "what a setting costs a command",
}
"""Those of ``catalogue/templates``; the first is written unless another is asked for."""
_SCHEMA_LINE = "# yaml-language-server: $schema="
_SCHEMA_FILE = "schemas/{}.schema.json"
"""Beside the study, so that it goes with it to whoever opens it in an editor."""


def init(
    what: Annotated[
        str | None,
        typer.Argument(
            metavar="QUESTION",
            autocompletion=lambda incomplete: [q for q in QUESTIONS if q.startswith(incomplete)],
            help=f"{', '.join(QUESTIONS)}; without it {next(iter(QUESTIONS))}.",
            show_default=False,
        ),
    ] = None,
    path: Annotated[
        Path | None,
        typer.Argument(
            help="File to write, study.yaml by default; a name without .yaml becomes a folder.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Write a commented study that runs as it is: of mail, web, disk or command."""
    if what is not None and what not in QUESTIONS:
        if path is not None:
            raise typer.BadParameter(f"name one of {', '.join(QUESTIONS)}", param_hint="QUESTION")
        path, what = Path(what), None
    path = path or Path("study.yaml")
    target = path if path.suffix in {".yaml", ".yml"} else path / "study.yaml"
    name = target.parent.name if target.name == "study.yaml" and path != target else target.stem
    written = templates(name, what or next(iter(QUESTIONS)))
    texts = {
        target if file == "study.yaml" else target.parent / file: text
        for file, text in written.items()
    }
    for file in texts:
        if file.exists():
            raise _there_already(file)
    for file, text in texts.items():
        _write(file, text)
    for kind in dict.fromkeys(map(_kind, written)):
        beside = target.parent / _SCHEMA_FILE.format(kind)
        if not beside.exists():  # that of another study in this folder
            _write(beside, schema.text(kind))
    tell(f"next: {command('plan', target)}")


def _write(target: Path, text: str) -> None:
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with target.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError as error:
        raise _there_already(target) from error
    except OSError as error:
        raise HostError(
            f"cannot write {target}: {error.strerror}",
            hint="name a folder that you may write to",
            slug="cannot-write",
        ) from error
    tell(f"wrote {shown(target)}")


def _there_already(target: Path) -> HostError:
    return HostError(
        f"{target} is there already",
        hint="name another file; init never overwrites",
        slug="file-exists",
    )


def templates(name: str, question: str = "mail") -> dict[str, str]:
    """The files of a first study called ``name``, by path; what a name cannot hold becomes ``-``.

    Each begins with the line by which editors find its schema.
    """
    folder = resources.files("steelyard.catalogue").joinpath("templates", question)
    clean = re.sub(r"[^A-Za-z0-9_.+-]+", "-", name).strip("-.+_")[:80] or "my-study"
    plain = re.search(r"[A-Za-z]", clean) and clean.lower() not in ("true", "false", "null")
    places = {
        "{name}": clean if plain else f'"{clean}"',
        "{reference}": with_places("docs/reference/study-file.md"),
        "{workload_reference}": with_places("docs/reference/workload-file.md"),
    }
    return {
        path: f"{_SCHEMA_LINE}{'../' * path.count('/')}{_SCHEMA_FILE.format(_kind(path))}\n"
        + _filled(text, places)
        for path, text in _files(folder)
    }


def _kind(path: str) -> str:
    """What a file of a template is, by the name of its schema."""
    return "study" if path == "study.yaml" else "workload-file"


def _files(folder: Traversable, below: str = "") -> Iterator[tuple[str, str]]:
    for each in sorted(folder.iterdir(), key=lambda file: file.name):
        if each.is_dir():
            yield from _files(each, f"{below}{each.name}/")
        else:
            yield f"{below}{each.name}", each.read_text(encoding="utf-8")


def _filled(text: str, places: dict[str, str]) -> str:
    for place, word in places.items():
        text = text.replace(place, word)
    return text
