"""``steelyard init``: a study file to start from."""

from __future__ import annotations

import re
from importlib import resources
from pathlib import Path
from typing import Annotated

import typer

from steelyard.cli.console import shown, tell
from steelyard.errors import HostError


def init(
    path: Annotated[
        Path, typer.Argument(help="File to write; a name without .yaml becomes a folder.")
    ] = Path("study.yaml"),
) -> None:
    """Write a commented study file that runs as it is."""
    target = path if path.suffix in {".yaml", ".yml"} else path / "study.yaml"
    name = target.parent.name if target.name == "study.yaml" and path != target else target.stem
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with target.open("x", encoding="utf-8") as file:
            file.write(template(name))
    except FileExistsError as error:
        raise HostError(
            f"{target} is there already",
            hint="name another file; init never overwrites",
            slug="file-exists",
        ) from error
    except OSError as error:
        raise HostError(
            f"cannot write {target}: {error.strerror}",
            hint="name a folder that you may write to",
            slug="cannot-write",
        ) from error
    tell(f"wrote {shown(target)}")
    tell(f"next: steelyard plan {shown(target)}")


def template(name: str) -> str:
    """The text of a first study called ``name``; what a name cannot hold becomes ``-``."""
    file = resources.files("steelyard.catalogue").joinpath("template.yaml")
    clean = re.sub(r"[^A-Za-z0-9_.+-]+", "-", name).strip("-.+_")[:80] or "my-study"
    plain = re.search(r"[A-Za-z]", clean) and clean.lower() not in ("true", "false", "null")
    quoted = clean if plain else f'"{clean}"'
    return file.read_text(encoding="utf-8").replace("{name}", quoted, 1)
