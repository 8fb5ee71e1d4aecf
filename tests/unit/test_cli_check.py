"""``steelyard check``: a table in, findings out; every mistake in a file with its place."""

from __future__ import annotations

import json
import re
from pathlib import Path

import jsonschema
import pytest
from typer.testing import CliRunner

from steelyard.cli.main import app
from steelyard.consistency.findings import WARNINGS, Cause, Finding, Place, Rule, Severity
from steelyard.report.sentences.terminal.published import expected, reason

ROOT = Path(__file__).parents[2]
GUIDE = (ROOT / "docs" / "guide" / "check-published-tables.md").read_text(encoding="utf-8")
REFERENCE = (ROOT / "docs" / "reference" / "check-rules.md").read_text(encoding="utf-8")
TABLE, _, CLAIMS, _ = re.findall(r"```text\n(.*?)```", GUIDE, re.DOTALL)
SCHEMA = json.loads((ROOT / "schemas" / "table-findings.schema.json").read_text("utf-8"))
CLEAN = "system,metric,unit,value\n" + "".join(
    f"{name},throughput,req/s,{value}\n" for name, value in (("old", 812.4), ("new", 901.7))
)


def checked(folder: Path, text: str | bytes, *words: str, code: int = 0) -> tuple[str, str]:
    path = folder / "table.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    result = CliRunner().invoke(app, ["check", str(path), *words], env={"COLUMNS": "200"})
    assert result.exit_code == code, result.output
    return result.stdout, result.stderr


def rules(folder: Path, text: str, *words: str) -> list[str]:
    out, _ = checked(folder, text, "--json", *words, code=6)
    return [finding["rule"] for finding in json.loads(out)["findings"]]


def test_a_table_without_a_finding_ends_with_zero(tmp_path: Path) -> None:
    out, _ = checked(tmp_path, CLEAN)
    assert "2 values checked" in out


def test_a_misspelt_column_of_values_is_hinted_at_with_how_few_rules_applied(
    tmp_path: Path,
) -> None:
    out, _ = checked(tmp_path, TABLE.replace(",value", ",v"))
    assert "16 values checked; 16 checked by few rules" in out
    assert "`value`" in out
    found = json.loads(checked(tmp_path, TABLE.replace(",value", ",v"), "--json")[0])
    assert (found["values"], found["alone"], found["lacks_value"]) == (16, 16, True)


def test_a_table_that_rules_can_be_held_against_says_nothing_of_it(tmp_path: Path) -> None:
    found = json.loads(checked(tmp_path, TABLE, "--json", code=6)[0])
    assert (found["alone"], found["lacks_value"]) == (0, False)


def test_of_a_row_that_stands_there_twice_no_number_is_expected(tmp_path: Path) -> None:
    text = "system,metric,value\na,x,1\na,x,1\n"
    (finding,) = [
        each
        for each in json.loads(checked(tmp_path, text, "--json", code=6)[0])["findings"]
        if each["rule"] == "duplicate-row"
    ]
    assert (finding["expected_low"], finding["others"][0]["line"]) == (None, 2)
    assert "expected" not in checked(tmp_path, text, code=6)[0]


def test_findings_as_json_fit_their_schema_and_name_place_and_values(tmp_path: Path) -> None:
    (tmp_path / "claims.csv").write_text(CLAIMS, encoding="utf-8")
    out, _ = checked(
        tmp_path, TABLE, "--json", "--claims", str(tmp_path / "claims.csv"), code=6
    )  # fmt: skip
    found = json.loads(out)
    jsonschema.Draft202012Validator(SCHEMA).validate(found)
    first, claim, law = found["findings"]
    assert (first["rule"], first["at"]["line"], first["at"]["printed"]) == (
        "percentiles", 13, "0.97")  # fmt: skip
    assert (first["expected_low"], first["others"][0]["line"]) == (1.02, 12)
    assert (claim["claim"], claim["count"], claim["of"]) == ("new is faster", 1, 2)
    assert law["expected_high"] == pytest.approx(8 / 4512.0 * 1000)
    assert (found["claims"], found["claims_supported"]) == (2, 1)


def test_a_rule_that_is_ignored_gives_neither_finding_nor_exit_code(tmp_path: Path) -> None:
    text = TABLE.replace("0.97", "2.97")
    assert rules(tmp_path, text) == ["littles-law"]
    checked(tmp_path, text, "--ignore", "littles-law")


def test_standard_input_is_read() -> None:
    piped = CliRunner().invoke(app, ["check", "-"], input=CLEAN.replace("\n", "\r\n"))
    assert piped.exit_code == 0, piped.output


@pytest.mark.parametrize(
    "text",
    [
        CLEAN.encode("utf-8-sig"),
        CLEAN.replace(",", ";"),
        CLEAN.replace(",", "\t"),
        CLEAN.replace("\n", "\n\n"),
        CLEAN + "later,throughput,req/s,not measured\n",
        "system;cores;rate (req/s)\na;1,204;10\nb;2,408;20\n",
        "system;cores;rate (req/s)\na;0,1;10\nb;all;20\n",
        "system;table;rate (req/s)\na;5,1;10\nb;5,2;20\n",
    ],
    ids=[
        "byte order mark",
        "semicolons",
        "tabs",
        "blank lines",
        "a text",
        "thousands in a wide table",
        "lists in a wide table",
        "places in a wide table",
    ],
)
def test_a_table_may_have_this_form(text: str | bytes, tmp_path: Path) -> None:
    checked(tmp_path, text)


def test_a_column_that_is_left_out_for_its_separated_thousands_is_counted(tmp_path: Path) -> None:
    out, _ = checked(tmp_path, 'system,rate,time\na,"1,204",10\nb,998,12\n')
    assert "2 values checked; 2 left out that are no numbers" in out


WRONG: dict[str, tuple[str | bytes, str]] = {
    "empty": ("", "1:1: the file is empty"),
    "a header alone": ("system,value\n", "1:1: there is no row below the header"),
    "no number": ("system,value\na,fast\n", "1:1: there is no number to check"),
    "a row too short": ("system,unit,value\na,s,1\nb,2\n", "3:3: 2 fields where the header has 3"),
    "a column twice": ("system,value,value\na,1,2\n", "1:14: the column `value` stands there"),
    "an open quote": ('system,value\n"a,1\n', "2:1: a quote is opened here and not closed"),
    "a decimal comma": ("system;value\na;1,5\n", "2:3: `1,5` has a decimal comma"),
    "a wide table with decimal commas": (
        "system;rate (req/s);time (s)\na;100,5;10\nb;200;10,5\n",
        "2:3: `100,5` has a decimal comma",
    ),
    "a decimal comma among thousands": (
        "system;rate (req/s);time (s)\na;1,204;10\nb;0,998;10\n",
        "2:3: `1,204` has a decimal comma",
    ),
    "not text": (b"\xff\xfe\x00\x01", "1:1: cannot be read"),
}


@pytest.mark.parametrize("name", WRONG)
def test_bad_input_is_one_message_with_its_place(name: str, tmp_path: Path) -> None:
    text, message = WRONG[name]
    out, err = checked(tmp_path, text, code=2)
    assert not out
    assert f"table.csv:{message}" in err.replace("\n", "")
    assert "published-table-is-wrong" in err


def test_a_study_is_no_table_and_what_checks_a_study_is_named(tmp_path: Path) -> None:
    (tmp_path / "study.yaml").write_text("study: mine\nload: {users: [1, 2]}\n", encoding="utf-8")
    result = CliRunner().invoke(app, ["check", str(tmp_path / "study.yaml")])
    assert result.exit_code == 2
    assert "study.yaml:1:1:" in result.stderr.replace("\n", "")
    assert "steelyard plan" in result.stderr


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["check", str(tmp_path / "none.csv")])
    assert result.exit_code == 2
    assert "No such file" in result.stderr.replace("\n", " ")


WRONG_CLAIMS = {
    "claim,subject\nx,new\n": "1:1: no column `relation`",
    "claim,subject,relation,colour\nx,new,better,red\n": "1:24: the table has no column `colour`",
    "claim,subject,relation\nx,new,nicer\n": "2:7: `nicer` is no relation",
    "claim,subject,relation\nx,newest,better\n": "2:3: no two values of the table are compared",
    "claim,subject,relation,by\nx,new,higher,much\n": "2:14: `much` is not a share",
}


@pytest.mark.parametrize("text", WRONG_CLAIMS)
def test_a_claim_that_cannot_be_held_is_refused_with_its_place(text: str, tmp_path: Path) -> None:
    (tmp_path / "claims.csv").write_text(text, encoding="utf-8")
    _, err = checked(tmp_path, TABLE, "--claims", str(tmp_path / "claims.csv"), code=2)
    assert f"claims.csv:{WRONG_CLAIMS[text]}" in err.replace("\n", "")


def test_better_needs_a_direction(tmp_path: Path) -> None:
    (tmp_path / "claims.csv").write_text("claim,subject,relation\nx,new,better\n", encoding="utf-8")
    _, err = checked(tmp_path, CLEAN, "--claims", str(tmp_path / "claims.csv"), code=2)
    assert "whether more is better" in err


@pytest.mark.parametrize("rule", Rule)
def test_every_rule_has_its_row_and_its_severity_in_the_reference(rule: Rule) -> None:
    severity = "warning" if rule in WARNINGS else "error"
    assert f"| `{rule}` | {severity} |" in REFERENCE


@pytest.mark.parametrize("rule", Rule)
def test_every_rule_has_a_reason_in_words(rule: Rule) -> None:
    at = Place(2, 1, "value", "a", "1.0")
    for cause in (None, *Cause):
        assert reason(Finding(rule, Severity.ERROR, at, 2.0, 3.0, cause, (at,)))


def test_an_expected_value_has_the_digits_of_the_printed_one() -> None:
    def shown(printed: str, low: float | None, high: float | None) -> str | None:
        at = Place(2, 1, "value", "a", printed)
        return expected(Finding(Rule.SUM, Severity.ERROR, at, low, high))

    assert shown("294", 393.0, 395.0) == "394"
    assert shown("-3.67", -4.197, -3.857) == "-4.20 to -3.86"
    assert shown("0.97", 1.02, None) == "at least 1.020"
    assert shown("1e3", None, 2000.0) == "at most 2000.0"
    assert shown("12", None, None) is None
