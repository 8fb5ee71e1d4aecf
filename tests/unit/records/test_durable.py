"""A folder appears whole or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from steelyard.records.files.durable import (
    clear_unfinished,
    file_appears,
    folder_appears,
    make_folders,
    write_file,
)


def test_a_folder_is_not_there_until_it_is_whole(tmp_path: Path) -> None:
    with folder_appears(tmp_path / "trial") as new:
        write_file(new / "record.json", b"{}")
        assert not (tmp_path / "trial").exists()
    assert (tmp_path / "trial" / "record.json").read_bytes() == b"{}"


def test_a_folder_that_could_not_be_filled_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="full"), folder_appears(tmp_path / "trial") as new:
        write_file(new / "record.json", b"{}")
        raise OSError("full")
    assert list(tmp_path.iterdir()) == []


def test_what_a_crash_left_half_filled_is_cleared_by_the_next_try(tmp_path: Path) -> None:
    (tmp_path / ".new-trial" / "sub").mkdir(parents=True)
    (tmp_path / ".new-trial" / "sub" / "torn").write_bytes(b"x")
    with folder_appears(tmp_path / "trial") as new:
        write_file(new / "record.json", b"{}")
    assert [path.name for path in (tmp_path / "trial").iterdir()] == ["record.json"]


def test_a_folder_that_is_there_is_never_overwritten(tmp_path: Path) -> None:
    (tmp_path / "trial").mkdir()
    with pytest.raises(FileExistsError), folder_appears(tmp_path / "trial"):
        pass


def test_what_a_link_leads_to_is_not_cleared(tmp_path: Path) -> None:
    (tmp_path / "others").mkdir()
    (tmp_path / "others" / "file").write_bytes(b"x")
    (tmp_path / ".new-trial").symlink_to(tmp_path / "others")
    with folder_appears(tmp_path / "trial") as new:
        write_file(new / "record.json", b"{}")
    assert (tmp_path / "others" / "file").read_bytes() == b"x"
    assert not (tmp_path / "trial").is_symlink()


def test_a_file_that_a_crash_left_is_replaced(tmp_path: Path) -> None:
    (tmp_path / ".new-1.json").write_bytes(b"torn")
    (tmp_path / "1.json").write_bytes(b"")
    file_appears(tmp_path / "1.json", b"{}")
    assert [path.name for path in tmp_path.iterdir()] == ["1.json"]
    assert (tmp_path / "1.json").read_bytes() == b"{}"


def test_folders_that_no_process_fills_are_cleared(tmp_path: Path) -> None:
    make_folders(tmp_path / "results" / "study")
    base = tmp_path / "results" / "study"
    (base / ".new-yesterday" / "trials").mkdir(parents=True)
    with folder_appears(base / "today") as new:
        clear_unfinished(base)
        assert new.is_dir()
    assert [path.name for path in base.iterdir()] == ["today"]
