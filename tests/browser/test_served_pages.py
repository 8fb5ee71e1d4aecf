"""Pages of ``steelyard serve`` over real records, opened as a person opens them."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from tests.browser.conftest import PHONE, Open
from tests.browser.looks import accessibility_faults, links_to_nowhere, overhang_px
from tests.unit.web.conftest import KEY, LOOK, RUN, STUDY, add_run

LATER = f"{STUDY}/2026-11-24T10-00-00Z"
LIVE = f"{STUDY}/2026-11-25T10-00-00Z"
PAGES = {
    "list": "/runs",
    "report": f"/runs/{KEY}/",
    "pair": f"/compare?a={KEY}&b={LATER}",
    "history": f"/history/{STUDY}",
    "live": f"/live/{KEY}",
}
LONGEST_S = 120


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three runs, and something that is none."""
    folder = tmp_path_factory.mktemp("served") / "results"
    add_run(folder, KEY)
    add_run(folder, LATER)
    add_run(folder, LIVE)
    (folder / STUDY / "no-run").mkdir()
    return folder


def is_being_made(answer: httpx.Response) -> bool:
    """A live page without script asks again by itself, and is whole all the same."""
    return (
        answer.status_code == 202 or 'http-equiv="refresh"' in answer.text.partition("noscript")[0]
    )


def made(address: str, page: str) -> str:
    """The address of a page that is whole: it is made on demand, and again after a change."""
    end = time.monotonic() + LONGEST_S
    while is_being_made(httpx.get(address + PAGES[page], timeout=LONGEST_S)):
        assert time.monotonic() < end, page
        time.sleep(0.5)
    return address + PAGES[page]


@pytest.fixture(scope="module")
def address(results: Path) -> Iterator[str]:
    words = [sys.executable, "-m", "steelyard", "serve", str(results), "--listen", "127.0.0.1:0"]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    at = process.stdout.readline().strip().rstrip("/")
    yield at
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=LONGEST_S)


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_page_has_no_serious_fault_of_accessibility(
    address: str, opened: Open, page: str, scheme: str
) -> None:
    shown = opened(made(address, page), color_scheme=scheme)
    assert shown.get_by_role("heading", level=1).count() == 1
    assert accessibility_faults(shown) == []
    assert links_to_nowhere(shown) == []


@pytest.mark.parametrize("page", PAGES)
def test_a_page_is_as_wide_as_a_phone(address: str, opened: Open, page: str) -> None:
    assert overhang_px(opened(made(address, page), viewport=PHONE)) <= 0


def test_the_list_is_searched_and_its_state_is_in_the_address(address: str, opened: Open) -> None:
    page = opened(f"{address}/runs")
    assert page.locator("tbody tr").count() == 3
    page.get_by_label("Search").fill(RUN)
    page.get_by_role("button", name="Show").click()
    assert page.locator("tbody tr").count() == 1
    assert f"q={RUN}" in page.url
    page.goto(page.url)
    assert page.get_by_label("Search").input_value() == RUN


def test_two_runs_are_chosen_and_put_side_by_side(address: str, opened: Open) -> None:
    made(address, "pair")
    page = opened(f"{address}/runs")
    page.get_by_label(f"A: {KEY}").check()
    page.get_by_label(f"B: {LATER}").check()
    page.get_by_role("button", name="Put A beside B").click()
    page.wait_for_selector("svg")
    assert page.get_by_text("not randomised against each other").count() > 0


def test_a_live_page_follows_what_is_appended_to_the_ledger(
    results: Path, address: str, opened: Open
) -> None:
    ledger = results / LIVE / "ledger.jsonl"
    lines = ledger.read_text(encoding="utf-8").splitlines(keepends=True)
    whole = [line for line in lines if json.loads(line)["event"] != "session_closed"]
    ledger.write_text("".join(whole[: len(whole) // 2]), encoding="utf-8")
    page = opened(f"{address}/live/{LIVE}")
    page.locator("#link").filter(has_text="last change").wait_for()
    before = page.locator("#now").inner_text()
    with ledger.open("a", encoding="utf-8") as file:
        file.write("".join(whole[len(whole) // 2 :]))
        file.write(json.dumps(LOOK) + "\n")
    end = time.monotonic() + LONGEST_S
    while page.locator("#now").inner_text() == before:
        assert time.monotonic() < end, "the page does not follow"
        page.wait_for_timeout(200)
    assert accessibility_faults(page) == []
