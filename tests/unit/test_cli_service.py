"""``steelyard service`` lists what there is, and finds mistakes before anything starts."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from steelyard.cli.main import app
from steelyard.study import catalogue

GOOD = """\
summary: A server.
speaks: [http]
settings:
  port: {kind: port, meaning: "port"}
command: [server, "{port}"]
listeners: {http: port}
ready: listening
"""


def output(*words: str, code: int = 0) -> str:
    result = CliRunner().invoke(app, ["service", *words], env={"COLUMNS": "200"})
    assert result.exit_code == code
    return result.output


def test_every_service_is_listed_with_what_it_speaks() -> None:
    lines = output("list").splitlines()
    assert [line.split()[0] for line in lines] == list(catalogue.names("services"))
    assert any("imap, pop3, lmtp" in line for line in lines if line.startswith("dovecot"))


def test_a_service_is_shown_with_its_settings_and_limits() -> None:
    shown = output("show", "vsftpd")
    assert "| `per_address` |" in shown
    assert "- limit `clients`: further connections are refused with 421" in shown


def test_a_service_that_is_not_there_is_answered() -> None:
    assert "did you mean `nginx`?" in output("show", "ngins", code=2)


def test_a_right_file_of_ones_own_is_confirmed_and_shown(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(GOOD, encoding="utf-8")
    assert "good; it speaks http and has 1 setting\n" in output("check", str(file))
    assert "A server." in output("show", str(file))


@pytest.mark.parametrize("wrong", ["", "[]", "a: b: c", "\tsummary: x"])
def test_what_is_no_service_file_is_answered_with_a_place(tmp_path: Path, wrong: str) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(wrong, encoding="utf-8")
    assert "mine.yaml:1:" in output("check", str(file), code=2)
