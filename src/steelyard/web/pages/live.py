"""A run while it is measured: the page, the same as JSON, and its changes as events."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from steelyard.errors import SteelyardError
from steelyard.records.archive import OF_MACHINES, Run
from steelyard.web.index import LEDGER, ListedRun
from steelyard.web.live.following import Shared
from steelyard.web.live.state import document_of, parts_of
from steelyard.web.pages.render import address, refusal, shown
from steelyard.web.pages.run import listed, not_there
from steelyard.web.reading import inside
from steelyard.web.rows import said
from steelyard.web.run_state import state_of


async def live(request: Request) -> Response:
    """How the run stands now; ``?comparison=2`` draws the second one. Of several machines each has
    a page of its own, and that of the run leads to them.
    """
    run = await listed(request)
    if run is None:
        return not_there(request)
    try:
        machines = await run_in_threadpool(_machines, run)
    except SteelyardError as error:
        return _not_read(request, error)
    name = request.path_params.get("machine")
    if machines and name is None:
        return await _of_all(request, run, machines)
    path = run.path if name is None else machines.get(name)
    if path is None:
        return not_there(request)
    shared = await request.app.state.followers.now(path)
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
        machine=name,
        parts=parts_of(shared.follower, run.running, chosen),
        events=f"{_address(run, name)}/events?comparison={chosen}",
    )


async def events(request: Request) -> Response:
    """Server-sent events: each is the whole state, so that a reader may begin at any."""
    run = await listed(request)
    if run is None:
        return not_there(request)
    name = request.path_params.get("machine")
    try:
        machines = {} if name is None else await run_in_threadpool(_machines, run)
    except SteelyardError as error:
        return _not_read(request, error)
    path = run.path if name is None else machines.get(name)
    if path is None:
        return not_there(request)
    chosen, key = _chosen(request), run.key

    async def stream() -> AsyncIterator[str]:
        async for shared in request.app.state.followers.watch(path):
            now = await request_run(request, key)
            yield ": still here\n\n" if shared is None else _event(shared, now, chosen)
            if shared is not None and shared.follower.progress.phase == "ended" and not now:
                return

    headers = {"x-accel-buffering": "no"}
    return StreamingResponse(stream(), media_type="text/event-stream", headers=headers)


def _machines(run: ListedRun) -> dict[str, Path]:
    """The run of each of several machines; links are not followed."""
    found = {name: inside(run.path, f"{OF_MACHINES}/{name}") for name in Run(run.path).machines()}
    return {name: path for name, path in found.items() if path is not None}


async def _of_all(request: Request, run: ListedRun, machines: dict[str, Path]) -> Response:
    """How each machine stands, by the end of its ledger."""
    try:
        found = {
            name: await run_in_threadpool(state_of, path / LEDGER)
            for name, path in machines.items()
        }
    except (SteelyardError, OSError) as error:
        return _not_read(request, error)
    rows = [
        {
            "machine": name,
            "address": _address(run, name),
            "status": state.ended or ("running" if run.running else "open"),
            "visits": state.visits,
            "said": said(state.lead),
        }
        for name, state in found.items()
    ]
    document = {"run": run.key, "running": run.running, "machines": rows}
    title = f"{run.key} live"
    return shown(request, "live_machines.html.j2", document, title=title, run=run)


def _address(run: ListedRun, machine: str | None) -> str:
    own = () if machine is None else (OF_MACHINES, machine)
    return address("live", *run.key.split("/", 1), *own)


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
