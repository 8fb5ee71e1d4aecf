"""A report as the comment of a pull request: the answer, and the rest folded."""

from __future__ import annotations

import re

from steelyard.judge.findings import RunFindings
from steelyard.report.formats.markdown import escaped, markdown_text
from steelyard.report.sentences.headline import headline

LONGEST = 60_000
"""Characters; GitHub refuses a comment of more than 65,536."""
_REST = "\n## How sure\n"


def marker(run: RunFindings) -> str:
    """The first line of each comment on this study and variant, which no reader sees.

    Two hyphens would end what is hidden.
    """
    name = re.sub(r"-{2,}", "-", f"{run.study} {run.variant or ''}".strip())
    return f"<!-- steelyard: {name} -->"


def comment_text(run: RunFindings) -> str:
    """The marker, the answer of the report, and behind a fold what it rests on, if that fits."""
    answer, _, rest = markdown_text(run).partition(_REST)
    badge = f"**{escaped(headline(run).badge.upper())}**"
    shown = "\n".join([marker(run), answer.replace("\n", f"\n\n{badge}\n", 1).strip(), ""])
    if len(shown) > LONGEST:
        return shown[:LONGEST].rpartition("\n")[0] + "\n\n*The report holds the rest.*\n"
    folded = f"\n<details><summary>What it rests on</summary>\n{_REST}{rest}\n</details>\n"
    if len(shown) + len(folded) > LONGEST:
        return f"{shown}\n*The report holds what it rests on.*\n"
    return shown + folded
