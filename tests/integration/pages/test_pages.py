"""Whatever README.md and the docs show is done as it stands, and held against what they say."""

from __future__ import annotations

import re
import sys

import pytest

from tests.integration.conftest import Steelyard
from tests.integration.pages.actions import Reader, served
from tests.integration.pages.blocks import ROOT, blocks_of, pages, without_figures
from tests.integration.pages.table import BLOCKS, LONG, README_COMMANDS, shortened


@pytest.fixture
def reader(steelyard: Steelyard) -> Reader:
    """In a folder with the studies of this project, and the command where pages name it."""
    (steelyard.folder / "study.yaml").unlink()
    (steelyard.folder / "studies").symlink_to(ROOT / "studies")
    command = steelyard.folder / ".venv" / "bin" / "steelyard"
    command.parent.mkdir(parents=True)
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -m steelyard "$@"\n', encoding="utf-8")
    command.chmod(0o755)
    return Reader(steelyard)


def test_every_block_of_every_page_is_in_the_table_and_no_other() -> None:
    shown = {page: [block.first_line for block in blocks_of(page)] for page in pages()}
    assert [page for page in BLOCKS if not shown.get(page)] == []
    for page, first_lines in shown.items():
        listed = [begin for begin, _ in BLOCKS.get(page, [])]
        assert len(first_lines) == len(listed), f"{page} shows {first_lines}"
        for first_line, begin in zip(first_lines, listed, strict=True):
            assert first_line.startswith(begin), page


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, marks=[pytest.mark.extended] if page in LONG else [])
        for page, blocks in BLOCKS.items()
        if any(callable(action) for _, action in blocks)
    ],
)
def test_what_a_page_shows_is_done_as_it_stands(reader: Reader, page: str) -> None:
    for block, (_, action) in zip(blocks_of(page), BLOCKS[page], strict=True):
        if callable(action):
            action(reader, block)
    if reader.missing:
        pytest.skip(f"not here: {', '.join(reader.missing)}")


def commands_of_the_readme() -> list[str]:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (`steelyard .+?) \|", text, re.MULTILINE)
    return [command for row in rows for command in re.findall(r"`(.+?)`", row)]


def test_every_command_of_the_readme_is_in_the_table_and_no_other() -> None:
    assert commands_of_the_readme() == list(README_COMMANDS)


@pytest.mark.extended
def test_every_command_of_the_readme_does_its_job(reader: Reader) -> None:
    guide = "docs/guide/judge-your-own-trials.md"
    (reader.folder / "trials.csv").write_text(next(blocks_of(guide)).text, encoding="utf-8")
    with served(reader, "http") as address:
        for line in filter(None, README_COMMANDS.values()):
            reader.run(line.format(address=address))
            if line.startswith("steelyard init"):
                shortened(reader)


def test_a_changed_word_is_seen_and_a_changed_figure_is_not() -> None:
    shown = "response   302 us  of 127.0.0.1:2525"
    assert without_figures(shown) == without_figures("response 1.4 ms of 127.0.0.1:80")
    assert without_figures(shown) != without_figures("response 302 bytes of 127.0.0.1:2525")
