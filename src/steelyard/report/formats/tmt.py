"""The verdicts as custom results of tmt, and as rows that a shell reads: those of ``cases``.

A test of tmt with ``result: custom`` leaves ``results.yaml`` in its data folder. The rows are for a
script that writes the same into a journal, as that of BeakerLib (``templates/tmt``).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping

from steelyard.judge.findings import RunFindings
from steelyard.records.message_text import visible
from steelyard.report.formats.cases import Case, Result, cases_of, printable

RESULTS, ROWS = "results.yaml", "results.tsv"
OUTCOMES: dict[Result, str] = {"pass": "pass", "fail": "fail", "open": "warn"}
"""By tmt's words; an error is not for a report to say, which there is none of then."""
LOGS = ("md", "bugs", "html")
"""Forms of a report that a person reads, where they lie beside the results."""


def tmt_files(run: RunFindings, beside: Mapping[str, str]) -> dict[str, str | bytes]:
    """Both files. ``beside`` maps the forms that lie in the same folder to their files."""
    cases = cases_of(run)
    logs = [beside[form] for form in LOGS if form in beside]
    return {RESULTS: "".join(_item(case, logs) for case in cases), ROWS: _rows(cases)}


def _item(case: Case, logs: list[str]) -> str:
    """One result; text in the quotes of JSON, which are those of YAML, too."""
    return (
        f"- name: {_quoted(_path(case.name))}\n"
        f"  result: {OUTCOMES[case.result]}\n"
        f"  note: [{_quoted(_line(case.said))}]\n"
        f"  log: [{', '.join(map(_quoted, logs))}]\n"
    )


def _rows(cases: Iterable[Case]) -> str:
    fields = ((OUTCOMES[case.result], case.word, case.name, case.said) for case in cases)
    return "".join("\t".join(map(_line, row)) + "\n" for row in fields)


def _path(name: str) -> str:
    """A name below that of the test, whose parts stand between slashes."""
    return "/" + re.sub(r"[^\w.%+=]+", "-", name).strip("-")


def _line(text: str) -> str:
    """On one line, without what a terminal would obey."""
    return printable(visible(" ".join(text.split())))


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
