"""The report of a run, its forms for programs, and the files that it was made from."""

from __future__ import annotations

import base64
import hashlib
import re
import stat
from pathlib import Path

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, RedirectResponse, Response

from steelyard.web.index import ListedRun
from steelyard.web.making import Refused
from steelyard.web.pages.render import address, filled, json_answer, refusal, run_address, shown
from steelyard.web.reading import inside

WAIT_S = 2.0
AGAIN_S = 2
_TEXTS = {".json", ".jsonl", ".yaml", ".yml", ".txt", ".md", ".csv", ".tex", ".conf"}
_OF_A_FILE = "sandbox; default-src 'none'; style-src 'unsafe-inline'"
_SCRIPT = re.compile(r"<script>(.*?)</script>", re.DOTALL)
_KINDS = {"report.csv": ("csv", "text/csv; charset=utf-8"),
          "findings.json": ("json", "application/json")}  # fmt: skip


async def listed(request: Request) -> ListedRun | None:
    """The run that the address names; only what the index has found is opened."""
    key = "{study}/{run}".format(**request.path_params)
    return await run_in_threadpool(request.app.state.index.run, key)


def not_there(request: Request) -> Response:
    return refusal(
        request,
        404,
        "There is no such run here.",
        "The list of runs says what was skipped, and why.",
    )


async def report(request: Request) -> Response:
    """The page that ``steelyard report`` writes, below a line that leads to the other pages."""
    run = await listed(request)
    if run is None:
        return not_there(request)
    if request.url.path.endswith(".json"):
        return await _made(request, run, "json", "application/json")
    page = await request.app.state.worker.made("page", run.path, WAIT_S)
    if not isinstance(page, str):
        return _unready(request, run, page)
    strip = filled("strip.html.j2", run=run)
    text = page.replace("<header>", f"<header>\n{strip}", 1)
    return HTMLResponse(text, headers={"content-security-policy": _policy(page)})


async def form(request: Request) -> Response:
    """``report.csv`` and ``findings.json``, to which the page links."""
    run = await listed(request)
    if run is None:
        return not_there(request)
    kind, media_type = _KINDS[request.url.path.rpartition("/")[2]]
    return await _made(request, run, kind, media_type)


async def _made(request: Request, run: ListedRun, kind: str, media_type: str) -> Response:
    content = await request.app.state.worker.made(kind, run.path, WAIT_S)
    if not isinstance(content, str):
        return _unready(request, run, content)
    return Response(content, media_type=media_type)


def _unready(request: Request, run: ListedRun, why: object) -> Response:
    """Being made: asked again after a moment. Or refused, with the reason."""
    if isinstance(why, Refused):
        return refusal(request, 422, why.message, why.hint)
    again = {"retry-after": str(AGAIN_S)}
    document = {"status": "being_made", "run": run.key}
    if not request.url.path.endswith("/"):
        answer = json_answer(document, 202)
    else:
        answer = shown(
            request, "making.html.j2", document, status=202, title=run.key, again_s=AGAIN_S
        )
    answer.headers.update(again)
    return answer


def _policy(page: str) -> str:
    """Of the scripts in the page only those that it was made with run: they are named by digest."""
    digests = {hashlib.sha256(script.encode()).digest() for script in _SCRIPT.findall(page)}
    sources = " ".join(f"'sha256-{base64.b64encode(each).decode()}'" for each in sorted(digests))
    scripts = sources or "'none'"
    return (
        f"default-src 'none'; style-src 'unsafe-inline'; script-src {scripts}; "
        "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )


async def with_slash(request: Request) -> Response:
    """Links of the page are relative to its folder."""
    study, run = request.path_params["study"], request.path_params["run"]
    return RedirectResponse(address("runs", study, run) + "/", 307)


async def records(request: Request) -> Response:
    """A file below the folder of the run as text or to keep, or what a folder holds."""
    run = await listed(request)
    relative = request.path_params["path"].removesuffix("/")
    found = None if run is None else await run_in_threadpool(inside, run.path, relative)
    if run is None or found is None:
        return refusal(request, 404, "There is no such file in this run.")
    return await run_in_threadpool(_record, request, run, found)


def _record(request: Request, run: ListedRun, path: Path) -> Response:
    mode = path.lstat().st_mode
    if stat.S_ISDIR(mode):
        if not request.url.path.endswith("/"):
            return RedirectResponse(request.url.path + "/", 307)
        names = sorted(each.name + "/" * each.is_dir() for each in path.iterdir())
        where = path.relative_to(run.path.parent).as_posix()
        return HTMLResponse(filled("folder.html.j2", names=names, title=where, run=run, twin=None,
                                   back=run_address("runs", run.key) + "/"))  # fmt: skip
    if not stat.S_ISREG(mode):
        return refusal(request, 404, "This is no regular file.")
    headers = {"content-security-policy": _OF_A_FILE}
    if path.suffix in _TEXTS:
        return FileResponse(path, media_type="text/plain; charset=utf-8", headers=headers)
    return FileResponse(
        path, media_type="application/octet-stream", filename=path.name, headers=headers
    )
