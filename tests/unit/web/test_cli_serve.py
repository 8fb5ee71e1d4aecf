"""What ``steelyard serve`` refuses before it listens, with its exit code."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest
from tests.unit.web.conftest import KEY, TOKEN
from typer.testing import CliRunner

from steelyard.cli.main import app
from steelyard.errors import ExitCode


def refused(*arguments: str) -> tuple[int, str]:
    environment = {"NO_COLOR": "1", "COLUMNS": "300"}
    ended = CliRunner().invoke(app, ["serve", *arguments], env=environment)
    return ended.exit_code, ended.stderr


def test_a_folder_that_is_not_there_or_is_one_run(results: Path) -> None:
    for folder in (results / "none", results / KEY):
        code, said = refused(str(folder))
        assert code == ExitCode.OPERATOR
        assert "no-results" in said


@pytest.mark.parametrize("place", ["0.0.0.0:0", "[::]:0", "192.0.2.1:80", "lab.example:80"])
def test_other_machines_need_a_token(results: Path, place: str) -> None:
    code, said = refused(str(results), "--listen", place)
    assert code == ExitCode.STUDY_IS_WRONG
    assert "--token-file" in said


def test_a_place_that_is_none(results: Path) -> None:
    assert refused(str(results), "--listen", "8080")[0] == ExitCode.STUDY_IS_WRONG


def test_a_token_that_others_may_read(results: Path, tmp_path: Path) -> None:
    path = tmp_path / "token"
    path.write_text(TOKEN)
    path.chmod(0o644)
    code, said = refused(str(results), "--token-file", str(path))
    assert (code, "token-is-wrong" in said) == (ExitCode.OPERATOR, True)


def test_a_port_that_is_taken(results: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        code, said = refused(str(results), "--listen", f"127.0.0.1:{taken.getsockname()[1]}")
    assert (code, "cannot-listen" in said) == (ExitCode.OPERATOR, True)
