"""The table of support: its rows name what exists, and their states are those of tests."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from ruamel.yaml import YAML
from tests import support as recorder

from steelyard.imports import kind as imports
from steelyard.study import catalogue, support
from steelyard.study.read import read_study
from steelyard.study.support import Evidence, Outcome, Row

TESTS = Path(__file__).parents[2]
PAGE = TESTS.parent / "docs" / "reference" / "support.md"
OURS = ("sink-", "command", "archive", "compile", "idle", "request-response")
"""What Steelyard brings itself, and what is named for no tool."""
ROWS = {name: row for named in support.rows().values() for name, row in named.items()}


GUIDE = TESTS.parent / "docs" / "guide" / "from-other-tools.md"
SERVERS = {
    "smtp": "sink-smtp",
    "lmtp": "sink-lmtp",
    "imap": "sink-imap",
    "pop3": "sink-pop3",
    "http": "sink-http",
    "ftp": "sink-ftp",
    "stream": "sink-stream",
    "exchange": "sink-stream",
    "any": "sink-echo",
    "iperf2": "iperf2",
    "iperf3": "iperf3",
    "postgresql": "postgresql",
    "mysql": "mariadb",
    "redis": "redis",
    "memcached": "memcached",
}


def outcome(passed: int, failed: int = 0) -> Outcome:
    return Outcome(passed=passed, failed=failed, on="2026-01-01", version="1", machine="any")


def test_a_row_has_tests_or_a_reason() -> None:
    both = [name for name, row in ROWS.items() if bool(row.open) == bool(row.real or row.stand_in)]
    assert both == []


def _exists(pattern: str) -> bool:
    file, _, words = pattern.partition(" ")
    lines = (TESTS / file).read_text(encoding="utf-8").splitlines()
    of_a_name = words.partition("[")[0]
    return any("def test_" in line and of_a_name in line for line in lines)


def test_the_tests_of_every_row_exist() -> None:
    patterns = [each for row in ROWS.values() for each in (*row.real, *row.stand_in)]
    assert [each for each in patterns if not _exists(each)] == []


def test_what_every_row_asks_for_exists() -> None:
    shelves = {
        "platform": catalogue.names("platforms"),
        "service": catalogue.names("services"),
        "workload": catalogue.names("workloads"),
        "meter": catalogue.names("meters"),
        "import": imports.names(),
    }
    asked = [each for row in ROWS.values() for each in row.here.items()]
    assert [each for each in asked if each[1] not in shelves.get(each[0], [each[1]])] == []


@pytest.mark.parametrize(
    ("kind", "shelf"),
    [("platform", "platforms"), ("service", "services"), ("workload", "workloads")],
)
def test_all_of_the_catalogue_that_others_made_has_a_row(kind: str, shelf: str) -> None:
    named = {row.here.get(kind) for row in ROWS.values()}  # type: ignore[call-overload]
    others = [each for each in catalogue.names(shelf) if not each.startswith(OURS)]
    assert [each for each in others if each not in named and not each.endswith("-udp")] == []


@pytest.mark.parametrize(
    ("row", "recorded", "state"),
    [
        (Row(open="why"), {}, "open"),
        (Row(real=("a",)), {}, "not run"),
        (Row(real=("a",)), {"real": outcome(1)}, "run for real"),
        (Row(real=("a",)), {"real": outcome(5, 1)}, "failed"),
        (Row(real=("a",), stand_in=("b",)), {"stand_in": outcome(1)}, "against a stand-in"),
        (
            Row(real=("a",), stand_in=("b",)),
            {"real": outcome(1), "stand_in": outcome(0, 1)},
            "failed",
        ),
        (Row(stand_in=("b",)), {"stand_in": outcome(1), "real": outcome(1)}, "against a stand-in"),
    ],
)
def test_a_state_is_what_tests_showed(
    row: Row, recorded: dict[Evidence, Outcome], state: str
) -> None:
    assert support.state_of(row, recorded)[0] == state


def test_skipped_tests_show_nothing_and_failed_ones_are_counted(tmp_path: Path) -> None:
    report = tmp_path / "junit.xml"
    report.write_text(
        "<testsuites><testsuite>"
        '<testcase classname="tests.platforms.test_podman" name="test_a"/>'
        '<testcase classname="tests.platforms.test_podman" name="test_b"><failure/></testcase>'
        '<testcase classname="tests.system.test_lxc" name="test_c"><skipped/></testcase>'
        "</testsuite></testsuites>",
        encoding="utf-8",
    )
    assert list(recorder.ended([report])) == [
        ("platforms/test_podman.py", "test_a", True),
        ("platforms/test_podman.py", "test_b", False),
    ]
    found = recorder.record([report])["Podman"]["real"]
    assert (found.passed, found.failed) == (1, 1)


def test_the_page_is_what_was_recorded() -> None:
    assert PAGE.read_text(encoding="utf-8") == recorder.page()


@pytest.mark.parametrize(
    "words", sorted(set(re.findall(r"`(\{use: .*?\})`", GUIDE.read_text(encoding="utf-8"))))
)
def test_every_workload_of_the_page_on_other_tools_is_accepted(words: str, tmp_path: Path) -> None:
    used = str(YAML(typ="safe").load(words)["use"])
    speaks = catalogue.workload(used).speaks
    server = "sink-mail" if used == "delivery" else next((SERVERS[each] for each in speaks), "")
    system = f"{{platform: native{f', service: {{use: {server}}}' if server else ''}}}"
    study = tmp_path / "study.yaml"
    study.write_text(
        f"study: s\nquestion: q?\nsystems: {{one: {system}, two: {system}}}\n"
        f"workload: {words}\ntrials: {{margin: 5 %}}\n",
        encoding="utf-8",
    )
    read_study(study)


def test_every_tool_of_the_table_is_on_the_page() -> None:
    text = GUIDE.read_text(encoding="utf-8")
    plain = {name.split(" ")[0] for name in support.rows()["tools"]}
    assert [
        name
        for name in sorted(plain - {"curl", "smbclient", "HPL", "stress-ng", "build"})
        if name not in text
    ] == []
