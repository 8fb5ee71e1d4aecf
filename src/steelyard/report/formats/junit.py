"""The verdicts as a JUnit file, which the servers of pipelines show as tests."""

from __future__ import annotations

import xml.etree.ElementTree as ET

from steelyard.judge.findings import RunFindings
from steelyard.report.formats.cases import Case, Result, cases_of, printable

_ELEMENTS: dict[Result, str] = {"fail": "failure", "open": "skipped"}


def junit_text(run: RunFindings) -> str:
    """One suite for the study; times are those of the whole run, given once."""
    cases = cases_of(run)
    shared = _counted(cases) | {"time": f"{run.stop.spent_s:.3f}"}
    root = ET.Element("testsuites", {"name": "steelyard", **shared})
    suite = ET.SubElement(root, "testsuite", {"name": printable(run.study), **shared})
    for case in cases:
        element = ET.SubElement(suite, "testcase", _named(run, case))
        if case.result in _ELEMENTS:
            kind = {"type": case.word} if case.result == "fail" else {}
            message = {"message": printable(case.said), **kind}
            ET.SubElement(element, _ELEMENTS[case.result], message)
        ET.SubElement(element, "system-out").text = printable(case.said)
    ET.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ET.tostring(root, encoding="unicode")}\n'


def _counted(cases: list[Case]) -> dict[str, str]:
    results = [case.result for case in cases]
    return {
        "tests": str(len(cases)),
        "failures": str(results.count("fail")),
        "errors": "0",
        "skipped": str(results.count("open")),
    }


def _named(run: RunFindings, case: Case) -> dict[str, str]:
    return {"classname": printable(run.study), "name": printable(case.name)}
