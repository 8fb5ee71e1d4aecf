"""``steelyard judge``: from a file of trials to words, and every mistake with its place."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from steelyard.cli.main import app
from steelyard.errors import StudyError
from steelyard.records.own_files.separated_values import rows_of
from steelyard.records.own_files.trials_file import parse_trials

ROOT = Path(__file__).parents[2]
GUIDE = (ROOT / "docs" / "guide" / "judge-your-own-trials.md").read_text(encoding="utf-8")
EXAMPLE = re.findall(r"```text\n(order,.*?)```", GUIDE, re.DOTALL)[0]


def judged(folder: Path, text: str, *words: str, code: int = 0) -> tuple[str, str]:
    path = folder / "trials.csv"
    path.write_text(text, encoding="utf-8")
    given = ["judge", str(path), "--baseline", "old", "--response", "throughput", *words]
    result = CliRunner().invoke(app, given, env={"COLUMNS": "200"})
    assert result.exit_code == code, result.output
    return result.stdout, result.stderr


def test_the_python_of_the_guide_says_the_same(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [row.split(",") for row in EXAMPLE.splitlines()[1:]]
    given = {"systems": [row[1] for row in rows], "throughputs": [float(row[2]) for row in rows]}
    for block in re.findall(r"```python\n(.*?)```", GUIDE, re.DOTALL):
        exec(block, given)  # noqa: S102 - our own page
    _, *told = capsys.readouterr().out.splitlines()
    shown, _ = judged(tmp_path, EXAMPLE, "--budget", "96")
    assert told[1:] == [line.replace("throughput", "response") for line in shown.splitlines()[1:]]


def test_a_time_that_is_better_when_higher_is_neither_quick_nor_long(tmp_path: Path) -> None:
    out, _ = judged(tmp_path, EXAMPLE, "--unit", "ms")
    assert "better than old: 5.0 % higher" in out
    assert "quicker" not in out
    assert "longer throughput" not in out


def test_a_dash_reads_standard_input(tmp_path: Path) -> None:
    given = ["judge", "-", "--baseline", "old", "--response", "throughput"]
    piped = CliRunner().invoke(app, given, input=EXAMPLE.replace("\n", "\r\n"))
    assert piped.exit_code == 0, piped.output
    title, *lines = piped.stdout.splitlines()
    assert title == "standard input: throughput"
    assert lines == judged(tmp_path, EXAMPLE)[0].splitlines()[1:]
    wrong = CliRunner().invoke(app, given, input=EXAMPLE.replace("8651", "fast"))
    assert wrong.exit_code == 2
    assert "-:2:7: `fast` is not a number" in wrong.stderr


def test_json_holds_the_findings_of_a_report(tmp_path: Path) -> None:
    out, _ = judged(tmp_path, EXAMPLE, "--json")
    found = json.loads(out)
    assert found["verdicts"][0]["word"] == "faster"
    assert found["systems"] == ["old", "new"]


def test_a_word_that_must_not_be_ends_with_exit_code_five(tmp_path: Path) -> None:
    judged(tmp_path, EXAMPLE, "--fail-if", "faster", code=5)
    judged(tmp_path, EXAMPLE, "--fail-if", "slower")


def test_rows_are_judged_in_their_order_wherever_they_stand_in_the_file(tmp_path: Path) -> None:
    header, *rows = EXAMPLE.splitlines()
    turned = "\n".join([header, *reversed(rows)])
    assert judged(tmp_path, turned)[0] == judged(tmp_path, EXAMPLE)[0]


def test_semicolons_and_columns_that_no_one_asked_for_are_read(tmp_path: Path) -> None:
    header, *rows = EXAMPLE.splitlines()
    text = "\n".join([f"{header};note", *(f'{row};"a; b"' for row in rows)]).replace(",", ";")
    assert judged(tmp_path, text)[0] == judged(tmp_path, EXAMPLE)[0]


def test_an_order_that_no_one_drew_is_judged_with_what_is_lost(tmp_path: Path) -> None:
    systems = ["old"] * 10 + ["new"] * 10
    values = [100 + i % 3 for i in range(10)] + [130 + i % 3 for i in range(10)]
    rows = [f"{i},{s},{v}" for i, (s, v) in enumerate(zip(systems, values, strict=True))]
    text = "\n".join(["order,system,throughput", *rows])
    out, _ = judged(tmp_path, text, "--design", "none")
    assert "new is better than old" in out
    assert "The order was not randomised" in out
    assert "The error rate holds for any noise" not in out
    _, complaint = judged(tmp_path, text, code=2)
    assert "trials.csv:4:3: at trial 3 one system leads by 3 visits" in complaint


@pytest.mark.parametrize(
    ("change", "place", "said"),
    [
        (("8651", "fast"), "2:7", "`fast` is not a number"),
        (("8651", ""), "2:7", "no `throughput`"),
        (("8651", "0"), "2:7", "trial 1: the response is zero"),
        (("8651", "-3"), "2:7", "trial 1: the response is negative"),
        (("order,system,throughput", "order,system,speed"), "1:1", "no column `throughput`"),
        (("order,system", "order,platform"), "1:1", "no column `system`"),
        (("order,system", "system,system"), "1:8", "the column `system` stands there twice"),
        (("1,new,8651", "1,new,8651,9"), "2:7", "4 fields where the header has 3"),
        (("1,new,8651", "1,,8651"), "2:3", "no `system`"),
    ],
)
def test_a_mistake_in_the_file_is_reported_with_its_place(
    tmp_path: Path, change: tuple[str, str], place: str, said: str
) -> None:
    _, complaint = judged(tmp_path, EXAMPLE.replace(*change), code=2)
    assert f"trials.csv:{place}: " in complaint
    assert said in complaint


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    given = ["judge", str(tmp_path / "none.csv"), "--baseline", "a"]
    result = CliRunner().invoke(app, given)
    assert result.exit_code == 2
    assert "none.csv:1:1: cannot be read" in result.stderr


@pytest.mark.parametrize(
    ("words", "option"),
    [
        (("--margin", "0"), "--margin"),
        (("--margin", "2000%"), "--margin"),
        (("--baseline", "none of them"), "--baseline"),
    ],
)
def test_a_mistake_on_the_command_line_is_not_laid_to_the_file(
    tmp_path: Path, words: tuple[str, str], option: str
) -> None:
    _, complaint = judged(tmp_path, EXAMPLE, *words, code=2)
    assert f"Invalid value for {option}" in complaint
    assert "trials.csv" not in complaint


def test_an_order_that_no_one_drew_is_reported_as_judged_once(tmp_path: Path) -> None:
    out, _ = judged(tmp_path, EXAMPLE, "--design", "none")
    assert "judged once" in out
    for untrue in ("valid at", "early stops", "would decide"):
        assert untrue not in out


def test_rows_of_one_order_are_one_visit_at_several_loads() -> None:
    text = "order,system,load,response\n" + "\n".join(
        f"{visit},{'ab'[visit % 2]},{load},{100 + visit + load}"
        for visit in range(8)
        for load in (1, 16)
    )
    found = parse_trials(text, Path("t.csv"), "response")
    assert found.levels("load") == [1, 16] * 8
    assert found.numbers("order") == [visit for visit in range(8) for _ in range(2)]


def test_every_number_that_is_none_is_reported_at_once() -> None:
    text = "order,system,response\n1,a,x\n2,b,\n3,a,nan"
    with pytest.raises(StudyError) as refused:
        parse_trials(text, Path("t.csv"), "response").numbers("response")
    assert [(c.line, c.column) for c in refused.value.complaints] == [(2, 5), (3, 5), (4, 5)]


@pytest.mark.parametrize(
    ("line", "fields"),
    [
        ('1,"a, b",3', ["1", "a, b", "3"]),
        ('"say ""so""",2', ['say "so"', "2"]),
        (" 1 , two ,", ["1", "two", ""]),
    ],
)
def test_quotes_hold_separators_and_blanks_around_fields_do_not_count(
    line: str, fields: list[str]
) -> None:
    ((*found,),) = rows_of(line)
    assert [field.text for field in found] == fields


def test_an_empty_file_is_reported() -> None:
    with pytest.raises(StudyError):
        parse_trials("\n\n", Path("t.csv"), "response")


def beside(covariate: str) -> str:
    header, *rows = EXAMPLE.splitlines()
    return "\n".join([f"{header},covariate", *(f"{row},{covariate}" for row in rows)])


def test_a_covariate_of_the_machine_is_taken_out_and_told(tmp_path: Path) -> None:
    header, *rows = EXAMPLE.splitlines()
    speeds = (f"{row},{1 + (7 * at % 5) / 100}" for at, row in enumerate(rows))
    out, _ = judged(tmp_path, "\n".join([f"{header},covariate", *speeds]))
    assert "The covariate was regressed out." in out
    assert "covariate" not in judged(tmp_path, EXAMPLE)[0]


def test_a_covariate_without_a_logarithm_is_named_with_its_place(tmp_path: Path) -> None:
    _, errors = judged(tmp_path, beside("0"), code=2)
    assert "trials.csv:2:" in errors
    assert "trial 1: the covariate is zero" in errors


def of_machines(*, number: str = "each") -> str:
    """The trials of the example on machine a, and those of one in the opposite order on b."""
    header, *rows = EXAMPLE.splitlines()
    lines = [f"{header},machine"]
    for place, row in enumerate(rows):
        _, system, throughput = row.split(",")
        opposite, other = ("old", 900) if system == "new" else ("new", 950)
        trials = [(system, throughput, "a"), (opposite, other + 7 * place % 5, "b")]
        for machine, (name, value, where) in enumerate(trials):
            order = place + 1 if number == "each" else 2 * place + machine + 1
            lines.append(f"{order},{name},{value},{where}")
    return "\n".join(lines)


@pytest.mark.parametrize("number", ["each", "all"])
def test_machines_are_judged_each_and_together_whichever_way_they_are_numbered(
    tmp_path: Path, number: str
) -> None:
    found = json.loads(judged(tmp_path, of_machines(number=number), "--json")[0])
    where = [verdict["conditions"] for verdict in found["verdicts"]]
    assert where == [None, {"machine": "a"}, {"machine": "b"}]
    assert {verdict["word"] for verdict in found["verdicts"]} == {"faster"}
    assert found["machines"][0]["visits_each"] == 16
    judged(tmp_path, of_machines(), "--fail-if", "faster", code=5)


def test_a_visit_that_one_machine_lacks_is_refused_with_its_line(tmp_path: Path) -> None:
    lines = of_machines().splitlines()
    assert lines[10].startswith("5,new")
    _, told = judged(tmp_path, "\n".join(lines[:10] + lines[11:]), code=2)
    assert "visits were left out: 5" in told
    assert "trials.csv:11:1" in told or "trials.csv:12:1" in told


def test_a_machine_that_lacks_a_system_is_refused_with_its_place(tmp_path: Path) -> None:
    kept = [x for x in of_machines(number="all").splitlines() if not re.search(r"new,.*,b$", x)]
    renumbered = [kept[0], *(re.sub(r"^\d+", str(n), x) for n, x in enumerate(kept[1:], start=1))]
    _, told = judged(tmp_path, "\n".join(renumbered), code=2)
    first = next(n for n, line in enumerate(renumbered, start=1) if line.endswith(",b"))
    column = renumbered[first - 1].rindex("b") + 1
    assert f"trials.csv:{first}:{column}" in told
    assert "no trial of new" in told
