"""``steelyard init``: a study file to start from."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from steelyard.cli.console import shown, tell
from steelyard.errors import HostError
from steelyard.study.template import template


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
