"""What a section of the page is, and what its makers read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

from markupsafe import Markup

from steelyard.judge.findings import RunFindings
from steelyard.report.charts.all import Charts, all_charts
from steelyard.report.view import View, views


@dataclass(frozen=True)
class Part:
    """One workload of the page. ``prefix`` keeps its identifiers apart from those of the others."""

    view: View

    @property
    def name(self) -> str | None:
        """The workload's name where there are several."""
        return self.view.heading

    @property
    def prefix(self) -> str:
        return "" if self.name is None else f"{self.name}-"

    @cached_property
    def charts(self) -> Charts:
        return all_charts(self.view)


@dataclass(frozen=True)
class Page:
    """All that a page is made from. ``records`` is the run's folder as seen from the page.

    ``None``: the page goes where the records do not. ``beside`` maps formats that are written
    into the same folder to their files.
    """

    run: RunFindings
    records: str | None
    beside: Mapping[str, str]

    @cached_property
    def parts(self) -> tuple[Part, ...]:
        return tuple(Part(view) for view in views(self.run))


@dataclass(frozen=True)
class Section:
    """One section, ready to be set: ``count`` stands behind its title in the contents."""

    id: str
    title: str
    body: Markup
    count: int | None = None


Maker = Callable[[Page], Section | None]
"""``None`` where there is nothing to show: the page then has no such section."""
