"""Comments at a stand-in of the two servers, over HTTP."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from steelyard.cli.pipeline.discussion import Discussion
from steelyard.errors import HostError

MARKER = "<!-- steelyard: gate -->"
GITHUB = re.compile(r"/repos/o/r/issues/(7/comments|comments/(?P<id>\d+))")
GITLAB = re.compile(r"/projects/o%2Fr/merge_requests/7/notes(/(?P<id>\d+))?")


class Server(ThreadingHTTPServer):
    """``comments`` by number; ``refuses`` with a code, ``asked`` holds methods and headers."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Comments)
        self.comments: dict[int, str] = {}
        self.asked: list[tuple[str, str | None]] = []
        self.refuses: int | None = None
        self.url = f"http://127.0.0.1:{self.server_port}"


class Comments(BaseHTTPRequestHandler):
    server: Server

    def _answer(self, document: Any, code: int = 200) -> None:
        body = json.dumps(document).encode()
        self.send_response(code)
        self.send_header("Content-Length", str(len(body)))
        if code == 302:
            self.send_header("Location", f"{self.server.url}/elsewhere")
        self.end_headers()
        self.wfile.write(body)

    def _ask(self) -> None:
        token = self.headers.get("Authorization") or self.headers.get("PRIVATE-TOKEN")
        self.server.asked.append((self.command, token))
        path = urlsplit(self.path)
        found = GITHUB.fullmatch(path.path) or GITLAB.fullmatch(path.path)
        length = int(self.headers.get("Content-Length", 0))
        body = json.loads(self.rfile.read(length)) if length else {}
        if self.server.refuses is not None or found is None:
            self._answer({}, self.server.refuses or 404)
        elif self.command == "GET":
            page = int(parse_qs(path.query)["page"][0])
            rows = [{"id": n, "body": text} for n, text in self.server.comments.items()]
            self._answer(rows[100 * (page - 1) : 100 * page])
        else:
            number = int(found["id"] or len(self.server.comments) + 1)
            self.server.comments[number] = body["body"]
            self._answer({"id": number})

    do_GET = _ask  # noqa: N815 - names of the library
    do_POST = _ask  # noqa: N815
    do_PATCH = _ask  # noqa: N815
    do_PUT = _ask  # noqa: N815

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as found:
        threading.Thread(target=found.serve_forever, args=(0.01,), daemon=True).start()
        yield found
        found.shutdown()


@pytest.fixture(params=["github", "gitlab"])
def env(request: pytest.FixtureRequest, server: Server, tmp_path: Path) -> dict[str, str]:
    if request.param == "gitlab":
        return {
            "CI_PROJECT_ID": "o/r",
            "CI_MERGE_REQUEST_IID": "7",
            "CI_API_V4_URL": server.url,
            "GITLAB_TOKEN": "secret",
        }
    event = tmp_path / "event.json"
    event.write_text('{"pull_request": {"number": 7}}')
    return {
        "GITHUB_EVENT_PATH": str(event),
        "GITHUB_REPOSITORY": "o/r",
        "GITHUB_API_URL": server.url,
        "GITHUB_TOKEN": "secret",
    }


def test_a_second_run_edits_the_comment_of_the_first(server: Server, env: dict[str, str]) -> None:
    assert Discussion.of(env).put(MARKER, f"{MARKER}\nfirst") == "written"
    assert Discussion.of(env).put(MARKER, f"{MARKER}\nsecond") == "edited"
    assert server.comments == {1: f"{MARKER}\nsecond"}
    assert {token for _, token in server.asked} <= {"Bearer secret", "secret"}


def test_a_comment_beyond_the_first_page_is_found_and_a_quotation_is_not_taken_for_it(
    server: Server, env: dict[str, str]
) -> None:
    server.comments = dict.fromkeys(range(1, 150), f"> {MARKER}") | {150: f"{MARKER}\nfirst"}
    assert Discussion.of(env).put(MARKER, f"{MARKER}\nsecond") == "edited"
    assert server.comments[150] == f"{MARKER}\nsecond"
    assert server.comments[1] == f"> {MARKER}"


@pytest.mark.parametrize("code", [302, 403, 500])
def test_a_refusal_is_said_and_no_redirect_is_followed(
    server: Server, env: dict[str, str], code: int
) -> None:
    server.refuses = code
    with pytest.raises(HostError) as refused:
        Discussion.of(env).put(MARKER, MARKER)
    assert refused.value.slug == "comment-refused"
    assert str(code) in refused.value.message
    assert "secret" not in refused.value.message
    assert [method for method, _ in server.asked] == ["GET"]


def test_a_server_that_is_not_there_is_said(env: dict[str, str], server: Server) -> None:
    closed = {name: value.replace(server.url, "http://127.0.0.1:1") for name, value in env.items()}
    with pytest.raises(HostError) as refused:
        Discussion.of(closed).put(MARKER, MARKER)
    assert refused.value.slug == "comment-refused"


@pytest.mark.parametrize(
    "without",
    [
        "CI_MERGE_REQUEST_IID", "GITLAB_TOKEN",
        "GITHUB_EVENT_PATH", "GITHUB_REPOSITORY", "GITHUB_TOKEN",
    ],
)  # fmt: skip
def test_a_job_of_no_pull_request_or_without_a_token_is_refused_before_anything_is_asked(
    server: Server, env: dict[str, str], without: str
) -> None:
    if without not in env:
        pytest.skip("of the other server")
    with pytest.raises(HostError) as refused:
        Discussion.of({name: value for name, value in env.items() if name != without})
    assert refused.value.slug == "no-pull-request"
    assert server.asked == []


def test_a_token_is_not_shown(env: dict[str, str]) -> None:
    assert "secret" not in repr(Discussion.of(env))
