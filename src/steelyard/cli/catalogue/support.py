"""``steelyard support``: what published comparisons used, and what of it was run here."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Annotated

import typer

from steelyard.cli.console import say

if TYPE_CHECKING:
    from steelyard.study.support import Supported


def support(
    as_json: Annotated[bool, typer.Option("--json", help="Print the table as JSON.")] = False,
) -> None:
    """List what published comparisons used, and what of it was run here, when and where.

    The state of a row is that of its tests where they last ran.
    """
    from steelyard.study import support as table

    found = list(table.supported())
    if as_json:
        say(json.dumps([table.as_json(each) for each in found], indent=2, ensure_ascii=False))
        return
    width = max(len(each.name) for each in found)
    states = max(len(each.state) for each in found)
    group = ""
    for each in found:
        if each.group != group:
            group = each.group
            say(f"{group}:")
        say(f"  {each.name:<{width}}  {each.state:<{states}}  {detail(each)}")
    counts = Counter(each.state for each in found)
    say(", ".join(f"{count} {state}" for state, count in counts.most_common()))


def detail(each: Supported) -> str:
    """Where, when and by how many tests; or why it is open."""
    if each.outcome is None:
        return each.row.open
    tests = each.outcome.passed + each.outcome.failed
    failed = f"{each.outcome.failed} of " if each.outcome.failed else ""
    return f"{failed}{tests} tests, {each.outcome.on}, {each.outcome.machine}"
