"""The documentation site: the pages of the repository as they lie, with navigation and a search.

``make docs`` builds it from the repository's root, so that a link between two pages is the same in
both places. The one exception are reports of examples: here they are the pages that ``make
examples`` has built, and in the repository the words of the same findings.
"""

from __future__ import annotations

import re
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sphinx.application import Sphinx

project = "Steelyard"
extensions = ["myst_parser"]
root_doc = "docs/index"
include_patterns = [
    "docs/**.md",
    "studies/README.md",
    "studies/*/README.md",
    "bench/README.md",
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "GLOSSARY.md",
    "README.md",
]
exclude_patterns = [".*", "build", "crates", "fuzz", "results", "src", "target", "tests"]
exclude_patterns += ["docs/examples/**/report.md"]

myst_heading_anchors = 4
html_theme = "furo"
html_title = "Steelyard"
html_static_path: list[str] = []
html_extra_path = ["../build/examples"]
html_copy_source = False
html_show_copyright = False

EXAMPLES = "docs/examples/"
REPORT = re.compile(r"\[([^\]]+)\]\(([\w/-]+)/report\.md\)")


def to_pages(_: Sphinx, page: str, source: list[str]) -> None:
    """Let the links of an example lead to the report as a page."""
    if page.startswith(EXAMPLES):
        up = "../" * (len(PurePosixPath(page).parts) - 1)
        source[0] = REPORT.sub(rf'<a href="{up}\2/report.html">\1</a>', source[0])


def lead_to_the_index(app: Sphinx, error: Exception | None) -> None:
    """Let the site's folder open at the index."""
    if error is None:
        front = f'<!doctype html><title>Steelyard</title><a href="{root_doc}.html">Steelyard</a>'
        front += f'<meta http-equiv="refresh" content="0; url={root_doc}.html">'
        (Path(app.outdir) / "index.html").write_text(front + "\n", encoding="utf-8")


def setup(app: Sphinx) -> None:
    """Called by Sphinx."""
    app.connect("source-read", to_pages)
    app.connect("build-finished", lead_to_the_index)
