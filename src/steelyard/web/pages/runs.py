"""The list of runs."""

from __future__ import annotations

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from steelyard.web.index import Index
from steelyard.web.listing import SORTS, Asked, select
from steelyard.web.pages.render import shown
from steelyard.web.queue_watch import QueueWatch
from steelyard.web.rows import row_of

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
    queue: QueueWatch = request.app.state.queue
    standing = queue.standing(run.path for run in chosen.rows)
    document = {
        "found": chosen.found,
        "runs_in_all": len(listing.runs),
        "page": chosen.page,
        "pages": chosen.pages,
        "runs": [{**row_of(run), "queue": standing.get(str(run.path))} for run in chosen.rows],
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
