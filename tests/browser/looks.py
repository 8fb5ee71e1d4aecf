"""What is looked for in an open page: faults, each as a line that says where it is."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.sync_api import Page

SCRIPT = Path(__file__).with_suffix(".js").read_text(encoding="utf-8")
SERIOUS = ("serious", "critical")
LEAST_CONTRAST_OF_MARKS = 3
"""WCAG 2.1, 1.4.11: what is needed to understand a graphic."""


def accessibility_faults(page: Page) -> list[str]:
    """Serious findings of axe, which also asks for a contrast of 4.5 (AA) of every text."""
    from axe_playwright_python.sync_playwright import Axe  # noqa: PLC0415 - may not be installed

    found: list[dict[str, Any]] = Axe().run(page).response["violations"]
    return [
        f"{each['id']}: {each['help']}: {node['html'][:120]}"
        for each in found
        if each["impact"] in SERIOUS
        for node in each["nodes"]
    ]


def faint_marks(page: Page) -> list[str]:
    """Points, lines and bars of charts that cannot be told from their ground."""
    return _asked(page, f"faintMarks({LEAST_CONTRAST_OF_MARKS})")


def marks_of_charts(page: Page) -> int:
    """How many points, lines and bars are looked at for that."""
    return int(page.evaluate(f"(() => {{ {SCRIPT}; return dataMarks().length; }})()"))


def overlapping_labels(page: Page) -> list[str]:
    """Pairs of labels of one chart that lie over each other."""
    return _asked(page, "overlappingLabels()")


def shortened_labels(page: Page) -> list[str]:
    """Labels of charts that end with an ellipsis: what they stand for cannot be read."""
    labels: list[str] = page.locator("svg text").all_text_contents()
    return [label for label in labels if label.rstrip().endswith("…")]


def links_to_nowhere(page: Page) -> list[str]:
    """Links within the page that no element answers."""
    return _asked(page, "linksToNowhere()")


def folded(page: Page) -> list[str]:
    """Titles of the parts of which only the title is shown."""
    return _asked(page, "folded()")


def overhang_px(page: Page) -> int:
    """How much wider than the window the page is."""
    return int(page.evaluate("document.documentElement.scrollWidth - innerWidth"))


def _asked(page: Page, call: str) -> list[str]:
    return list(page.evaluate(f"(() => {{ {SCRIPT}; return {call}; }})()"))
