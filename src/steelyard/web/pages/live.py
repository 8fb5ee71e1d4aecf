"""A run while it is measured: the page, the same as JSON, and its changes as events."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from steelyard.errors import SteelyardError
from steelyard.web.live.following import Shared
from steelyard.web.live.state import document_of, parts_of
from steelyard.web.pages.render import refusal, run_address, shown
from steelyard.web.pages.run import listed, not_there


async def live(request: Request) -> Response:
    """How the run stands now; ``?comparison=2`` draws the second one."""
    run = await listed(request)
    if run is None:
        return not_there(request)
    shared = await request.app.state.followers.now(run.path)
    if shared.error is not None:
        return _not_read(request, shared.error)
    chosen = _chosen(request)
    document = document_of(shared.follower, run.running)
    return shown(
        request,
        "live.html.j2",
        document,
        title=f"{run.key} live",
        run=run,
        parts=parts_of(shared.follower, run.running, chosen),
        events=f"{run_address('live', run.key)}/events?comparison={chosen}",
    )


async def events(request: Request) -> Response:
    """Server-sent events: each is the whole state, so that a reader may begin at any."""
    run = await listed(request)
    if run is None:
        return not_there(request)
    chosen, key = _chosen(request), run.key

    async def stream() -> AsyncIterator[str]:
        async for shared in request.app.state.followers.watch(run.path):
            now = await request_run(request, key)
            yield ": still here\n\n" if shared is None else _event(shared, now, chosen)
            if shared is not None and shared.follower.progress.phase == "ended" and not now:
                return

    headers = {"x-accel-buffering": "no"}
    return StreamingResponse(stream(), media_type="text/event-stream", headers=headers)


async def request_run(request: Request, key: str) -> bool:
    """Whether a controller holds the run."""
    found = request.app.state.index.known(key)
    return found is not None and found.running


def _event(shared: Shared, running: bool, chosen: int) -> str:
    """One line of data: pieces of the page by the element that they replace, and the state."""
    if shared.error is not None:
        data: dict[str, object] = {"error": str(shared.error)}
    else:
        follower = shared.follower
        data = {
            "parts": parts_of(follower, running, chosen),
            "state": document_of(follower, running),
        }
    return f"id: {shared.version}\nevent: state\ndata: {json.dumps(data)}\n\n"


def _not_read(request: Request, error: Exception) -> Response:
    hint = error.hint if isinstance(error, SteelyardError) else None
    return refusal(request, 422, str(error), hint)


def _chosen(request: Request) -> int:
    text = request.query_params.get("comparison", "")
    return min(int(text), 1000) if text.isascii() and text.isdigit() and len(text) < 6 else 1
