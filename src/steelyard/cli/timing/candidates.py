"""Where the candidates of ``steelyard tune`` come from: lists, rows of a file, tuned profiles."""

from __future__ import annotations

import csv
import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import typer

from steelyard.cli.timing.command_lines import fill, parameter_values

FEWEST = 3
PROFILE = "profile"
_PROFILE_FILE = "tuned.conf"


@dataclass(frozen=True)
class Values:
    """The parameters of one candidate; its name is made of these."""

    of: dict[str, str]

    @property
    def name(self) -> str:
        """The value alone where there is one parameter."""
        if len(self.of) == 1:
            return next(iter(self.of.values()))
        return " ".join(f"{key}={value}" for key, value in self.of.items())

    def fill(self, line: str) -> str:
        return fill(line, self.of)


def candidates_of(
    lists: list[str], file: Path | None, profiles: Path | None, lines: tuple[str, ...]
) -> list[Values]:
    """Every combination of a value of each list with each row and each profile.

    Raises:
        typer.BadParameter: a list, a row or a folder is wrong, two candidates are the same, a
            parameter is used in none of ``lines``, or there are too few.
    """
    parts: list[list[dict[str, str]]] = [_of_list(each) for each in lists]
    parts += [[*_rows(file)]] if file is not None else []
    parts += [_profiles(profiles)] if profiles is not None else []
    names = [name for part in parts for name in part[0]]
    for name in names:
        _check_name(name, names, lines)
    found = [
        Values({key: value for each in chosen for key, value in each.items()})
        for chosen in itertools.product(*parts)
    ]
    if not parts or len(found) < FEWEST:
        raise typer.BadParameter(
            f"a search needs {FEWEST} candidates or more: give --parameter-list, --candidates or "
            "--profiles; `steelyard time` compares two",
            param_hint="--parameter-list",
        )
    return found


def baseline_of(candidates: list[Values], asked: str | None) -> str:
    """The name of the one that is in use; the first."""
    names = [each.name for each in candidates]
    if asked is None:
        return names[0]
    if asked not in names:
        shown = ", ".join(names[:5])
        raise typer.BadParameter(
            f"{asked!r} is no candidate: {shown}, ...", param_hint="--baseline"
        )
    return asked


def _check_name(name: str, names: list[str], lines: tuple[str, ...]) -> None:
    if names.count(name) > 1:
        raise typer.BadParameter(f"the parameter `{name}` is given twice")
    if not any(f"{{{name}}}" in line for line in lines):
        raise typer.BadParameter(
            f"neither the command nor --setup nor --prepare holds {{{name}}}: all candidates would "
            "be the same"
        )


def _of_list(parameter: str) -> list[dict[str, str]]:
    pairs = parameter_values(parameter)
    values = [value for _, value in pairs]
    if not all(values) or len(set(values)) != len(values):
        raise typer.BadParameter(
            f"a value of `{pairs[0][0]}` is empty or there twice", param_hint="--parameter-list"
        )
    return [{name: value} for name, value in pairs]


def _rows(path: Path) -> Iterator[dict[str, str]]:
    """A candidate for each row of a CSV file; its first line names the parameters."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise _wrong_file(path, 1, f"it cannot be read: {error}") from error
    reader = csv.reader(text.splitlines())
    head = [name.strip() for name in next(reader, [])]
    if not head or not all(head) or len(set(head)) != len(head):
        raise _wrong_file(path, 1, "its first line names each parameter once, with commas between")
    seen: dict[tuple[str, ...], int] = {}
    for row in reader:
        line, values = reader.line_num, tuple(value.strip() for value in row)
        if not any(values):
            continue
        if len(values) != len(head) or not all(values):
            raise _wrong_file(path, line, f"{len(head)} values are needed: {', '.join(head)}")
        if values in seen:
            raise _wrong_file(path, line, f"it is the same as line {seen[values]}")
        seen[values] = line
        yield dict(zip(head, values, strict=True))
    if not seen:
        raise _wrong_file(path, 2, "there is no candidate; give a row for each")


def _wrong_file(path: Path, line: int, what: str) -> typer.BadParameter:
    return typer.BadParameter(f"{path}:{line}: {what}", param_hint="--candidates")


def _profiles(folder: Path) -> list[dict[str, str]]:
    """Every profile in a folder, by the name that ``tuned-adm profile`` takes."""
    try:
        found = sorted(path.parent.name for path in folder.glob(f"*/{_PROFILE_FILE}"))
    except OSError as error:
        raise typer.BadParameter(f"{folder}: {error.strerror}", param_hint="--profiles") from error
    if not found:
        raise typer.BadParameter(
            f"{folder} holds no profile of tuned, a folder with a {_PROFILE_FILE}",
            param_hint="--profiles",
        )
    return [{PROFILE: name} for name in found]
