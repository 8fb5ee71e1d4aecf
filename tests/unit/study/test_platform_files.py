"""Files of platforms: mistakes by line and column, and files of a user's own beside a study."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.unit.study.study_texts import as_text

from steelyard.errors import StudyError
from steelyard.study import catalogue
from steelyard.study.lookup import PLATFORM_FILES, own_texts, platform_of
from steelyard.study.read import read_study, read_with_lacking

CASES = Path(__file__).parents[2] / "cases" / "platforms" / "wrong"
COMMANDED = [
    n for n in catalogue.names("platforms") if catalogue.platform(n).driver == "command_line"
]
OWN = """\
summary: A place of the user's own.
driver: command_line
verified: false
resets: [service]
settings:
  image: {kind: text, meaning: "what it is made from"}
commands:
  exists: {run: [look, "{label}"], absent: "no such", ours: "{mark}"}
  up: [[make, "{image}", "{mark}"]]
  inside: {pipe: [enter, "{label}"]}
  down: [[remove, "{label}"]]
  address: {run: [where, "{label}"]}
"""
STUDY = """\
study: own
question: Does it matter?
systems:
  one: {platform: native, service: {use: sink-http}}
  two: {platform: PLATFORM, SETTING service: {use: sink-http}}
workload: {use: http}
trials: {margin: 5 %}
"""


def complaints_of(file: Path) -> str:
    with pytest.raises(StudyError) as error:
        PLATFORM_FILES.read(file)
    assert error.value.slug == "platform-file-is-wrong"
    return as_text(error.value.complaints)


@pytest.mark.parametrize("case", sorted(CASES.glob("*.yaml")), ids=lambda path: path.stem)
def test_a_wrong_file_is_answered_with_exactly_this_text(case: Path) -> None:
    seen, kept = complaints_of(case), case.with_suffix(".txt")
    if os.environ.get("STEELYARD_ACCEPT"):
        kept.write_text(seen, encoding="utf-8")
    assert seen == kept.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", COMMANDED)
def test_every_file_of_the_catalogue_is_right(name: str, tmp_path: Path) -> None:
    file = tmp_path / f"{name}.yaml"
    file.write_text(catalogue.text("platforms", name), encoding="utf-8")
    assert PLATFORM_FILES.read(file) == catalogue.platform(name)


def study(folder: Path, platform: str, setting: str = "image: x,") -> Path:
    file = folder / "study.yaml"
    text = STUDY.replace("PLATFORM", platform).replace("SETTING", setting)
    file.write_text(text, encoding="utf-8")
    return file


@pytest.mark.parametrize(
    ("named", "file"), [("./mine.yaml", "mine.yaml"), ("mine", "platforms/mine.yaml")]
)
def test_a_platform_of_the_users_own_is_found_beside_the_study(
    tmp_path: Path, named: str, file: str
) -> None:
    (tmp_path / file).parent.mkdir(exist_ok=True)
    (tmp_path / file).write_text(OWN, encoding="utf-8")
    read, lacking = read_with_lacking(study(tmp_path, named))
    assert lacking == []
    assert read.systems["two"].settings == {"image": "x"}
    assert platform_of(read.systems["two"]).summary == "A place of the user's own."


def test_the_copy_that_a_run_keeps_reads_to_the_same_study(tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text(OWN, encoding="utf-8")
    before = read_study(study(tmp_path, "./mine.yaml"))
    run = tmp_path / "run"
    (run / "platforms").mkdir(parents=True)
    (run / "study.yaml").write_bytes((tmp_path / "study.yaml").read_bytes())
    for name, text in own_texts(before.systems.values()).items():
        (run / name).write_text(text, encoding="utf-8")
    assert read_study(run / "study.yaml") == before


def test_a_changed_platform_is_a_changed_study(tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text(OWN, encoding="utf-8")
    before = read_study(study(tmp_path, "./mine.yaml"))
    (tmp_path / "mine.yaml").write_text(OWN.replace("[make", "[create"), encoding="utf-8")
    assert read_study(tmp_path / "study.yaml").sha256 != before.sha256


def refused(file: Path) -> str:
    with pytest.raises(StudyError) as error:
        read_study(file)
    return as_text(error.value.complaints)


def test_a_setting_that_the_commands_need_must_be_said(tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text(OWN, encoding="utf-8")
    words = refused(study(tmp_path, "./mine.yaml", setting=""))
    assert "study.yaml:5:3: `image` is missing in `systems.two`" in words


def test_a_mistake_in_the_users_own_platform_is_named_where_it_is(tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text(OWN.replace("[make,", '[make, "{nam}",'), encoding="utf-8")
    words = refused(study(tmp_path, "./mine.yaml"))
    assert "mine.yaml:9:15: there is no placeholder `{nam}`" in words


def test_a_file_that_is_not_there_is_said_at_its_name(tmp_path: Path) -> None:
    words = refused(study(tmp_path, "./mine.yaml"))
    assert "study.yaml:5:19: there is no file `./mine.yaml`" in words


@pytest.mark.parametrize(("text", "said"), [("", "the file is empty"), ("- a\n", "a platform is")])
def test_a_file_that_is_no_platform_is_said_to_be_none(
    tmp_path: Path, text: str, said: str
) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(text, encoding="utf-8")
    assert said in complaints_of(file)
