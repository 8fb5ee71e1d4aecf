"""Chromium without a window, and reports of real runs to open in it.

Chromium is Debian's package; playwright and axe come with ``make .venv/with-browser``. Without
them every test here is skipped.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from steelyard.judge.findings import RunFindings
from steelyard.report.formats.registry import write_report
from steelyard.report.from_run import stored

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"
DESKTOP = {"width": 1280, "height": 800}
PHONE = {"width": 390, "height": 844}

Open = Callable[..., "Page"]
"""``opened(path, **settings)``: the page in a context of its own; ``script`` runs before it."""


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    playwright = pytest.importorskip("playwright.sync_api", reason="make .venv/with-browser")
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("no chromium here: apt install chromium")
    with playwright.sync_playwright() as started:
        launched = started.chromium.launch(executable_path=chromium)
        yield launched
        launched.close()


@pytest.fixture
def opened(browser: Browser) -> Iterator[Open]:
    """Whatever a page asks of the network, says on its console or throws fails the test."""
    contexts: list[BrowserContext] = []
    wrong: list[str] = []

    def open_page(address: Path | str, script: str = "", **settings: object) -> Page:
        url = address.as_uri() if isinstance(address, Path) else address
        context = browser.new_context(**({"viewport": DESKTOP} | settings))  # type: ignore[arg-type]
        context.set_default_timeout(60_000)  # all other tests run beside these
        context.add_init_script(script)
        contexts.append(context)
        page = context.new_page()
        home = url.partition("://")[0] + "://" + url.partition("://")[2].partition("/")[0]
        own = (home, "blob:", "data:")
        page.on("request", lambda asked: asked.url.startswith(own) or wrong.append(asked.url))
        page.on("console", lambda said: said.type == "error" and wrong.append(said.text))
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("dialog", lambda dialog: (wrong.append(dialog.message), dialog.dismiss()))
        page.goto(url)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert wrong == []


@pytest.fixture(scope="session")
def report_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str | RunFindings], Path]:
    """The page of an example, or of findings, made once."""
    made: dict[str, Path] = {}

    def page(of: str | RunFindings) -> Path:
        name = of if isinstance(of, str) else of.run
        if name not in made:
            run = stored(EXAMPLES / of / "findings.json") if isinstance(of, str) else of
            folder = tmp_path_factory.mktemp("report")
            (made[name],) = write_report(run, folder, ["html"], beside_records=False)
        return made[name]

    return page
