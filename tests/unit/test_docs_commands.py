"""Every command that a page shows is one: its options, its studies and variants, its images."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import jsonschema
import pytest
from typer.testing import CliRunner

from steelyard.cli.main import app
from steelyard.plan.make import make_plan
from steelyard.study.read import read_study
from steelyard.systems.images.recipe import names as recipe_names

ROOT = Path(__file__).parents[2]
PAGES = [
    ROOT / "README.md",
    *sorted((ROOT / "docs").rglob("*.md")),
    *sorted((ROOT / "studies").rglob("*.md")),
]
OF_OLD = ROOT / "docs" / "decisions"
ENGINE = {"load", "sink", "kernel", "agent"}
NAMED_ALONE = {"--platform", "--study", "--output", "--listen", "--token-file"}
"""Options that prose names without a value."""
_LINE = re.compile(r"^(?:    |\$ |.*- run: |sudo -E |\.venv/bin/)*steelyard (.+)$", re.MULTILINE)
_SPAN = re.compile(r"(?<!\\)`(?:sudo -E )?steelyard ([^`]+)`")


def commands() -> Iterator[tuple[str, str]]:
    for page in PAGES:
        if OF_OLD in page.parents:
            continue
        text = page.read_text(encoding="utf-8")
        blocks = re.findall(r"^```\w*\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
        indented = re.findall(r"^    \S.*$", text, re.MULTILINE)
        found = [*_SPAN.findall(text), *_LINE.findall("\n".join([*blocks, *indented]))]
        for words in dict.fromkeys(found):
            yield str(page.relative_to(ROOT)), " ".join(words.split())


COMMANDS = list(commands())
REFERENCE = (ROOT / "docs" / "reference" / "cli.md").read_text(encoding="utf-8")


def words_of(command: str) -> list[str]:
    """As a shell reads them, with optional parts written out and further ones left out."""
    return [
        word.strip("[]")
        for word in shlex.split(command.replace("...", ""), comments=True)
        if word.strip("[]")
    ]


def refused_by_the_engine(words: list[str]) -> str | None:
    section = REFERENCE.partition(f"\n## {words[0]}\n")[2].partition("\n## ")[0]
    options = {word.partition("=")[0] for word in words[1:] if re.match(r"--?[A-Za-z]", word)}
    known = set(re.findall(r"(?<![\w-])--?[A-Za-z][\w-]*", section))
    unknown = options - known if section else set()
    return f"no option {unknown}" if unknown else None


def refused(words: list[str]) -> str | None:
    """What the command line says of these words; asked for help, it needs no more of them."""
    if words[0] in ENGINE:
        return refused_by_the_engine(words)
    value = ["VALUE"] if words[-1] in NAMED_ALONE else []
    ended = CliRunner().invoke(app, [*words, *value, "--help"])
    return None if ended.exit_code == 0 else ended.stderr


@pytest.mark.parametrize(("page", "command"), COMMANDS, ids=[" ".join(each) for each in COMMANDS])
def test_every_command_of_a_page_is_one(page: str, command: str) -> None:
    assert refused(words_of(command)) is None, f"{page}: steelyard {command}"


STUDIES = {
    (name, words[words.index("--variant") + 1] if "--variant" in words else None)
    for words in (words_of(command) for _, command in COMMANDS)
    for name in words
    if name.startswith("studies/") and name != "studies/NAME"
}
IMAGES = {
    words[2]
    for words in (words_of(command) for _, command in COMMANDS)
    if words[:2] == ["image", "build"] and len(words) > 2 and words[2][0].islower()
}


@pytest.mark.parametrize(("name", "variant"), sorted(STUDIES, key=str))
def test_every_study_and_variant_of_a_page_can_be_planned(name: str, variant: str | None) -> None:
    assert make_plan(read_study(ROOT / name, variant=variant), seed=1).every_visit


@pytest.mark.parametrize("name", sorted(IMAGES))
def test_every_image_of_a_page_has_a_recipe(name: str) -> None:
    assert name in recipe_names() or name.endswith(".yaml")


@pytest.mark.parametrize(
    "wrong", ["runn x", "run x --varient y", "load URL --cores 2", "image bild"]
)
def test_a_command_that_is_none_is_refused(wrong: str) -> None:
    assert refused(words_of(wrong)) is not None


def test_the_pages_show_commands() -> None:
    assert len(COMMANDS) > 100
    assert len(STUDIES) > 20
    assert len(IMAGES) > 5


def test_every_target_of_make_that_a_page_names_is_one() -> None:
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    pages = [*PAGES, ROOT / "CONTRIBUTING.md", ROOT / "bench" / "README.md"]
    named = {
        name
        for page in pages
        for name in re.findall(
            r"(?:`|^|^ {4})make ([a-z][a-z-]*[a-z])\b", page.read_text("utf-8"), re.MULTILINE
        )
    }
    assert {"quickstart", "test"} <= named
    others = {"bench", "build", "prepare"}  # beginnings of several, the reader's own, the kernel's
    assert named - targets - others == set()


def test_every_job_of_a_page_fits_its_schema() -> None:
    page = (ROOT / "docs" / "reference" / "load.md").read_text(encoding="utf-8")
    jobs = re.findall(r"^```json\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    schema = json.loads((ROOT / "schemas" / "load-job.schema.json").read_text(encoding="utf-8"))
    assert len(jobs) == 2
    for job in jobs:
        jsonschema.validate(json.loads(job), schema)
