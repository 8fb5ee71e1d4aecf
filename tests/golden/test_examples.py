"""The examples under ``docs/examples`` are what their findings say, and name no machine.

``STEELYARD_ACCEPT=1 pytest tests/golden/test_examples.py`` writes the reports, the quotations and
the list anew from each ``findings.json``; read the difference before it is committed.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from steelyard.inference.sequential import VerdictWord
from steelyard.judge.findings import RunFindings
from steelyard.report.anonymous import anonymous_text
from steelyard.report.formats.markdown import markdown_text
from steelyard.report.from_run import stored
from steelyard.report.sentences.headline import Tone, headline, leading_verdicts
from steelyard.report.view import views

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "docs" / "examples"
ACCEPT = os.environ.get("STEELYARD_ACCEPT") == "1"
NO_STUDY = {"README", "published-conclusions"}
"""Pages over all examples; the second is held by ``test_published_conclusions.py``."""
STUDIES = sorted(path.parent.name for path in (ROOT / "studies").glob("*/study.yaml"))
PAGES = sorted(path.stem for path in EXAMPLES.glob("*.md") if path.stem not in NO_STUDY)
KEPT = sorted(str(path.parent.relative_to(EXAMPLES)) for path in EXAMPLES.rglob("findings.json"))
FOUND = "What Steelyard finds here"
HEADINGS = [
    "The question",
    "What was published",
    FOUND,
    "What it would have caught",
    "Run it",
]
OPEN = (VerdictWord.UNDECIDED, VerdictWord.NOT_JUDGED)
MOST_BYTES = 6_000_000
HEADER = "| study | verdict | answer | |\n|---|---|---|---|\n"


@cache
def findings(example: str) -> RunFindings:
    return stored(EXAMPLES / example / "findings.json")


def page_of(example: str) -> Path:
    return EXAMPLES / f"{example.partition('/')[0]}.md"


def held(path: Path, after: str, part: str, said: str) -> None:
    """A part of a file is what is said now, or is written so when it is accepted."""
    text = path.read_text(encoding="utf-8")
    if ACCEPT:
        path.write_text(text.replace(after + part, after + said, 1), encoding="utf-8")
    else:
        assert part == said


def answer_of(report: str) -> str:
    """What a report says first, as a quotation: all between its title and its next heading."""
    answer = report.partition("\n")[2].partition("\n## ")[0].strip()
    return "".join(f"> {line}".rstrip() + "\n" for line in answer.splitlines())


def quoted(page: str) -> str:
    after = page.partition(f"## {FOUND}\n")[2]
    return "".join(re.findall(r"\A(?:>.*\n)*", after))


def row(example: str) -> str:
    run = findings(example)
    answer = headline(run)
    emulated = any(
        (fact.endswith("accelerator") and value == "tcg")
        or (fact == "cpu.model" and "TCG" in (value or ""))
        for machine in run.machines
        for fact, value in machine.facts.items()
    )
    verdict = f"{answer.badge}, emulated" if emulated else answer.badge
    page = f"[{example}]({page_of(example).name})"
    report = f"[report]({example}/report.md) · [findings]({example}/findings.json)"
    return f"| {page} | {verdict} | {answer.text} | {report} |\n"


def _open_answers(run: RunFindings) -> list[bool]:
    """Of each comparison whether it is open, or of what a study without one asks."""
    verdicts = [verdict for view in views(run) for verdict in leading_verdicts(view)]
    if verdicts:
        return [verdict.word in OPEN for verdict in verdicts]
    return [headline(run).tone is Tone.OPEN]


def the_list() -> str:
    """The decided first."""
    is_open = {example: any(_open_answers(findings(example))) for example in KEPT}
    rows = map(row, sorted(KEPT, key=lambda example: (is_open[example], example)))
    answers = [each for example in KEPT for each in _open_answers(findings(example))]
    return f"{''.join(rows)}\n{answers.count(False)} of {len(answers)} answers are decided.\n"


def test_the_list_gives_the_answers_of_the_findings_with_the_decided_first() -> None:
    path = EXAMPLES / "README.md"
    text = path.read_text(encoding="utf-8")
    table = re.search(re.escape(HEADER) + r"((?:\|.*\n)*\n\d.* decided\.\n)", text)
    assert table is not None
    held(path, HEADER, table[1], the_list())


@pytest.mark.parametrize("study", STUDIES)
def test_every_study_is_in_the_list_or_said_to_have_no_report(study: str) -> None:
    text = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    if study in KEPT:
        assert f"| [{study}]({study}.md) |" in text
    else:
        assert f"| {study} | not run |" in text


@pytest.mark.parametrize("example", KEPT)
def test_a_report_says_what_its_findings_say_today(example: str) -> None:
    path = EXAMPLES / example / "report.md"
    said = markdown_text(findings(example))
    if ACCEPT:
        path.write_text(said, encoding="utf-8")
    assert path.read_text(encoding="utf-8") == said


@pytest.mark.parametrize("page", PAGES)
def test_a_page_quotes_the_answer_of_its_findings(page: str) -> None:
    text = (EXAMPLES / f"{page}.md").read_text(encoding="utf-8")
    said = answer_of(markdown_text(findings(page)))
    assert said
    held(EXAMPLES / f"{page}.md", f"## {FOUND}\n", quoted(text), said)


@pytest.mark.parametrize("page", PAGES)
def test_a_page_belongs_to_a_study_and_has_all_headings(page: str) -> None:
    assert page in STUDIES
    text = (EXAMPLES / f"{page}.md").read_text(encoding="utf-8")
    assert re.findall(r"^## (.+)$", text, re.MULTILINE) == HEADINGS
    assert f"steelyard run studies/{page}" in text.partition("## Run it")[2]


@pytest.mark.parametrize("example", KEPT)
def test_every_report_can_be_reached_from_its_page(example: str) -> None:
    assert f"]({example}/report.md)" in page_of(example).read_text(encoding="utf-8")


def texts_in(document: Any) -> Iterator[str]:
    if isinstance(document, str):
        yield document
    elif isinstance(document, dict):
        for value in document.values():
            yield from texts_in(value)
    elif isinstance(document, list | tuple):
        for value in document:
            yield from texts_in(value)


@pytest.mark.parametrize("example", KEPT)
def test_no_example_tells_whose_machine_it_was(example: str) -> None:
    run = findings(example)
    kept = {  # of a program, and no address: 2.3.19.1
        version
        for facts in run.tested.values()
        for fact, versions in facts.items()
        if fact.endswith("version")
        for version in versions
    }
    texts = set(texts_in(run.model_dump())) - kept
    shipped = {address for text in texts for address in re.findall(r"ssh://lab\d", text)}
    """Names that the shipped study gives to machines of the reader's own."""
    for address in shipped:
        texts = {text.replace(address, "") for text in texts}
    telling = [text for text in texts if anonymous_text(text) != text]
    assert telling == []
    for fact in run.differences:
        if fact.fact.rpartition(": ")[2] == "hostname":
            assert set(fact.values.values()) <= {"withheld", None}


@pytest.mark.parametrize("example", KEPT)
def test_findings_are_kept_without_spaces_between_their_parts(example: str) -> None:
    path = EXAMPLES / example / "findings.json"
    text = path.read_text(encoding="utf-8")
    small = json.dumps(json.loads(text), separators=(",", ":"), ensure_ascii=False) + "\n"
    if ACCEPT:
        path.write_text(small, encoding="utf-8")
    else:
        assert text == small


def test_the_examples_hold_findings_and_words_and_are_small() -> None:
    files = [path for path in EXAMPLES.rglob("*") if path.is_file()]
    assert {path.suffix for path in files} == {".md", ".json"}
    assert sum(path.stat().st_size for path in files) < MOST_BYTES
