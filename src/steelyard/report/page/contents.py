"""The sections of the page, in the order of reading."""

from __future__ import annotations

from steelyard.report.page.caveats import caveats
from steelyard.report.page.environment import environment
from steelyard.report.page.latency import latency
from steelyard.report.page.load import load
from steelyard.report.page.method import method
from steelyard.report.page.resources import resources
from steelyard.report.page.responses import responses
from steelyard.report.page.result import result
from steelyard.report.page.section import Maker, Page, Section
from steelyard.report.page.trials import trials

MAKERS: tuple[Maker, ...] = (
    result,
    latency,
    load,
    resources,
    trials,
    responses,
    environment,
    method,
    caveats,
)


def sections(page: Page) -> list[Section]:
    """All that have something to show."""
    made = (make(page) for make in MAKERS)
    return [section for section in made if section is not None]
