"""A folder that is there already is used as a disk, and left as it was."""

from __future__ import annotations

from pathlib import Path

import pytest

from steelyard.hosts.failures import SystemFailure
from steelyard.hosts.host import Host
from steelyard.hosts.transport import open_local_pipe
from steelyard.hosts.undo.log import UndoLog
from steelyard.records.ledger import Ledger
from steelyard.study.platform.settings import DiskSettings
from steelyard.systems import disks
from steelyard.systems.disks.folder import refuse_unusable

SMALL = 1024


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "kept").write_text("kept", encoding="utf-8")
    return folder


def settings(folder: Path | str, size: int = SMALL) -> DiskSettings:
    return DiskSettings(folder=str(folder), size=size)


def test_a_trial_leaves_nothing_in_the_folder_and_takes_nothing_from_it(
    mine: Path, tmp_path: Path
) -> None:
    host = Host("local", open_local_pipe())
    with Ledger(tmp_path / "ledger.jsonl") as ledger:
        undo = UndoLog(ledger)
        used = disks.use_folder(host, "data", settings(mine), "steelyard-1-data", undo)
        own = Path(used.plan.mount_point)
        (own / "written").write_text("by the trial", encoding="utf-8")
        assert own.parent == mine.resolve()
        assert len(undo.pending()) == 1
        assert used.facts["disks.data.folder"] == str(mine.resolve())
        assert disks.caching_places(host, used)
        disks.take_down(host, used, undo)
        assert undo.pending() == []
    host.close()
    assert [path.name for path in mine.iterdir()] == ["kept"]


def test_a_name_that_is_taken_is_not_touched(mine: Path, tmp_path: Path) -> None:
    host = Host("local", open_local_pipe())
    (mine / "steelyard-1-data").mkdir()
    with Ledger(tmp_path / "ledger.jsonl") as ledger:
        undo = UndoLog(ledger)
        with pytest.raises(SystemFailure) as refused:
            disks.use_folder(host, "data", settings(mine), "steelyard-1-data", undo)
        assert undo.pending() == []
    host.close()
    assert refused.value.kind == "name_taken"
    assert (mine / "steelyard-1-data").is_dir()


def test_what_cannot_be_used_is_refused(mine: Path, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to("/etc")
    host = Host("local", open_local_pipe())
    asked = {
        "absent": settings(mine / "absent"),
        "file": settings(mine / "kept"),
        "behind a link": settings(link),
        "too little room": settings(mine, 1 << 62),
        "read-only": settings("/proc/self"),
    }
    kinds = {}
    for name, wanted in asked.items():
        with pytest.raises(SystemFailure) as refused:
            refuse_unusable(host, wanted)
        kinds[name] = refused.value.kind
    host.close()
    assert kinds.pop("too little room") == "no_space"
    assert set(kinds.values()) == {"not_supported"}
