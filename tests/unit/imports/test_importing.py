"""``steelyard import``: from files to a run that ``report``, ``compare`` and the judge open."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.unit.imports.test_reading import FILES, IMPORTS, TOOLS
from typer.testing import CliRunner

from steelyard.cli.main import app
from steelyard.errors import RecordError
from steelyard.judge.findings import RunFindings
from steelyard.judge.kinds.caveats import SystemsLeftOut
from steelyard.judge.kinds.not_measured import ValueMissing
from steelyard.records.archive import Run, open_run
from steelyard.records.missing import TooFewPrinted
from steelyard.report.formats.markdown import markdown_text
from steelyard.report.from_run import find
from steelyard.report.sentences.trust import State, trust_lines
from steelyard.report.tables.effects import effect_rows
from steelyard.web.index import Index

HYPERFINE = IMPORTS / "hyperfine" / "1.15.0-two-commands.json"
AB = TOOLS / "ab" / "2.3-r1934973" / "stdout.txt"


def steelyard(*words: object, code: int = 0) -> str:
    result = CliRunner().invoke(app, [str(word) for word in words], env={"COLUMNS": "200"})
    assert result.exit_code == code, result.output
    return result.output


def imported(folder: Path, kind: str, files: list[Path], *words: object) -> RunFindings:
    results = folder / "results"
    steelyard("import", kind, *files, *words, "--results", results, "--format", "json")
    return find(open_run(results / f"import-{kind}"))


def copies(folder: Path, counts: dict[str, int]) -> list[Path]:
    """Reports of ab, each a little slower than the one before."""
    found = []
    for system, count in counts.items():
        for at in range(count):
            path = folder / f"{system}-{at}.txt"
            rate = 5000 + 10 * at + (2000 if system == "new" else 0)
            path.write_text(AB.read_text("utf-8").replace("5343.96", f"{rate}.00"), "utf-8")
            found.append(path)
    return found


def test_a_file_that_is_named_twice_adds_no_trials(tmp_path: Path) -> None:
    (file,) = copies(tmp_path, {"old": 1})
    again = tmp_path / "." / file.name
    said = steelyard("import", "ab", file, again, "--as", "system=old,new", code=2)
    assert "named twice" in said


def test_a_copy_of_a_file_under_another_name_adds_no_trials(tmp_path: Path) -> None:
    files = copies(tmp_path, {"old": 2, "new": 2})
    files[2].write_bytes(files[0].read_bytes())
    said = steelyard("import", "ab", *files, "--as", "system=old,new", code=2)
    assert "new-0.txt" in said
    assert "old-0.txt, byte for byte" in "".join(said.splitlines())
    assert "a trial counts once" in said


def test_runs_of_commands_are_trials_and_the_lost_guarantees_are_named(tmp_path: Path) -> None:
    found = imported(tmp_path, "hyperfine", [HYPERFINE], "--as", "system=one,two")
    verdict = found.workloads[0].verdicts[0]
    assert (verdict.n_baseline, verdict.n_other) == (10, 10)
    assert [each.kind for each in found.workloads[0].caveats] == ["order_not_random", "judged_once"]
    assert (found.design, found.stop.reason) == ("none", "imported")
    assert not any("carry_over" in note.kind for note in verdict.reasons)


def test_files_are_assigned_by_the_name_of_their_system(tmp_path: Path) -> None:
    files = copies(tmp_path, {"old": 5, "new": 6})
    found = imported(tmp_path, "ab", files, "--as", "system=old,new")
    verdict = found.workloads[0].verdicts[0]
    assert (verdict.word.value, verdict.n_baseline, verdict.n_other) == ("faster", 5, 6)
    assert found.tested["old"] == {"tool.version": ("2.3",)}
    assert found.workloads[0].conditions == ({"users": 16},)


@pytest.mark.parametrize(("failed", "state"), [(0, State.GOOD), (2_000, State.BAD)])
def test_operations_that_failed_in_the_files_are_said(
    failed: int, state: State, tmp_path: Path
) -> None:
    files = copies(tmp_path, {"old": 5, "new": 5})
    for file in files[5:]:
        text = file.read_text("utf-8")
        assert "Failed requests:        0" in text
        file.write_text(text.replace("requests:        0", f"requests:        {failed}"), "utf-8")
    found = imported(tmp_path, "ab", files, "--as", "system=old,new")
    (line,) = [each for each in trust_lines(found) if each.title == "Failures"]
    assert line.state is state
    assert ("% of new" in line.text) is (failed > 0)


def test_errors_of_a_tool_that_prints_what_succeeded_are_the_rest(tmp_path: Path) -> None:
    (source,) = (IMPORTS / "oha").glob("1*.json")
    whole = json.loads(source.read_text("utf-8"))
    whole["summary"]["successRate"] = 0.75
    files = [tmp_path / f"{name}.json" for name in ("old", "new")]
    for file in files:
        file.write_text(json.dumps(whole | {"of": file.stem}), "utf-8")
    found = imported(tmp_path, "oha", files, "--as", "system=old,new")
    (errors, _) = [c.values for c in found.workloads[0].cells if c.response == "errors"]
    assert errors == (0.25,)


def test_a_percentile_that_too_few_requests_stand_behind_says_so(tmp_path: Path) -> None:
    files = copies(tmp_path, {"old": 2, "new": 2})
    for file in files[1:]:
        text = file.read_text("utf-8").replace("requests:      2000", "requests:      500")
        assert "requests:      500\n" in text
        file.write_text(text, "utf-8")
    found = imported(tmp_path, "ab", files, "--as", "system=old,new")
    old, new = [each for each in found.workloads[0].cells if each.response == "response.p99"]
    why = (ValueMissing(reason=TooFewPrinted(needed=1000, of="requests")),)
    assert (len(old.values), old.not_measured) == (1, why)
    assert (len(new.values), new.not_measured) == (0, why)
    said = markdown_text(found)
    assert "never tried" not in said
    assert "1 of 2" in said


def test_others_than_the_judged_response_only_explore(tmp_path: Path) -> None:
    files = copies(tmp_path, {"old": 5, "new": 5})
    found = imported(tmp_path, "ab", files, "--as", "system=old,new", "--response", "response.mean")
    own = found.workloads[0]
    assert [each.name for each in own.responses if each.primary] == ["response.mean"]
    assert [each.response for each in own.verdicts if not each.exploratory] == ["response.mean"]
    assert own.verdicts[0].not_judged[0].kind == "no_variation"


def test_too_few_trials_are_kept_and_not_judged(tmp_path: Path) -> None:
    files = copies(tmp_path, {"old": 1, "new": 1})
    found = imported(tmp_path, "ab", files, "--as", "system=old,new")
    verdict = found.workloads[0].verdicts[0]
    assert (verdict.word.value, verdict.not_judged[0].kind) == ("not_judged", "too_few_visits")
    assert [cell.values for cell in found.workloads[0].cells[:2]] == [(5000.0,), (7000.0,)]


def test_what_is_not_judged_is_shown_by_condition_and_stands_over_all_of_them(
    tmp_path: Path,
) -> None:
    lines = [f"Benchmark{name}-8 \t 1000 \t {ns}.5 ns/op\n" for name, ns in (("A", 11), ("B", 77))]
    text = f"goos: linux\ngoarch: amd64\npkg: x\n{''.join(lines)}PASS\nok  \tx\t1.2s\n"
    files = [tmp_path / name for name in ("old.txt", "new.txt")]
    for number, path in enumerate(files):
        path.write_text(text.replace(".5", f".{number}"), encoding="utf-8")
    found = imported(tmp_path, "go-bench", files, "--as", "system=old,new")
    assert [verdict.conditions for verdict in found.workloads[0].verdicts[:1]] == [None]
    (table,) = effect_rows(found)
    assert [row.cells[1] for row in table.rows[1:]] == ["11.0", "77.0"]
    one = imported(tmp_path, "ab", copies(tmp_path, {"old": 1, "new": 1}), "--as", "system=old,new")
    assert one.workloads[0].verdicts[0].conditions is None


def long_csv(folder: Path, values: list[float]) -> Path:
    """Half of the values are those of `old`, half of `new`."""
    path, half = folder / "z.csv", len(values) // 2
    systems = ["old"] * half + ["new"] * half
    lines = [f"{name},t,req/s,higher,{value}" for name, value in zip(systems, values, strict=True)]
    path.write_text("\n".join(["system,metric,unit,direction,value", *lines]) + "\n", "utf-8")
    return path


@pytest.mark.parametrize(
    ("last", "notes"),
    [
        ([0, 0, 0, 0], [("new", 4, "zero")]),
        ([105, 106, 107, -1], [("new", 1, "negative_or_not_finite")]),
        ([0, -3, 107, -1], [("new", 1, "zero"), ("new", 2, "negative_or_not_finite")]),
    ],
)
def test_numbers_without_a_ratio_are_kept_and_not_judged(
    last: list[float], notes: list[tuple[str, int, str]], tmp_path: Path
) -> None:
    table = long_csv(tmp_path, [101, 102, 103, 104, *last])
    found = imported(tmp_path, "long-csv", [table], "--as", "system=old,new")
    (verdict,) = found.workloads[0].verdicts
    assert verdict.word.value == "not_judged"
    said = [(n.system, n.trials, n.value) for n in verdict.not_judged if n.kind == "value_unusable"]
    assert said == notes
    assert [cell.values for cell in found.workloads[0].cells] == [(101, 102, 103, 104), tuple(last)]


@pytest.mark.parametrize(("word", "code"), [("undecided", 0), ("not_judged", 5)])
def test_what_is_not_judged_fails_by_that_word_alone(word: str, code: int, tmp_path: Path) -> None:
    table = long_csv(tmp_path, [101, 102, 103, 104, 0, 0, 0, 0])
    words = ("--as", "system=old,new", "--results", tmp_path / "results", "--fail-if", word)
    steelyard("import", "long-csv", table, *words, code=code)


def test_a_trial_too_far_from_the_others_is_refused_and_nothing_is_kept(tmp_path: Path) -> None:
    table = long_csv(tmp_path, [101, 102, 103, 104, 105, 106, 107, 1e9])
    results = tmp_path / "results"
    words = ("--as", "system=old,new", "--results", results)
    assert "trial 8" in steelyard("import", "long-csv", table, *words, code=3)
    assert not results.exists()


def test_benchmarks_of_one_file_are_conditions(tmp_path: Path) -> None:
    files = [IMPORTS / "google-benchmark" / f"1.7.1-{name}.json" for name in ("old", "new")]
    found = imported(tmp_path, "google-benchmark", files, "--as", "system=old,new")
    names = [each["benchmark"] for each in found.workloads[0].conditions]
    assert names == ["BM_sort/64", "BM_sort/512", "BM_copy"]


def test_forks_are_trials_and_each_mode_has_its_number(tmp_path: Path) -> None:
    file = IMPORTS / "jmh" / "1.37-two-modes.json"
    copy = tmp_path / "new.json"
    copy.write_bytes(file.read_bytes() + b"\n")
    own = imported(tmp_path, "jmh", [file, copy], "--as", "system=old,new").workloads[0]
    judged = [(v.response, (v.conditions or {}).get("benchmark")) for v in own.verdicts]
    for size in (64, 512):
        assert ("jmh.rate", f"example.Sorts.sort size={size} thrpt") in judged
        assert ("jmh.time", f"example.Sorts.sort size={size} avgt") in judged
        assert ("jmh.rate", f"example.Sorts.sort size={size} avgt") not in judged
    assert {(v.n_baseline, v.n_other) for v in own.verdicts} == {(5, 5)}
    assert all(cell.values for cell in own.cells)


def test_systems_that_the_file_names_need_no_other_file(tmp_path: Path) -> None:
    table = IMPORTS / "long-csv" / "written.csv"
    own = imported(tmp_path, "long-csv", [table], "--as", "system=old,new").workloads[0]
    assert {(v.n_baseline, v.n_other) for v in own.verdicts} == {(4, 4)}
    assert {v.response for v in own.verdicts if not v.exploratory} == {"value.higher"}


def test_trials_of_a_system_that_was_not_named_are_said_to_be_left_out(tmp_path: Path) -> None:
    file = long_csv(tmp_path, [100 + at for at in range(20)])
    file.write_text(file.read_text("utf-8").replace("new,", "New,", 1), "utf-8")
    found = imported(tmp_path, "long-csv", [file], "--as", "system=old,new")
    (verdict,) = found.workloads[0].verdicts
    assert (verdict.n_baseline, verdict.n_other) == (10, 9)
    assert SystemsLeftOut(trials={"New": 1}) in found.workloads[0].caveats
    assert "1 trial of New" in markdown_text(found)
    said = steelyard(
        "import", "long-csv", file, "--as", "system=old,new", "--results", tmp_path / "again"
    )
    assert "left out, of systems that were not named: 1 trial of New" in said


def test_a_system_that_the_file_does_not_name_is_refused_with_those_that_it_does(
    tmp_path: Path,
) -> None:
    table = IMPORTS / "phoronix" / "10.8.6-two-systems.xml"
    said = steelyard(
        "import", "phoronix", table, "--as", "system=old,zfs", "--results", tmp_path, code=2
    )
    assert "`zfs`" in said
    assert "`new`" in said


def test_files_whose_conditions_differ_are_refused_with_their_name(tmp_path: Path) -> None:
    other = tmp_path / "other.txt"
    text = AB.read_text("utf-8").replace("Concurrency Level:      16", "Concurrency Level:      8")
    other.write_text(text, "utf-8")
    said = steelyard("import", "ab", AB, other, "--as", "system=a,b", code=2)
    assert "users 16" in said
    assert not (tmp_path / "results").exists()


@pytest.mark.parametrize(
    ("words", "names"),
    [
        (["system=old"], "--as"),
        (["host=old,new"], "--as"),
        (["system=old,new", "--response", "speed"], "--response"),
        (["system=old,new", "--baseline", "older"], "--baseline"),
        (["system=old,new", "--margin", "2 s"], "--margin"),
    ],
)
def test_a_mistake_of_the_command_line_names_its_option(
    tmp_path: Path, words: list[str], names: str
) -> None:
    results = tmp_path / "results"
    files = copies(tmp_path, {"old": 1, "new": 1})
    said = steelyard("import", "ab", *files, "--results", results, "--as", *words, code=2)
    assert names in said
    assert not results.exists()


def test_names_that_contradict_the_names_of_files_are_refused(tmp_path: Path) -> None:
    files = copies(tmp_path, {"old": 1, "new": 1})
    steelyard("import", "ab", *reversed(files), "--as", "system=old,new", code=2)


def test_an_import_is_reported_compared_and_listed_as_a_run(tmp_path: Path) -> None:
    for _ in range(2):
        imported(tmp_path, "hyperfine", [HYPERFINE], "--as", "system=one,two")
    results = tmp_path / "results"
    one, other = sorted((results / "import-hyperfine").iterdir())
    steelyard("report", one, "--format", "html,md,csv,json")
    assert (one / "report" / "report.html").stat().st_size > 1000
    assert "CONTRADICTION" not in steelyard("compare", one, other)
    assert {run.status for run in Index(results).listing().runs.values()} == {"imported"}
    steelyard("resume", one, code=3)


def test_the_files_are_kept_as_they_were_and_a_changed_import_is_refused(tmp_path: Path) -> None:
    imported(tmp_path, "hyperfine", [HYPERFINE], "--as", "system=one,two")
    run = open_run(tmp_path / "results" / "import-hyperfine")
    assert (run.path / "sources" / f"001-{HYPERFINE.name}").read_bytes() == HYPERFINE.read_bytes()
    kept: dict[str, Any] = json.loads((run.path / "import.json").read_text("utf-8"))
    kept["trials"].pop()
    (run.path / "import.json").write_text(json.dumps(kept), "utf-8")
    with pytest.raises(RecordError):
        find(Run(run.path))


def test_findings_are_printed_as_json(tmp_path: Path) -> None:
    words = ("hyperfine", HYPERFINE, "--as", "system=one,two", "--results", tmp_path, "--json")
    printed = RunFindings.model_validate_json(steelyard("import", *words))
    again = steelyard("report", tmp_path / "import-hyperfine", "--format", "json", "--json")
    assert RunFindings.model_validate_json(again) == printed


def test_a_variable_names_the_folder_that_keeps_the_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STEELYARD_RESULTS", str(tmp_path / "mine"))
    steelyard("import", "hyperfine", HYPERFINE, "--as", "system=one,two", "--format", "json")
    assert open_run(tmp_path / "mine" / "import-hyperfine").path.is_dir()


def test_the_list_shows_every_kind() -> None:
    assert len(steelyard("import", "list").splitlines()) == len(FILES)


def test_where_no_file_has_the_usual_response_it_says_which_one_is_judged(tmp_path: Path) -> None:
    text = FILES["perfmon"][0].read_text("utf-8").replace("% Processor Time", "Prozessorzeit")
    files = [tmp_path / f"{system}-{at}.csv" for system in ("old", "new") for at in range(3)]
    for at, file in enumerate(files):
        file.write_text(text.replace("0.0005", f"0.00{50 + at}"), "utf-8")
    words = ("import", "perfmon", *files, "--as", "system=old,new", "--results", tmp_path / "r")
    assert "perfmon.cpu" in steelyard(*words)
    chosen = steelyard(*words, "--response", "perfmon.queue")
    assert "perfmon.cpu" not in chosen
