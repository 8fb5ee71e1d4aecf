"""What the servers of a study turn away or let wait, for ``steelyard doctor --study``."""

from __future__ import annotations

from collections.abc import Iterator

from steelyard.cli.doctor.rules import Check
from steelyard.plan.limit_words import advice_text, load_text
from steelyard.study.checks.server_limits import Limit, limits_of
from steelyard.study.model import Study


def limit_checks(study: Study) -> Iterator[Check]:
    """Every limit of every server, held against the largest load of the study."""
    found = limits_of(study)
    if not found:
        yield Check("servers' limits", "good", "no server of the study has one set")
    for limit in found:
        yield _check(limit)


def _check(limit: Limit) -> Check:
    name = f"{limit.service} of {limit.system}"
    if limit.asked is None:
        return Check(name, "good", f"`{limit.setting}` is {limit.limit:,}; {limit.refused}")
    seen = f"`{limit.setting}` is {limit.limit:,}, the load has {load_text(limit)}"
    return Check(name, "note" if limit.too_small else "good", seen, advice_text(limit))
