"""Output where the locale is not UTF-8: what it lacks is replaced, and JSON stays JSON."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from steelyard.errors import ExitCode

NAME = "4–5 Ω, 𝛼"
TABLE = f"""\
system,metric,unit,value
old,time_p50,ms,1.5
"{NAME}",time_p50,ms,2.0
"{NAME}",time_p99,ms,1.0
"""
LOCALES = {
    "latin-1": {"PYTHONIOENCODING": "latin-1"},
    "C": {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
}


def checked(folder: Path, *words: str, **environment: str) -> bytes:
    (folder / "table.csv").write_text(TABLE, encoding="utf-8")
    ran = subprocess.run(
        [sys.executable, "-m", "steelyard", "check", "table.csv", *words],
        cwd=folder,
        env={**os.environ, **environment},
        capture_output=True,
        timeout=120,
        check=False,
    )
    assert ran.returncode == ExitCode.INCONSISTENT, ran.stderr
    return ran.stdout


@pytest.mark.parametrize("locale", LOCALES)
def test_a_character_that_the_locale_lacks_is_replaced(locale: str, tmp_path: Path) -> None:
    assert b"4-5 ?, ?" in checked(tmp_path, **LOCALES[locale])


@pytest.mark.parametrize("locale", LOCALES)
def test_json_loses_nothing_in_any_locale(locale: str, tmp_path: Path) -> None:
    said = checked(tmp_path, "--json", **LOCALES[locale])
    found = json.loads(said.decode("latin-1"))["findings"]
    assert NAME in found[0]["at"]["cell"]


def test_a_handler_that_the_environment_names_is_kept(tmp_path: Path) -> None:
    said = checked(tmp_path, PYTHONIOENCODING="ascii:xmlcharrefreplace")
    assert b"4&#8211;5" in said
