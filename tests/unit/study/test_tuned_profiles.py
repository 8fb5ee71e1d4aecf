"""Profiles of tuned that are the user's own: found beside the study, kept with the run."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.study.study_texts import as_text

from steelyard.errors import StudyError
from steelyard.study.bind import bind
from steelyard.study.declared.tuned_profiles import own_texts
from steelyard.study.model import Level, Study
from steelyard.study.read import read_study

LEAN, FAT = "[sysctl]\nvm.swappiness=1\n", "[sysctl]\nvm.swappiness=99\n"
STUDY = """\
study: profiles
question: Does it matter?
systems:
  one: {platform: native, service: {use: sink-http}}
  two: {platform: native, service: {use: sink-http}, PLACE: {tuned: ./lean/tuned.conf}}
FACTORS
workload: {use: http}
trials: {margin: 5 %}
"""
FACTORS = "factors: {settings.tuned: [balanced, ./lean/tuned.conf, ./fat/tuned.conf]}"


class Cell:
    """System two under one condition."""

    system = "two"

    def __init__(self, **conditions: Level) -> None:
        self.conditions = {name.replace("_", "."): level for name, level in conditions.items()}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in {"lean": LEAN, "fat": FAT}.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "tuned.conf").write_text(text, encoding="utf-8")
    return tmp_path


def study(folder: Path, place: str = "settings", factors: str = "") -> Path:
    text = STUDY.replace("PLACE", place).replace("FACTORS\n", f"{factors}\n" if factors else "")
    (folder / "study.yaml").write_text(text, encoding="utf-8")
    return folder / "study.yaml"


@pytest.mark.parametrize("place", ["settings", "host_settings"])
def test_a_profile_is_found_beside_the_study_wherever_it_is_read_from(
    folder: Path, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir("/")
    read = read_study(study(folder, place))
    assert read.systems["two"].profiles == {"./lean/tuned.conf": LEAN}


def test_every_level_of_a_factor_has_its_profile_at_hand(folder: Path) -> None:
    read = read_study(study(folder, factors=FACTORS))
    system = bind(read, Cell(settings_tuned="./fat/tuned.conf")).system
    assert system.profiles[system.inside["tuned"]] == FAT


def kept(read: Study, run: Path) -> Path:
    """A run's folder as ``steelyard run`` makes it."""
    for name, text in own_texts(each.profiles for each in read.systems.values()).items():
        (run / name).parent.mkdir(exist_ok=True, parents=True)
        (run / name).write_text(text, encoding="utf-8")
    return run


def test_a_run_keeps_copies_that_read_to_the_same_study(folder: Path) -> None:
    before = read_study(study(folder, factors=FACTORS))
    run = kept(before, folder / "results" / "run")
    (run / "study.yaml").write_bytes((folder / "study.yaml").read_bytes())
    (folder / "lean" / "tuned.conf").unlink()
    assert read_study(run / "study.yaml") == before


def test_a_changed_profile_is_a_changed_study(folder: Path) -> None:
    before = read_study(study(folder))
    (folder / "lean" / "tuned.conf").write_text(FAT, encoding="utf-8")
    assert read_study(study(folder)).sha256 != before.sha256


def refused(file: Path) -> str:
    with pytest.raises(StudyError) as error:
        read_study(file)
    return as_text(error.value.complaints)


def test_a_missing_profile_of_a_system_is_named_where_it_stands(folder: Path) -> None:
    (folder / "lean" / "tuned.conf").unlink()
    words = refused(study(folder))
    assert "study.yaml:5:72: the tuned profile `./lean/tuned.conf` cannot be read: no such" in words


def test_a_missing_profile_of_a_factor_is_named_where_it_stands(folder: Path) -> None:
    (folder / "fat" / "tuned.conf").unlink()
    words = refused(study(folder, factors=FACTORS))
    assert "study.yaml:6:57: the tuned profile `./fat/tuned.conf` cannot be read" in words


def test_a_profile_that_is_no_text_is_refused(folder: Path) -> None:
    (folder / "lean" / "tuned.conf").write_bytes(b"\xff\xfe")
    assert "it is not UTF-8 text" in refused(study(folder))
