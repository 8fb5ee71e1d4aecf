"""Limits of servers in words: what they refuse, what the load brings, and what to set."""

from __future__ import annotations

import math

from steelyard.study.checks.load_per_minute import BY_THE_MINUTE
from steelyard.study.checks.server_limits import Limit, exceeded_limits, limits_of
from steelyard.study.model import Study


def limit_rows(study: Study) -> list[tuple[str, str]]:
    """What the services refuse to serve, so that no one takes a refusal for slowness.

    Then the limits that the load goes beyond, each with what to set.
    """
    set_ones = [
        ("limit", f"{found.system}: `{found.setting}` {found.limit:,}; {found.refused}")
        for found in limits_of(study)
    ]
    return [*set_ones, *(("too small", exceeded_text(each)) for each in exceeded_limits(study))]


def exceeded_text(found: Limit) -> str:
    """Of one that is too small: what will happen, and what to set."""
    return (
        f"{found.system}: the load has {load_text(found)}, `{found.setting}` of {found.service} "
        f"allows {found.limit:,}: {advice_text(found)} unless that is the question"
    )


def load_text(found: Limit) -> str:
    """What the load brings, of what is counted."""
    if found.came is None or math.isinf(found.came.most):
        return f"as many {found.counts} as are answered"
    return f"{'' if found.came.exactly else 'up to '}{found.came.most:,.0f} {found.counts}"


def advice_text(found: Limit) -> str:
    """What happens beyond it, and what to set; a limit by the minute is better none."""
    enough = 0 if found.counts in BY_THE_MINUTE or found.asked is None else found.asked
    return f"{found.refused}; set `service: {{{found.setting}: {enough:.0f}}}`"
