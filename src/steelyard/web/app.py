"""The table of pages. Everything is read; there is nothing that a request can change."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from pathlib import Path

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from steelyard.web.access import Access
from steelyard.web.index import Index
from steelyard.web.live.following import Followers
from steelyard.web.pages import compare, history, live, run, runs
from steelyard.web.pages.render import refusal, script, style
from steelyard.web.queue_watch import Ask, QueueWatch
from steelyard.web.worker import Worker

_RUN = "{study}/{run}"
_MACHINE = f"{_RUN}/machines/{{machine}}"


async def _home(_request: Request) -> Response:
    return RedirectResponse("/runs", 307)


async def _style(_request: Request) -> Response:
    return PlainTextResponse(style(), media_type="text/css")


async def _script(_request: Request) -> Response:
    return PlainTextResponse(script(), media_type="text/javascript")


async def _no_icon(_request: Request) -> Response:
    """Browsers ask for one, and write into their console where the answer is an error."""
    return Response(status_code=204)


ROUTES = [
    Route("/", _home),
    Route("/favicon.ico", _no_icon),
    Route("/static/style.css", _style),
    Route("/static/live.js", _script),
    Route("/runs", runs.runs),
    Route("/runs.json", runs.runs),
    Route("/compare", compare.compare),
    Route("/compare.json", compare.compare),
    Route("/history/{study}.json", history.history),
    Route("/history/{study}", history.history),
    Route(f"/live/{_MACHINE}/events", live.events),
    Route(f"/live/{_MACHINE}.json", live.live),
    Route(f"/live/{_MACHINE}", live.live),
    Route(f"/live/{_RUN}/events", live.events),
    Route(f"/live/{_RUN}.json", live.live),
    Route(f"/live/{_RUN}", live.live),
    Route(f"/runs/{_RUN}.json", run.report),
    Route(f"/runs/{_RUN}", run.with_slash),
    Route(f"/runs/{_RUN}/", run.report),
    Route(f"/runs/{_RUN}/report.csv", run.form),
    Route(f"/runs/{_RUN}/findings.json", run.form),
    Route(f"/runs/{_RUN}/records/{{path:path}}", run.records),
]
"""Each page, and the same as JSON."""


async def _failed(request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    said = "There is no such page." if status == 404 else str(getattr(error, "detail", "failed"))
    return refusal(request, status, said)


def application(
    results: Path,
    token: str | None = None,
    names: Iterable[str] = (),
    queue: Ask = lambda _: {},
) -> Starlette:
    """The pages of a results folder, which was checked (``reading.results_folder``).

    ``queue`` says how runs stand that were given to a queue.
    """

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        try:
            yield
        finally:
            app.state.worker.close()

    app = Starlette(
        routes=ROUTES,
        lifespan=lifespan,
        middleware=[Middleware(Access, token=token, names=tuple(names))],
        exception_handlers={HTTPException: _failed},
    )
    app.router.redirect_slashes = False
    app.state.index = Index(results)
    app.state.worker = Worker()
    app.state.followers = Followers()
    app.state.queue = QueueWatch(queue)
    return app
