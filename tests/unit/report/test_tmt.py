"""The results for tmt, as a reader of YAML and as a shell take them."""

from __future__ import annotations

import io
from typing import Any

import pytest
from ruamel.yaml import YAML
from tests.unit.report.golden_findings import CASES, golden

from steelyard.inference.sequential import VerdictWord
from steelyard.judge.analyses.claims.findings import ClaimWord
from steelyard.judge.findings import RunFindings
from steelyard.report.formats import cases, tmt
from steelyard.report.formats.registry import FORMATS, Place

READS_ALL = (*CASES, "claims", "six", "trade-off")


def results(run: RunFindings, **beside: str) -> list[dict[str, Any]]:
    text = tmt.tmt_files(run, beside)[tmt.RESULTS]
    found = YAML(typ="safe", pure=True).load(io.StringIO(str(text)))
    assert isinstance(found, list)
    return found


def rows(run: RunFindings) -> list[list[str]]:
    text = str(tmt.tmt_files(run, {})[tmt.ROWS])
    return [line.split("\t") for line in text.splitlines()]


@pytest.mark.parametrize("case", READS_ALL)
def test_both_files_hold_every_case_with_its_result(case: str) -> None:
    run = golden(case)
    known = cases.cases_of(run)
    wanted = [tmt.OUTCOMES[each.result] for each in known]
    assert [each["result"] for each in results(run)] == wanted
    assert [row[0] for row in rows(run)] == wanted
    assert [row[1] for row in rows(run)] == [each.word for each in known]
    assert all(each["note"] == [row[3]] for each, row in zip(results(run), rows(run), strict=True))


@pytest.mark.parametrize("case", READS_ALL)
def test_names_are_paths_of_one_part_that_tell_the_results_apart(case: str) -> None:
    names = [each["name"] for each in results(golden(case))]
    assert all(name.startswith("/") and "/" not in name[1:] and " " not in name for name in names)
    assert len(set(names)) == len(names)


def test_slower_fails_undecided_warns_and_a_lost_trial_fails() -> None:
    found = {row[1]: row[0] for case in READS_ALL for row in rows(golden(case))}
    assert found["slower"] == found["trade_off"] == found["contradicted"] == "fail"
    assert found["undecided"] == found["not_judged"] == "warn"
    assert found["faster"] == found["equivalent"] == found["supported"] == "pass"
    assert (found["trials_failed"], found["measured"]) == ("fail", "pass")


def test_every_word_of_the_judge_has_a_result() -> None:
    assert set(cases.OF_VERDICTS) == set(VerdictWord)
    assert set(cases.OF_CLAIMS) == set(ClaimWord)
    assert set(tmt.OUTCOMES) >= {*cases.OF_VERDICTS.values(), *cases.OF_CLAIMS.values()}


def test_results_name_what_a_person_reads_of_the_files_beside_them() -> None:
    beside = {name: FORMATS[name].file for name in ("json", "html", "tmt", "bugs", "md")}
    for each in results(golden("decided"), **beside):
        assert each["log"] == ["report.md", "bugs.md", "report.html"]
    written = FORMATS["tmt"].files(golden("decided"), Place("..", beside))
    assert set(written) == {FORMATS["tmt"].file, tmt.ROWS}
    assert results(golden("decided"))[0]["log"] == []
