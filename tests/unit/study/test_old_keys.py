"""A key or value with a new name is read under the old one, with a notice that has its place."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import Result
from typer.testing import CliRunner

from steelyard.cli.main import app
from steelyard.study import catalogue
from steelyard.study.file.grammar import StudyFile
from steelyard.study.file.old_keys import EVERY, RENAMED, RENAMED_VALUES
from steelyard.study.lookup import PLATFORM_FILES, SERVICE_FILES, WORKLOAD_FILES, AnyFiles
from steelyard.study.read import read_study, renamed_keys

PAGES = Path(__file__).parents[3] / "docs/reference"
OLD = """\
study: old-keys
question: Are they read?
defaults: {carrier: local}
systems:
  a: {platform: podman, instances: 2, carrier: local, service: {use: sink-http}}
  b: {platform: podman, instances: 2, service: {use: sink-http}}
workload: {use: http}
beside: {2: {use: idle}}
probe: {use: http, every: 100 ms}
responses: {throughput: {}, response.p99: {}}
judge: {guards: {response.p99: 10 %}}
trials: {margin: 5 %, warm_up: 1 s, canary: 200 ms, dummy: true, budget: {time: 3 h}}
variants:
  small: {trials: {warm_up: 100 ms}}
"""
MINE = """\
study: own-file
question: Is it read?
systems: {a: {platform: native}, b: {platform: native}}
workload: {use: ./mine.yaml, command: ["true"]}
responses: {run_time: {}}
trials: {margin: 5 %, budget: {time: 3 h}}
"""
NEW = OLD
for path, new in RENAMED["study"].items():
    NEW = re.sub(rf"\b{path[-1]}:", f"{new}:", NEW)


def written(folder: Path, text: str) -> Path:
    file = folder / "study.yaml"
    file.write_text(text, encoding="utf-8")
    return file


@pytest.mark.parametrize("variant", [None, "small"])
def test_a_study_with_old_keys_is_the_study_with_the_new_ones(
    tmp_path: Path, variant: str | None
) -> None:
    old = read_study(written(tmp_path, OLD), variant=variant)
    new = read_study(written(tmp_path, NEW), variant=variant)
    assert old.model_copy(update={"sha256": new.sha256}) == new
    assert renamed_keys(tmp_path) == []


@pytest.mark.parametrize(("path", "new"), RENAMED["study"].items(), ids=".".join)
def test_every_old_key_has_a_notice_with_its_place_and_its_new_name(
    tmp_path: Path, path: tuple[str, ...], new: str
) -> None:
    file = written(tmp_path, OLD)
    notices = [n for n in renamed_keys(file) if f"`{path[-1]}` is now `{new}`" in n.message]
    lines = OLD.splitlines()
    assert notices
    assert all(lines[n.line - 1][n.column - 1 :].startswith(f"{path[-1]}:") for n in notices)


def test_an_old_key_in_a_variant_has_a_notice_too(tmp_path: Path) -> None:
    assert [n.line for n in renamed_keys(written(tmp_path, OLD)) if "warm_up" in n.message] == [
        12,
        14,
    ]


def test_an_old_key_beside_the_new_one_is_an_unknown_key(tmp_path: Path) -> None:
    file = written(tmp_path, NEW.replace("warmup: 1 s", "warmup: 1 s, warm_up: 2 s"))
    assert renamed_keys(file) == []
    assert "unknown key `warm_up`" in plan(file).stderr


def test_the_notices_are_printed_on_stderr_and_the_plan_on_stdout(tmp_path: Path) -> None:
    result = plan(written(tmp_path, OLD))
    assert result.exit_code == 0, result.stderr
    assert "study.yaml:12:23: `warm_up` is now `warmup`" in result.stderr
    assert "is now" not in result.stdout


OWN: dict[str, AnyFiles] = {
    "platform": PLATFORM_FILES,
    "service": SERVICE_FILES,
    "workload": WORKLOAD_FILES,
}


@pytest.mark.parametrize(
    ("what", "name"),
    [("platform", "xen"), ("service", "exim"), ("workload", "fio"), ("workload", "command")],
)
def test_a_file_of_ones_own_is_read_with_its_old_names_and_each_has_a_notice(
    tmp_path: Path, what: str, name: str
) -> None:
    new_text = old_text = catalogue.text(OWN[what].shelf, name)
    renamed = {path[-1]: new for path, new in all_renamed(what)}
    for old, new in renamed.items():
        old_text = re.sub(rf"(?m)(^|[ {{]){new}(: |:?$)", rf"\1{old}\2", old_text)
    file = tmp_path / "own.yaml"
    file.write_text(old_text, encoding="utf-8")
    notices, lines = OWN[what].renamed_keys(file), old_text.splitlines()
    assert notices
    for notice in notices:
        old = notice.message.split("`")[1]
        assert notice.message == f"`{old}` is now `{renamed[old]}`"
        assert lines[notice.line - 1][notice.column - 1 :].startswith(old)
    assert OWN[what].read(file) == OWN[what].parse(new_text.encode(), file)


def test_a_plan_prints_the_notices_of_the_files_that_the_study_names(tmp_path: Path) -> None:
    text = catalogue.text("workloads", "command").replace("holds_placeholders", "holds_places")
    (tmp_path / "mine.yaml").write_text(text, encoding="utf-8")
    study = written(tmp_path, MINE)
    result = plan(study)
    assert result.exit_code == 0, result.stderr
    assert "mine.yaml:5:42: `holds_places` is now `holds_placeholders`" in result.stderr
    checked = CliRunner().invoke(app, ["workload", "check", str(tmp_path / "mine.yaml")])
    assert checked.exit_code == 0
    assert "`holds_places` is now" in checked.stderr


def all_renamed(what: str) -> list[tuple[tuple[str, ...], str]]:
    return [*RENAMED[what].items(), *RENAMED_VALUES.get(what, {}).items()]


def test_every_old_key_is_in_the_page_of_its_file_and_no_key_of_the_grammar() -> None:
    models = {"study": StudyFile} | {what: files.model for what, files in OWN.items()}
    for what, renamed in RENAMED.items():
        page = (PAGES / f"{what}-file.md").read_text("utf-8")
        section = page.partition("## Renamed keys")[2].partition("\n## ")[0]
        for path, new in all_renamed(what):
            assert f"{path[-1]}" in section
            assert f"| `{new}` |" in section
        assert not {path[0] for path in renamed if len(path) == 1} & set(models[what].model_fields)
        assert all(EVERY not in path[-1] for path in renamed)


def plan(file: Path) -> Result:
    return CliRunner().invoke(app, ["plan", str(file)])
