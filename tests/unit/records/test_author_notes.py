from __future__ import annotations

from pathlib import Path

import pytest

from steelyard.errors import RecordError
from steelyard.records.own_files.author_notes import (
    MOST_BYTES,
    kept_notes,
    name_of_note,
    read_notes,
)


def test_notes_are_read_by_their_name_and_empty_ones_are_none(tmp_path: Path) -> None:
    (tmp_path / "balanced.md").write_text("It idles.\n")
    (tmp_path / "powersave.txt").write_text("Slow.")
    (tmp_path / "later.md").write_text("\n")
    (tmp_path / "chart.png").write_bytes(b"\xff")
    assert read_notes(tmp_path) == {"balanced": "It idles.", "powersave": "Slow."}
    assert kept_notes(tmp_path)["notes/powersave.md"] == "Slow.\n"


def test_a_folder_that_is_not_there_holds_no_notes(tmp_path: Path) -> None:
    assert read_notes(tmp_path / "notes") == {}


@pytest.mark.parametrize(
    ("content", "reason"), [(b"\xff\xfe", "not UTF-8"), (b"a" * (MOST_BYTES + 1), "larger than")]
)
def test_what_is_no_short_text_is_named(tmp_path: Path, content: bytes, reason: str) -> None:
    (tmp_path / "balanced.md").write_bytes(content)
    with pytest.raises(RecordError, match=reason) as raised:
        read_notes(tmp_path)
    assert "balanced.md" in str(raised.value)


@pytest.mark.parametrize(
    ("level", "name"),
    [("balanced", "balanced"), ("./lean/a b", "lean-a-b"), (4, "4"), (0.5, "0.5"), (True, "True")],
)
def test_any_level_has_a_file_name(level: object, name: str) -> None:
    assert name_of_note(level) == name
