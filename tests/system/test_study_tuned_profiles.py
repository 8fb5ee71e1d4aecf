"""The small variant of the profile study, whole and for real: about half an hour, alone."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from tests.platforms.guests import built
from tests.platforms.needs import need

from steelyard.records.archive import open_run
from steelyard.records.events import Undone, UndoPlanned

pytestmark = pytest.mark.system
STUDY = Path(__file__).parents[2] / "studies" / "tuned-profiles"
PROFILES = ["off", "balanced", "throughput-performance"]
CONDITIONS = list(product(["single", "raid0"], ["ext4", "xfs", "btrfs"]))
LONGEST_S = 7200


def records_of(run: Path) -> list[dict[str, Any]]:
    return [json.loads(file.read_text()) for file in sorted(run.glob("trials/*/record.json"))]


def cell_of(record: dict[str, Any]) -> tuple[str, str, str]:
    at = record["cell"]["conditions"]
    return record["cell"]["system"], at["disks.data.layout"], at["disks.data.filesystem"]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the run; every test looks at the same one."""
    need("qemu-system-x86_64", "qemu-img", "ip", "nsenter", root=True)
    built("debian-tuned", "guest")
    folder = tmp_path_factory.mktemp("profiles")
    ran = subprocess.run(
        [sys.executable, "-m", "steelyard", "run", str(STUDY), "--variant", "small"],
        cwd=folder,
        env={**os.environ, "NO_COLOR": "1"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=LONGEST_S,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr[-2000:]
    (found,) = (folder / "results" / "tuned-profiles").iterdir()
    return found


def test_every_profile_is_measured_on_every_filesystem_and_layout(run: Path) -> None:
    measured = {cell_of(record) for record in records_of(run) if record["outcome"] == "ok"}
    assert measured == {(profile, *at) for profile in PROFILES for at in CONDITIONS}


def test_a_profile_did_change_the_guest_and_off_did_not(run: Path) -> None:
    changed = {
        record["cell"]["system"]: record["facts"]["system"].get("setting.tuned.changed")
        for record in records_of(run)
        if record["outcome"] == "ok"
    }
    assert "vm.dirty_ratio" in (changed["throughput-performance"] or "").replace("/", ".")
    assert not changed["off"]


def test_every_trial_began_from_the_snapshot_with_caches_dropped(run: Path) -> None:
    for record in records_of(run):
        if record["outcome"] == "ok":
            assert record["phases_ns"]["restore"] > 0
            assert record["phases_ns"]["drop_caches"] > 0


def test_the_report_has_a_section_for_each_profile_with_means_by_filesystem(run: Path) -> None:
    findings = json.loads((run / "report" / "findings.json").read_text())
    (own,) = findings["workloads"]
    sections = own["sections"]
    assert [section["level"] for section in sections] == PROFILES[1:]
    for section in sections:
        assert [m["level"] for m in section["means"]] == ["ext4", "xfs", "btrfs", None]
        assert all(mean["difference"] is not None for mean in section["means"])
    assert [claim["id"] for claim in own["claims"]] == ["criterion"]


def test_nothing_of_the_study_is_left(run: Path) -> None:
    events = open_run(run).events()
    planned = {event.undo for event in events if isinstance(event, UndoPlanned)}
    assert planned == {event.undo for event in events if isinstance(event, Undone)}
