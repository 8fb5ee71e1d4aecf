"""The sections of the page, in the order of reading."""

from __future__ import annotations

import re

from steelyard.report.page.latency import latency
from steelyard.report.page.load import load
from steelyard.report.page.provenance import caveats, environment, method
from steelyard.report.page.resources import resources
from steelyard.report.page.responses import responses
from steelyard.report.page.result import result
from steelyard.report.page.section import Maker, Page, Section
from steelyard.report.page.trials import trials

_IDS = re.compile(r'\bid="([^"]+)"')

MAKERS: tuple[Maker, ...] = (
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
    """The result, then all that have something to show."""
    made = [section for make in MAKERS if (section := make(page)) is not None]
    anchors = {each for section in made for each in (section.id, *_IDS.findall(section.body))}
    return [result(page, anchors), *made]
