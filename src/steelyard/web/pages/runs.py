"""The list of runs."""

from __future__ import annotations

from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from steelyard.records.events import InterimComparison
from steelyard.report.effects import interval, signed_effect
from steelyard.web.index import Index, ListedRun
from steelyard.web.listing import SORTS, Asked, select
from steelyard.web.pages.render import shown, words_of

MOST_SKIPPED = 200
COLUMNS = ("time", "study", "status", "visits", "effect")


async def runs(request: Request) -> Response:
    """Search, filter, order and page stand in the address."""
    return await run_in_threadpool(_runs, request)


def _runs(request: Request) -> Response:
    index: Index = request.app.state.index
    asked = Asked.of(request.query_params)
    listing = index.listing()
    chosen = select(listing.runs.values(), asked)
    document = {
        "found": chosen.found,
        "runs_in_all": len(listing.runs),
        "page": chosen.page,
        "pages": chosen.pages,
        "runs": [row_of(run) for run in chosen.rows],
        "skipped_in_all": len(listing.skipped),
        "skipped": [vars(each) for each in listing.skipped[:MOST_SKIPPED]],
    }
    return shown(
        request,
        "runs.html.j2",
        document,
        title="Runs",
        asked=asked,
        chosen=chosen,
        columns=[(name, SORTS[name][0]) for name in COLUMNS],
        folder=str(index.folder),
    )


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
    """``https against http: slower, -74.5 % (-80.3 to -67.3 %)``."""
    if lead is None:
        return None
    text = f"{lead.other} against {lead.baseline}: {words_of(lead.word)}"
    if lead.estimate_log is None:
        return text
    ends = lead.low_log, lead.high_log
    size = signed_effect(lead.estimate_log, beside=ends)
    between = interval(*ends, estimate_log=lead.estimate_log, direction=None)
    return f"{text}, {size} ({between})"
