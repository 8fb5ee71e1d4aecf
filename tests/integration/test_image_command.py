"""``steelyard image`` as a user types it; nothing is built."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from steelyard.cli.main import app
from steelyard.errors import ExitCode
from steelyard.systems.images.recipe import names, spellings


@pytest.fixture
def empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def say(*words: str) -> Result:
    return CliRunner().invoke(app, ["image", *words])


@pytest.mark.usefixtures("empty_cache")
def test_every_recipe_is_listed_with_what_it_is_for_and_none_is_built() -> None:
    result = say("list")
    assert result.exit_code == ExitCode.DONE
    lines = result.stdout.splitlines()
    assert {line.split()[0] for line in lines} == set(spellings()) > set(names())
    assert all(line.split()[2] == "-" for line in lines)


@pytest.mark.usefixtures("empty_cache")
def test_a_recipe_is_shown_with_the_digest_that_names_its_image() -> None:
    result = say("show", "debian-mail", "--kind", "container")
    assert result.exit_code == ExitCode.DONE
    assert "postfix" in result.stdout
    assert "built: no" in result.stdout


@pytest.mark.usefixtures("empty_cache")
def test_a_recipe_is_shown_as_it_is_written() -> None:
    lines = say("show", "debian-web").stdout.splitlines()
    assert "packages: apache2-bin, e2fsprogs, nginx-light, openssl" in lines
    assert "suites: bullseye: container, trixie: both, unstable: container" in lines
    assert "disk_size: 4 GiB" in say("show", "debian-home").stdout.splitlines()


@pytest.mark.usefixtures("empty_cache")
def test_a_recipe_for_both_is_that_of_a_guest_unless_asked() -> None:
    shown = {kind: say("show", "debian-mail", *kind).stdout for kind in ((), ("--kind", "guest"))}
    assert shown[()] == shown["--kind", "guest"]
    assert say("show", "debian-mail", "--kind", "container").stdout != shown[()]


def test_an_unknown_recipe_is_named_with_those_that_are_there() -> None:
    result = say("build", "debian-minmal")
    assert result.exit_code == ExitCode.OPERATOR
    assert "there is no recipe `debian-minmal`" in result.output
    assert "did you mean `debian-minimal`" in result.output
    assert "#image-cannot-be-built" in result.output


def test_mistakes_in_a_recipe_are_reported_with_line_and_column(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text("summary: x\ninit: sysv\n", encoding="utf-8")
    result = say("build", str(file))
    assert result.exit_code == ExitCode.STUDY_IS_WRONG
    assert "mine.yaml:2:7: `init` cannot be `sysv`" in result.output
    assert "1 mistake in the recipe" in result.output
