"""SQL over the runs of one laboratory or several: read only, bounded, each row with its origin."""

from __future__ import annotations

import csv
import io
import json
import shutil
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from tests.unit.publication.conftest import KEPT, recorded
from typer.testing import CliRunner, Result

from steelyard.cli.archive.query import MEMORY as MEMORY_OF_THE_OPTION
from steelyard.cli.main import app
from steelyard.errors import HostError
from steelyard.query.archive import MEMORY, asked
from steelyard.query.tables import TABLES
from steelyard.records.archive import Run
from steelyard.records.compaction import compact
from steelyard.report.from_run import find

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "query.md"


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("lab") / "results"
    recorded(folder)
    return folder


@pytest.fixture(scope="module")
def run(results: Path) -> Run:
    return Run(next(results.glob("*/*")))


@pytest.fixture(autouse=True)
def _with_duckdb() -> None:
    pytest.importorskip("duckdb", reason="pip install 'steelyard[query]'")


def query(sql: str, *archives: str | Path) -> Result:
    return CliRunner().invoke(app, ["query", sql, *map(str, archives)], env={"NO_COLOR": "1"})


def rows(sql: str, *archives: str | Path) -> list[dict[str, Any]]:
    done = CliRunner().invoke(app, ["query", sql, *map(str, archives), "--json"])
    assert done.exit_code == 0, done.output
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_what_is_no_number_is_null_in_json(results: Path) -> None:
    done = CliRunner().invoke(
        app,
        ["query", "SELECT 'NaN'::double a, 1/0 b, [1.5, -'inf'::double] c, MAP {1: 2} d",
         str(results), "--json"],
    )  # fmt: skip

    def refuse(word: str) -> float:
        raise AssertionError(word)

    found = json.loads(done.stdout, parse_constant=refuse)
    assert found == {"a": None, "b": None, "c": [1.5, None], "d": {"1": 2}}


def test_every_trial_and_response_of_a_run_is_in_its_table(results: Path, run: Run) -> None:
    records = run.records()
    found = rows("SELECT * FROM trials ORDER BY trial, attempt", results)
    assert [(each["trial"], each["system"], each["outcome"]) for each in found] == [
        (record.trial, record.cell.system, record.outcome.value) for record in records
    ]
    values = rows("SELECT trial, value FROM responses WHERE response = 'throughput'", results)
    assert {each["trial"]: each["value"] for each in values} == {
        record.trial: record.value("throughput") for record in records
    }


def test_verdicts_are_those_of_the_judge(results: Path, run: Run) -> None:
    found = rows("SELECT response, other, word, estimate_log FROM verdicts", results)
    assert [tuple(each.values()) for each in found] == [
        (each.response, each.other, each.word.value, each.estimate_log)
        for own in find(run).workloads
        for each in own.verdicts
    ]


def test_findings_that_the_records_did_not_give_are_not_asked(
    results: Path, run: Run, tmp_path: Path
) -> None:
    copy = tmp_path / "results"
    shutil.copytree(results, copy)
    report = next(copy.glob("*/*")) / "report"
    report.mkdir(exist_ok=True)
    no_verdict = [own.model_copy(update={"verdicts": ()}) for own in find(run).workloads]
    copied = find(run).model_copy(update={"workloads": tuple(no_verdict)})
    (report / "findings.json").write_text(copied.model_dump_json(), encoding="utf-8")
    assert rows("SELECT word FROM verdicts", copy) == rows("SELECT word FROM verdicts", results)


def planned(run: Run) -> dict[str, int]:
    """Visits of each system."""
    return dict(sorted(Counter(visit.system for visit in run.plan().visits).items()))


def test_visits_facts_and_runs_can_be_joined(results: Path, run: Run) -> None:
    sql = """
        SELECT r.seed, v.system, count(DISTINCT t.trial) AS trials, max(f.value) AS cores
        FROM runs r JOIN visits v USING (origin, study, run)
        JOIN trials t USING (origin, study, run, visit)
        JOIN facts f USING (origin, study, run, trial, attempt)
        WHERE f.fact = 'cpu.count' GROUP BY ALL ORDER BY ALL
    """
    found = rows(sql, results)
    assert {each["seed"] for each in found} == {7}
    assert {each["system"]: each["trials"] for each in found} == planned(run)


def test_rows_of_several_laboratories_have_their_origin(results: Path, tmp_path: Path) -> None:
    other = tmp_path / "theirs" / "results"
    shutil.copytree(results, other)
    compact(Run(next(other.glob("*/*"))))
    sql = "SELECT origin, count(*) AS n FROM trials GROUP BY origin ORDER BY origin"
    assert rows(sql, f"ours={results}", f"theirs={other}") == [
        {"origin": "ours", "n": 12}, {"origin": "theirs", "n": 12},
    ]  # fmt: skip
    assert query(sql, results, other).exit_code == 2, "two folders of one name"


def test_without_json_rows_are_csv(results: Path, run: Run) -> None:
    done = query("SELECT system, count(*) AS n FROM trials GROUP BY ALL ORDER BY ALL", results)
    [head, *found] = csv.reader(io.StringIO(done.stdout))
    assert head == ["system", "n"]
    assert {system: int(count) for system, count in found} == planned(run)


def test_a_run_that_is_damaged_is_named_and_none_of_its_rows_counts(
    results: Path, tmp_path: Path
) -> None:
    other = tmp_path / "results"
    shutil.copytree(results, other)
    damaged = other / "durable-mail" / "damaged"
    shutil.copytree(next(results.glob("*/*")), damaged)
    (damaged / "trials" / "0009-1" / "record.json").write_text("{}")
    done = query("SELECT run, count(*) AS n FROM trials GROUP BY run", other)
    assert done.exit_code == 0
    assert len(done.stdout.splitlines()) == 2
    assert "damaged" in done.stderr


@pytest.mark.parametrize(
    "sql",
    [
        "DROP TABLE trials",
        "CREATE TABLE x AS SELECT 1",
        "COPY trials TO 'x.csv'",
        "SELECT 1; SELECT 2",
        "SELECT * FROM read_csv('/etc/hostname')",
        "SELECT * FROM '/etc/hostname'",
        "SELECT nothing FROM trials",
        "SELECT * FROM nothing",
        "SELEC 1",
        "",
        "ATTACH 'x.db'",
        "SET memory_limit = '10GB'",
        "INSTALL httpfs",
    ],
)
def test_what_is_no_query_or_leaves_the_archive_is_refused(results: Path, sql: str) -> None:
    refused = query(sql, results)
    assert (refused.exit_code, refused.stdout) == (3, "")
    assert "#query-failed" in refused.stderr


def test_a_query_that_needs_more_memory_than_it_may_take_fails_alone(results: Path) -> None:
    sql = "SELECT list(a.range) AS l FROM range(30000000) a"
    done = CliRunner().invoke(app, ["query", sql, str(results), "--memory", "20MiB"])
    assert done.exit_code == 3
    assert "memory" in done.stderr.lower()


def test_a_folder_without_runs_has_empty_tables(tmp_path: Path) -> None:
    for name, table in TABLES.items():
        done = query(f"FROM {name}", tmp_path)
        assert done.stdout.splitlines() == [",".join(table.columns)]


def test_without_duckdb_its_package_is_named(
    results: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "duckdb", None)
    with pytest.raises(HostError) as refused, asked("SELECT 1", {}, print):
        pass
    assert refused.value.slug == "no-duckdb"
    assert "steelyard[query]" in str(refused.value.hint)


def test_a_run_of_an_earlier_version_is_asked_as_well(tmp_path: Path) -> None:
    shutil.copytree(KEPT.with_name("v1"), tmp_path / "results" / "durable-mail" / "old")
    assert rows("SELECT count(*) AS n FROM trials", tmp_path / "results") == [{"n": 12}]


def test_the_page_lists_every_column_of_every_table() -> None:
    text = PAGE.read_text(encoding="utf-8")
    for name, table in TABLES.items():
        section = text.partition(f"### {name}\n")[2].partition("\n#")[0]
        assert section, name
        assert [column for column in table.columns if f"`{column}`" not in section] == []


def test_the_option_has_the_default_of_the_archive() -> None:
    assert MEMORY_OF_THE_OPTION == MEMORY
