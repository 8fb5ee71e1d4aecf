"""docs/man is the help of the commands as manual pages; ``make golden-accept`` writes it again."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from tests.golden.test_cli_reference import command_names, help_of, laboratory_help

from steelyard.cli.main import COMMANDS

FOLDER = Path(__file__).parents[2] / "docs" / "man"
SEE_ALSO = ".SH SEE ALSO\n.BR steelyard (1)\n"


def pages() -> dict[str, str]:
    """Each page by its file: of the list of commands, and of every command."""
    found = {"steelyard.1": page("steelyard", "compare systems", laboratory_help(""))}
    for name in command_names():
        own = page(f"steelyard-{name}", COMMANDS[name].help, help_of(name))
        found[f"steelyard-{name}.1"] = own + SEE_ALSO
    return found


def page(title: str, line: str, said: str) -> str:
    text = "\n".join(each.rstrip() for each in said.strip().splitlines())
    return (
        f'.TH {title.upper()} 1 "" Steelyard\n.SH NAME\n'
        f"{roff(title)} \\- {roff(line.rstrip('.'))}\n"
        f".SH DESCRIPTION\n.nf\n{roff(text)}\n.fi\n"
    )


def roff(text: str) -> str:
    """The text as it is: roff would read backslashes, hyphens, and lines with a dot or a quote."""
    plain = text.replace("\\", "\\e").replace("-", "\\-")
    return "\n".join(f"\\&{line}" if line[:1] in (".", "'") else line for line in plain.split("\n"))


def test_the_manual_pages_are_what_the_commands_say() -> None:
    seen = pages()
    if os.environ.get("STEELYARD_ACCEPT"):
        shutil.rmtree(FOLDER, ignore_errors=True)
        FOLDER.mkdir()
        for name, text in seen.items():
            (FOLDER / name).write_text(text, encoding="utf-8")
    assert {path.name: path.read_text(encoding="utf-8") for path in FOLDER.iterdir()} == seen


@pytest.mark.skipif(shutil.which("man") is None, reason="needs man (apt install man-db)")
def test_a_manual_page_is_shown_without_a_warning() -> None:
    environment = {**os.environ, "MANWIDTH": "100", "LC_ALL": "C.UTF-8", "MAN_KEEP_FORMATTING": ""}
    shown = subprocess.run(
        ["man", "--warnings", "--local-file", str(FOLDER / "steelyard-init.1")],
        capture_output=True, text=True, check=True, env=environment,
    )  # fmt: skip
    assert shown.stderr == ""
    assert "steelyard init [OPTIONS]" in shown.stdout
