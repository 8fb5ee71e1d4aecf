"""The charts of a report as PDF files, for an article."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, fields, is_dataclass

from steelyard.errors import HostError
from steelyard.report.charts.drawing import Drawing

FOLDER = "figures"
TEXT_WIDTH_PX = 606.0
"""The text of the article (160 mm) in the pixels of a drawing (96 an inch)."""

_WITH_FALLBACK = re.compile(r"var\(--[\w-]+,\s*([^()]+)\)")
_BOX = re.compile(r'viewBox="0 0 ([\d.]+) [\d.]+"')


@dataclass(frozen=True)
class Figure:
    """One figure. ``width`` is a share of that of the text; ``file`` lies below the article's."""

    file: str
    title: str
    width: float
    pdf: bytes


def figure_of(drawing: Drawing, others: Collection[Figure]) -> Figure:
    """The figure of a drawing, beside others of its article."""
    name = re.sub(r"[^a-z0-9]+", "-", drawing.name.lower()).strip("-") or "figure"
    taken = {figure.file for figure in others}
    while f"{FOLDER}/{name}.pdf" in taken:
        name += "-x"
    return Figure(f"{FOLDER}/{name}.pdf", drawing.title, _width(drawing.svg), _pdf(drawing.svg))


def drawings_of(part: object) -> Iterator[Drawing]:
    """Every drawing that charts hold, in their order."""
    if isinstance(part, Drawing):
        yield part
    elif isinstance(part, tuple):
        for each in part:
            yield from drawings_of(each)
    elif is_dataclass(part):
        for field in fields(part):
            yield from drawings_of(getattr(part, field.name))


def _width(svg: str) -> float:
    box = _BOX.search(svg)
    return 1.0 if box is None else min(1.0, float(box.group(1)) / TEXT_WIDTH_PX)


def _pdf(svg: str) -> bytes:
    """With the colours of paper: what draws the file knows no variables of a page.

    Raises:
        HostError: what draws it is not installed.
    """
    try:
        import vl_convert  # noqa: PLC0415 - of an extra
    except ImportError as error:
        raise HostError(
            "the figures of an article are drawn by vl-convert, which is not installed",
            hint="pip install 'steelyard[pdf]'",
            slug="no-vl-convert",
        ) from error
    plain = svg
    while _WITH_FALLBACK.search(plain):
        plain = _WITH_FALLBACK.sub(r"\1", plain)
    return vl_convert.svg_to_pdf(plain)
