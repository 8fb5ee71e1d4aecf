"""``steelyard history``: which runs it takes, what it prints, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.unit.history.test_chain import SLOWER, measured, named, repeated
from tests.unit.history.test_series import run
from typer.testing import CliRunner

from steelyard.cli.main import app
from steelyard.errors import StudyError
from steelyard.history.chain import chain_of
from steelyard.records.own_files.stored_series import read_series
from steelyard.records.results.chain import Standing
from steelyard.report.sentences.terminal.chain import (
    LINK_HEAD,
    chain_lines,
    link_cells,
    series_line,
)


def asked(*words: str) -> tuple[int, str, str]:
    ended = CliRunner().invoke(app, ["history", *words], env={"COLUMNS": "200"})
    return ended.exit_code, ended.stdout, ended.stderr


def test_a_folder_without_runs_and_a_torn_run_are_named(tmp_path: Path) -> None:
    torn = tmp_path / "gate" / "2026-01-01T00-00-00Z"
    torn.mkdir(parents=True)
    code, _, said = asked(str(tmp_path / "gate"))
    assert code == 3
    assert str(tmp_path / "gate") in said
    (torn / "run.json").write_text('{"study": "ga')
    code, _, said = asked(str(tmp_path / "gate"))
    assert code == 3
    assert torn.name in said


@pytest.mark.parametrize("rate", ["0 %", "100 %", "much"])
def test_a_rate_that_is_none_is_refused(tmp_path: Path, rate: str) -> None:
    assert asked(str(tmp_path), "--rate", rate)[0] == 2


def test_runs_of_a_folder_are_taken_by_time_and_printed_for_programs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("b", "a"):
        (tmp_path / "gate" / name).mkdir(parents=True)
        (tmp_path / "gate" / name / "run.json").touch()
    points = {"a": measured(0, 1), "b": measured(1, 2, SLOWER)}
    monkeypatch.setattr("steelyard.web.points.point", lambda run: points[run.name])
    stored = tmp_path / "stored.csv"
    stored.write_text("time,latency\n1,10\n2,11\n")
    code, out, _ = asked(str(tmp_path / "gate"), "--beside", str(stored), "--json")
    document = json.loads(out)
    assert code == 0
    assert [link["standing"] for link in document["links"]] == ["not_named", "open"]
    assert document["not_randomised"][0]["values"] == [10.0, 11.0]
    code, out, _ = asked(str(tmp_path / "gate"), "--beside", str(stored))
    assert "not randomised" in out


def test_every_row_has_a_cell_for_each_column_whatever_was_found() -> None:
    runs = [*repeated(3, 0, 1, SLOWER), measured(1, 2, SLOWER), measured(0, 2)]
    chain = chain_of([*runs, named("new", "newer")])
    assert {link.standing for link in chain.links} >= {Standing.NAMED, Standing.KNOWN}
    assert {len(link_cells(link)) for link in chain.links} == {len(LINK_HEAD)}
    assert sum(line.startswith("named: ") for line in chain_lines(chain)) == len(chain.named)


def test_a_run_whose_comparison_was_not_judged_has_no_size() -> None:
    first = measured(0, 1)
    (point,) = first.comparisons
    nothing = {"estimate_log": None, "whole_low_log": None, "whole_high_log": None}
    unknown = first.model_copy(update={"comparisons": (point.model_copy(update=nothing),)})
    chain = chain_of([unknown, measured(1, 2)])
    assert [link.total for link in chain.links] == [None, None]
    assert run(1).comparisons


@pytest.mark.parametrize(
    ("text", "place"),
    [("", "1:1"), ("time\n1\n", "1:1"), ("t,a\n", "1:1"), ("t,a\n1,x\n", "2:3"),
     ("t,a,a\n1,2,3\n", "1:5"), ("t,a\n1,2,3\n", "2:3"), ("t,a\n1,nan\n", "2:3")],
)  # fmt: skip
def test_a_stored_series_that_is_none_is_refused_with_its_place(
    tmp_path: Path, text: str, place: str
) -> None:
    path = tmp_path / "stored.csv"
    path.write_text(text)
    with pytest.raises(StudyError) as refused:
        read_series(path)
    first = refused.value.complaints[0]
    assert f"{first.line}:{first.column}" == place


def test_a_stored_series_says_that_it_was_not_randomised(tmp_path: Path) -> None:
    path = tmp_path / "stored.csv"
    path.write_text("commit,latency,errors\na,10,0\nb,,0\nc,11,0\n")
    latency, errors = read_series(path)
    assert latency.labels == ("a", "c")
    assert all("not randomised" in series_line(each) for each in (latency, errors))
