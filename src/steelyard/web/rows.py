"""A run of the list as a row: for programs, and in words."""

from __future__ import annotations

import re
from typing import Any

from steelyard.records.events import InterimComparison
from steelyard.report.effects import interval, signed_effect
from steelyard.web.index import ListedRun


def row_of(run: ListedRun) -> dict[str, Any]:
    """A run as JSON has it; ``change`` and ``verdict`` are those of ``lead``."""
    facts, state = run.facts, run.state
    return {
        "run": run.key,
        "study": facts.study,
        "variant": facts.variant,
        "study_sha256": facts.study_sha256,
        "tool_version": facts.tool_version,
        "created_unix_ns": facts.created_unix_ns,
        "status": run.status,
        "visits": state.visits,
        "comparisons_decided": state.decided,
        "comparisons_open": state.open,
        "lead": None if state.lead is None else state.lead.model_dump(mode="json"),
        "said": said(state.lead),
    }


def said(lead: InterimComparison | None) -> str | None:
    """``https against http: slower, -74.5 % (-80.3 to -67.3 %)``, after its workload where a run
    has several.
    """
    if lead is None:
        return None
    of = f"{lead.workload}: " if lead.workload else ""
    text = f"{of}{lead.other} against {lead.baseline}: {words_of(lead.word)}"
    if lead.estimate_log is None:
        return text
    ends = lead.low_log, lead.high_log
    size = signed_effect(lead.estimate_log, beside=ends)
    between = interval(*ends, estimate_log=lead.estimate_log, direction=None)
    return f"{text}, {size} ({between})"


def words_of(kind: str) -> str:
    """A kind as a person reads it: ``budget_time`` is ``budget time``."""
    return re.sub(r"_+", " ", kind)
