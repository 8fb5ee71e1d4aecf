"""ARCHITECTURE.md is of the house as it is: each path exists, each name is in its file."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "steelyard"
PAGE = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
BASES = (SOURCE, ROOT, ROOT / "crates", ROOT / "crates" / "load" / "src")
IN_A_RUN = {"plan.json", "ledger.jsonl", "trials/0007-1/", "report/"}
"""What a run has on disk."""
QUOTED = re.compile(r"`([\w./*-]+(?:/|\.(?:py|rs|md|yaml|jsonl?)))(?:: (\w+))?`")
ROOM = re.compile(r"^\| `(\w+/)` \| (.*)$", re.MULTILINE)


def _places(text: str, bases: tuple[Path, ...]) -> Iterator[tuple[str, str, list[Path]]]:
    """Each quoted path with the name behind its colon and where it exists."""
    for path, name in QUOTED.findall(text):
        if not path.startswith("/") and path not in IN_A_RUN:
            yield path, name, [place for base in bases for place in base.glob(path)]


def _of_rooms() -> tuple[str, str]:
    """The table of rooms, whose paths begin at the room of their row, and all else."""
    _, _, behind = PAGE.partition("## The rooms")
    table, _, _ = behind.partition("\n## ")
    return table, PAGE.replace(table, "")


def test_every_path_exists_and_every_name_is_defined_in_its_file() -> None:
    _, text = _of_rooms()
    found = list(_places(text, BASES))
    assert [path for path, _, places in found if not places] == []
    assert len(found) > 100
    assert [
        f"{path}: {name}"
        for path, name, places in found
        if name and not _defines(places[0].read_text(encoding="utf-8"), name)
    ] == []


def _defines(code: str, name: str) -> bool:
    pattern = rf"^(?:(?:pub )?(?:def|class|fn) {name}\b|{name}\b.* = )"
    return bool(re.search(pattern, code, re.MULTILINE))


@pytest.mark.parametrize(("room", "row"), ROOM.findall(_of_rooms()[0]))
def test_every_path_of_a_room_exists_in_it(room: str, row: str) -> None:
    found = list(_places(row, (SOURCE / room, *BASES)))
    assert found
    assert [path for path, _, places in found if not places] == []


def test_every_room_and_every_crate_is_named() -> None:
    rooms = {path.name for path in SOURCE.iterdir() if path.is_dir() and path.name[0] != "_"}
    assert {room for room in rooms if f"`{room}/" not in PAGE} == set()
    crates = {path.name for path in (ROOT / "crates").iterdir() if path.is_dir()}
    assert {crate for crate in crates if f"| `{crate}` |" not in PAGE} == set()
