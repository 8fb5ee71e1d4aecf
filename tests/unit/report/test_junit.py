from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest
from tests.golden.report_findings import changed
from tests.unit.report.golden_findings import CASES, golden

from steelyard.inference.sequential import VerdictWord
from steelyard.judge.analyses.claims.findings import ClaimWord
from steelyard.judge.findings import RunFindings
from steelyard.report.formats.junit import junit_text


def parsed(findings: RunFindings) -> tuple[ET.Element, ET.Element]:
    """The whole document and its suite."""
    root = ET.fromstring(junit_text(findings))  # noqa: S314 - our own text
    suite = root.find("testsuite")
    assert suite is not None
    return root, suite


def cases_of(findings: RunFindings) -> dict[str, ET.Element]:
    _, suite = parsed(findings)
    return {str(case.get("name")): case for case in suite.findall("testcase")}


@pytest.mark.parametrize("case", CASES)
def test_the_counts_of_the_suite_are_those_of_its_cases(case: str) -> None:
    root, suite = parsed(golden(case))
    for name, tag in (("failures", "failure"), ("skipped", "skipped")):
        assert suite.get(name) == root.get(name) == str(len(suite.findall(f"testcase/{tag}")))
    assert suite.get("tests") == str(len(suite.findall("testcase")))


def test_claims_are_the_tests_of_a_study_that_has_them() -> None:
    findings = golden("claims")
    cases = cases_of(findings)
    assert set(cases) == {claim.id for claim in findings.workloads[0].claims} | {
        "every trial gave a result"
    }
    for claim in findings.workloads[0].claims:
        fails = cases[claim.id].find("failure")
        assert (fails is not None) == (claim.word is ClaimWord.CONTRADICTED)
        skipped = claim.word not in {ClaimWord.CONTRADICTED, ClaimWord.SUPPORTED}
        assert (cases[claim.id].find("skipped") is not None) == skipped
        assert claim.id in (cases[claim.id].findtext("system-out") or "")


def test_a_study_without_claims_is_held_to_its_primary_comparisons() -> None:
    findings = golden("decided")
    cases = cases_of(findings)
    primary = [v for v in findings.workloads[0].verdicts if v.response == "throughput"]
    assert len(cases) == len(primary) + 1
    failed = [case for case in cases.values() if case.find("failure") is not None]
    bad = [v for v in primary if v.word in {VerdictWord.SLOWER, VerdictWord.TRADE_OFF}]
    assert len(failed) == len(bad) > 0
    assert all(case.find("failure").get("message") for case in failed)  # type: ignore[union-attr]


def test_a_trial_without_a_good_attempt_fails_its_own_test() -> None:
    lost = cases_of(golden("failed"))["every trial gave a result"].find("failure")
    assert lost is not None
    assert "failed" in str(lost.get("message"))
    assert cases_of(golden("plain"))["every trial gave a result"].find("failure") is None


def test_what_a_tool_printed_cannot_break_the_file() -> None:
    findings = golden("failed")
    claim = (
        golden("claims")
        .workloads[0]
        .claims[0]
        .model_copy(update={"notes": ("\x1b[31mred \x00 <&> ä",)})
    )
    _, suite = parsed(changed(findings, claims=(claim,)))
    assert suite.get("tests") == "2"
