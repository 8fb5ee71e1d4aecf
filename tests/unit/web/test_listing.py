"""The list of runs: what its address asks for."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.web.conftest import LOOK, add_run

from steelyard.web.index import Index, ListedRun
from steelyard.web.listing import Asked, select
from steelyard.web.rows import said


@pytest.fixture
def listed(tmp_path: Path) -> list[ListedRun]:
    for number in range(7):
        add_run(
            tmp_path, f"s{number % 2}/r{number}", study=f"s{number % 2}",
            created_unix_ns=10**18 + number, variant="small" if number == 3 else None,
            events=[{"event": "session_opened", "at_unix_ns": 1},
                    {**LOOK, "visits_done": 20 - number},
                    *([{"event": "session_closed", "at_unix_ns": 2, "reason": "decided"}]
                      if number < 4 else [])],
        )  # fmt: skip
    return [*Index(tmp_path).listing().runs.values()]


def keys(runs: list[ListedRun], **query: str) -> list[str]:
    return [run.key for run in select(runs, Asked.of(query)).rows]


def test_search_finds_every_word_in_any_part(listed: list[ListedRun]) -> None:
    assert keys(listed, q="SMALL s1") == ["s1/r3"]
    assert keys(listed, q="small s0") == []


def test_filters_and_order(listed: list[ListedRun]) -> None:
    assert keys(listed, study="s0", status="decided") == ["s0/r2", "s0/r0"]
    assert keys(listed, sort="visits", order="up", rows="2") == ["s0/r6", "s1/r5"]


def test_pages_hold_every_run_once(listed: list[ListedRun]) -> None:
    pages = [keys(listed, rows="3", page=str(page)) for page in (1, 2, 3)]
    assert sorted(key for page in pages for key in page) == sorted(run.key for run in listed)
    assert keys(listed, rows="3", page="99") == pages[-1]


@pytest.mark.parametrize(
    "query",
    [{"page": "-1"}, {"page": "x"}, {"page": "²"}, {"rows": "0"}, {"rows": "9" * 99},
     {"sort": "__class__"}, {"order": "sideways"}],
)  # fmt: skip
def test_what_cannot_be_asked_is_the_usual(listed: list[ListedRun], query: dict[str, str]) -> None:
    assert keys(listed, **query)[:1] == ["s0/r6"]


def test_the_address_holds_the_whole_state() -> None:
    query = {"q": "a b&c", "study": "s/0", "sort": "effect", "order": "up", "page": "3"}
    asked = Asked.of(query)
    assert asked.query() == "q=a+b%26c&study=s%2F0&sort=effect&order=up&page=3"
    assert Asked.of({}).query() == ""


def test_a_run_of_several_workloads_says_which_one_its_verdict_is_of(tmp_path: Path) -> None:
    (one,) = LOOK["comparisons"]  # type: ignore[misc]
    look = {**LOOK, "comparisons": [{**one, "workload": name} for name in ("read", "write")]}
    add_run(tmp_path, "a/run", events=[look])
    lead = Index(tmp_path).listing().runs["a/run"].state.lead
    assert (said(lead) or "").startswith("read: durable against fast: slower, ")
