"""Names that some format would take for markup or a formula stay text in all of them."""

from __future__ import annotations

import csv
import io
import json
import re
import xml.etree.ElementTree as ET
from html.parser import HTMLParser

import pytest
from markdown_it import MarkdownIt
from prometheus_client.openmetrics.parser import text_string_to_metric_families
from ruamel.yaml import YAML
from tests.golden.report_findings import THROUGHPUT, cell_findings, changed, findings, verdict

from steelyard.judge.findings import AttemptFinding, RunFindings
from steelyard.plan.model import Cell
from steelyard.report.formats.csv import without_formula
from steelyard.report.formats.registry import FORMATS

SCRIPT = "<script>alert(1)</script>"
FORMULA = '=HYPERLINK("http://x/","y")'
TEX = r"100% \input{x} a_b & #1 $x$ ~^{"
SYSTEMS = ("native", SCRIPT, FORMULA, TEX, "@SUM(A1)", "+1+1", "-1+1", "\tb")


def hostile() -> RunFindings:
    cells = cell_findings(dict.fromkeys(SYSTEMS, 1.0), {"throughput": (812.0, 1.0)})
    verdicts = tuple(
        verdict("slower", -10.0, other=each, baseline="native") for each in SYSTEMS[1:]
    )
    attempts = tuple(
        AttemptFinding(
            trial=number, attempt=1, visit=number, cell=Cell(system=each, conditions={}),
            outcome="service_died", message=f"{each} \x1b failed", hint=None, warnings=(),
            bottleneck=None, wall_s=1.0, overhead_s=None,
        )
        for number, each in enumerate(SYSTEMS, start=1)
    )  # fmt: skip
    return changed(
        findings(responses=(THROUGHPUT,), cells=cells),
        study=SCRIPT, question=f"{SCRIPT} {TEX} {FORMULA}", systems=SYSTEMS, baseline="native",
        verdicts=verdicts, attempts=attempts, differences=(),
    )  # fmt: skip


@pytest.fixture(scope="module")
def written() -> dict[str, str]:
    run = hostile()
    return {name: form.text(run) for name, form in FORMATS.items() if name != "pdf"}


class _Read(HTMLParser):
    """The text of a page, and what its scripts hold."""

    def __init__(self) -> None:
        super().__init__()
        self.text, self.scripts, self._inside = "", [""], False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._inside = tag == "script"
        assert not any(name.startswith("on") for name, _ in attrs)

    def handle_endtag(self, tag: str) -> None:
        self._inside = self._inside and tag != "script"

    def handle_data(self, data: str) -> None:
        if self._inside:
            self.scripts.append(data)
        else:
            self.text += data


def read(page: str) -> _Read:
    parser = _Read()
    parser.feed(page)
    return parser


def test_every_form_is_tried(written: dict[str, str]) -> None:
    assert {*written, "pdf"} == set(FORMATS)
    tried = {"html", "md", "tex", "csv", "junit", "openmetrics", "json"}
    tried |= {"bmf", "benchfmt", "action", "tmt", "bugs"}
    assert set(written) == tried, "a new form needs its test below"


def test_the_forms_of_other_tools_stay_whole(written: dict[str, str]) -> None:
    assert json.loads(written["bmf"])
    assert isinstance(json.loads(written["action"]), list)
    for line in written["benchfmt"].splitlines():
        assert re.fullmatch(r"(study|run): .*|Benchmark\S+ 1 \S+ \S+|", line)


@pytest.mark.parametrize("form", ["html", "md", "bugs"])
def test_a_page_shows_a_script_and_runs_none(written: dict[str, str], form: str) -> None:
    page = written[form]
    if form in {"md", "bugs"}:
        page = MarkdownIt("commonmark", {"html": True}).enable("table").render(page)
    found = read(page)
    assert SCRIPT in found.text
    assert not any("alert(1)" in script and "{" not in script for script in found.scripts)
    assert "</script>" not in "".join(found.scripts)


def test_a_page_has_no_control_character(written: dict[str, str]) -> None:
    assert f"{SYSTEMS[1]} \x1b failed" not in written["html"]
    assert not re.search(r"[\x00-\x08\x0b\x0e-\x1f\x7f-\x9f]", written["html"])


def test_latex_has_no_command_of_a_name(written: dict[str, str]) -> None:
    source = written["tex"]
    assert r"\input{x}" not in source
    assert r"100\% \textbackslash{}input\{x\} a\_b \& \#1 \$x\$ " in source
    assert source.isascii()


def test_a_spreadsheet_computes_nothing_and_loses_nothing(written: dict[str, str]) -> None:
    rows = list(csv.DictReader(io.StringIO(written["csv"], newline="")))
    begun = [cell for row in rows for cell in row.values() if re.match(r"[=@\t\r+-]", cell)]
    assert all(re.fullmatch(r"[+-]?[\d.]+(e[+-]?\d+)?", cell) for cell in begun)
    assert {row["system"].removeprefix("'") for row in rows} >= set(SYSTEMS)
    assert any(float(row["estimate_log"]) < 0 for row in rows if row["estimate_log"])


@pytest.mark.parametrize(
    ("cell", "kept"),
    [("=1+1", "'=1+1"), ("-0.5", "-0.5"), ("-0.4 % of", "'-0.4 % of"), ("\t=1", "'\t=1"),
     (-0.5, -0.5), ("+1e3", "+1e3"), ("+inf", "+inf"), ("", ""), (None, None), ("a=1", "a=1")],
)  # fmt: skip
def test_what_begins_as_a_formula_has_an_apostrophe_unless_it_is_a_number(
    cell: object, kept: object
) -> None:
    assert without_formula(cell) == kept


def test_a_server_of_pipelines_reads_the_names(written: dict[str, str]) -> None:
    suite = ET.fromstring(written["junit"])[0]  # noqa: S314 - our own text
    assert suite.get("name") == SCRIPT
    assert any(SCRIPT in (case.get("name") or "") for case in suite)
    said = [case.findtext("system-out") or "" for case in suite]
    assert any(f"{SCRIPT} ? failed" in text for text in said), "XML has no control characters"


def test_tmt_reads_the_names_and_obeys_none(written: dict[str, str]) -> None:
    found = YAML(typ="safe", pure=True).load(io.StringIO(written["tmt"]))
    said = [text for each in found for text in each["note"]]
    assert any(SCRIPT in text for text in said)
    assert any("\\x1b failed" in text for text in said)
    assert all(re.fullmatch(r"/[\w.%+=-]+", each["name"]) for each in found)


def test_labels_hold_the_names(written: dict[str, str]) -> None:
    families = text_string_to_metric_families(written["openmetrics"])
    systems = {s.labels.get("system") for family in families for s in family.samples}
    assert systems >= set(SYSTEMS)


def test_json_holds_the_names(written: dict[str, str]) -> None:
    assert json.loads(written["json"])["systems"] == list(SYSTEMS)
