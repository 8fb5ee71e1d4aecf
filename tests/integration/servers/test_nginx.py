"""HTTP against nginx; what was sent is counted by nginx's own log."""

from __future__ import annotations

import http.client
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.integration.servers.authority import Authority
from tests.integration.servers.engine_load import (
    OPERATIONS,
    assert_all_good,
    kinds,
    load,
    refusal,
)
from tests.integration.servers.nginx import BRIEF_REQUESTS, PAGES, Logged, Nginx, logged, nginx

Ended = Callable[[], list[Logged]]


@pytest.fixture
def web(folder: Path, authority: Authority) -> Iterator[tuple[Nginx, Ended]]:
    """The server, and what ends it and then reads its log, which is whole only then."""
    with ExitStack() as stack:
        server = stack.enter_context(nginx(folder, authority))

        def ended() -> list[Logged]:
            stack.close()
            return logged(folder)

        yield server, ended


@pytest.mark.parametrize(
    ("words", "connections"),
    [((), 4), (("--strict",), 4), (("--pipeline", "8"), 4), (("--disable-keepalive",), OPERATIONS)],
    ids=["keep-alive", "full parser", "pipelining", "a connection each"],
)
def test_every_request_of_the_result_is_in_the_servers_log(
    web: tuple[Nginx, Ended], words: tuple[str, ...], connections: int
) -> None:
    server, ended = web
    result = load(f"{server.clear}/index.html", "-c", "4", *words)
    assert_all_good(result)
    lines = ended()
    assert len(lines) == result["counts"]["sent"]
    assert {line.status for line in lines} == {200}
    assert len({line.connection for line in lines}) == connections
    assert result["counts"]["bytes_in"] > OPERATIONS * PAGES["index.html"]


def test_a_reply_to_head_has_no_body(web: tuple[Nginx, Ended]) -> None:
    server, ended = web
    result = load(f"{server.clear}/large.txt", "-m", "HEAD")
    assert_all_good(result)
    assert result["counts"]["bytes_in"] < OPERATIONS * 1000
    assert Counter(line.method for line in ended()) == {"HEAD": OPERATIONS}


@pytest.mark.parametrize("words", [(), ("--pipeline", "4"), ("--strict",)])
def test_chunks_are_read_to_the_last(web: tuple[Nginx, Ended], words: tuple[str, ...]) -> None:
    server, ended = web
    assert _reply(server, "/chunked/page.html").getheader("Transfer-Encoding") == "chunked"
    result = load(f"{server.clear}/chunked/page.html", *words)
    assert_all_good(result)
    assert len(ended()) == OPERATIONS + 1


def test_not_modified_and_not_found_are_never_good(web: tuple[Nginx, Ended]) -> None:
    server, ended = web
    tag = _reply(server, "/index.html").getheader("ETag")
    unchanged = load(f"{server.clear}/index.html", "-H", f"If-None-Match: {tag}")
    missing = load(f"{server.clear}/nothing-here")
    assert kinds(unchanged) == {"bad_status_3xx": OPERATIONS}
    assert kinds(missing) == {"bad_status_4xx": OPERATIONS}
    assert unchanged["counts"]["ok"] == missing["counts"]["ok"] == 0
    assert Counter(line.status for line in ended()) == {200: 1, 304: OPERATIONS, 404: OPERATIONS}


def test_a_body_arrives_whole(web: tuple[Nginx, Ended]) -> None:
    server, ended = web
    result = load(f"{server.clear}/post", "-b", "z" * 5000)
    assert_all_good(result)
    lines = ended()
    assert Counter(line.method for line in lines) == {"POST": OPERATIONS}
    assert all(line.request_bytes > 5000 for line in lines)


def test_a_unix_socket_replaces_host_and_port(web: tuple[Nginx, Ended]) -> None:
    server, ended = web
    result = load("http://anything.test/index.html", "--unix-socket", str(server.socket))
    assert_all_good(result)
    assert len(ended()) == OPERATIONS


def test_a_list_of_urls_has_figures_for_each_path(web: tuple[Nginx, Ended]) -> None:
    server, ended = web
    paths = ["/index.html", "/small.txt", "/large.txt", "/nothing-here"]
    urls = server.folder / "urls"
    urls.write_text("# in turn\n" + "\n".join(paths) + "\n", encoding="utf-8")
    result = load(f"{server.clear}/", "--urls", str(urls), "-c", "1")
    logged_paths = Counter(line.path for line in ended())
    each = OPERATIONS // len(paths)
    assert logged_paths == dict.fromkeys(paths, each)
    assert {path: figures["ok"] for path, figures in result["operations"].items()} == {
        **dict.fromkeys(paths[:3], each),
        "/nothing-here": 0,
    }
    assert result["operations"]["/nothing-here"]["errors"] == each


def test_a_connection_that_the_server_ends_is_replaced_and_nothing_is_lost(
    web: tuple[Nginx, Ended],
) -> None:
    server, ended = web
    result = load(f"{server.brief}/index.html", "-c", "2")
    assert_all_good(result)
    lines = ended()
    assert len(lines) == OPERATIONS
    assert max(Counter(line.connection for line in lines).values()) == BRIEF_REQUESTS


def test_requests_behind_the_last_reply_of_a_connection_fail_and_are_reported(
    web: tuple[Nginx, Ended],
) -> None:
    server, ended = web
    result = load(f"{server.brief}/index.html", "-c", "2", "--pipeline", "4")
    counts = result["counts"]
    assert counts["ok"] > 0
    assert counts["ok"] + counts["errors"] == counts["sent"]
    assert set(kinds(result)) <= {"peer_closed_early", "conn_reset", "short_write"}
    assert counts["ok"] <= len(ended()) <= counts["sent"]


def test_tls_is_verified_against_the_authority(
    web: tuple[Nginx, Ended], authority: Authority
) -> None:
    server, ended = web
    result = load(f"{server.secure}/index.html", "--cacert", str(authority.certificate))
    assert_all_good(result)
    assert result["tls"]["verified"] is True
    assert result["tls"]["versions"] == {"TLSv1_3": result["load"]["connections_asked"]}
    assert {line.protocol for line in ended()} == {"HTTP/1.1"}


def test_a_certificate_of_another_authority_is_refused(
    web: tuple[Nginx, Ended], stranger: Authority
) -> None:
    server, ended = web
    told = refusal(f"{server.secure}/index.html", "--cacert", str(stranger.certificate))
    assert "tls_cert" in told
    assert ended() == []


def test_a_name_that_the_certificate_does_not_have_is_refused(
    web: tuple[Nginx, Ended], authority: Authority
) -> None:
    server, ended = web
    trust = ("--cacert", str(authority.certificate))
    told = refusal(f"{server.secure}/index.html", *trust, "--servername", "other.test")
    assert "tls_cert" in told
    assert ended() == []


def test_a_run_that_verified_nothing_says_so(web: tuple[Nginx, Ended]) -> None:
    server, ended = web
    result = load(f"{server.secure}/index.html", "--insecure", "--disable-keepalive")
    assert_all_good(result)
    assert result["tls"]["verified"] is False
    assert result["load"]["job"]["tls"]["insecure"] is True
    assert len({line.connection for line in ended()}) == OPERATIONS


@pytest.mark.parametrize("resume", [(), ("--tls-resume",)], ids=["full", "resumed"])
def test_sessions_are_resumed_only_on_request(
    web: tuple[Nginx, Ended], resume: tuple[str, ...]
) -> None:
    server, _ = web
    words = ("--insecure", "--disable-keepalive", "-c", "1", *resume)
    result = load(f"{server.secure}/small.txt", *words, operations=50)
    assert_all_good(result, 50)
    assert (result["tls"]["resumed"] > 0) is bool(resume)


@pytest.mark.parametrize("streams", ["1", "16"])
def test_http2_in_clear_text(web: tuple[Nginx, Ended], streams: str) -> None:
    server, ended = web
    words = ("--http2", "--streams", streams, "-c", "2")
    assert_all_good(load(f"{server.http2}/large.txt", *words))
    assert_all_good(load(f"{server.http2}/post", "-b", "z" * 5000, *words))
    lines = ended()
    assert {line.protocol for line in lines} == {"HTTP/2.0"}
    assert len(lines) == 2 * OPERATIONS


def test_http2_by_alpn(web: tuple[Nginx, Ended], authority: Authority) -> None:
    server, ended = web
    trust = ("--cacert", str(authority.certificate))
    found = load(f"{server.secure}/index.html", "--http2", "--streams", "8", *trust)
    missing = load(f"{server.secure}/nothing-here", "--http2", *trust)
    assert_all_good(found)
    assert kinds(missing) == {"bad_status_4xx": OPERATIONS}
    lines = ended()
    assert {line.protocol for line in lines} == {"HTTP/2.0"}
    assert len(lines) == 2 * OPERATIONS


def _reply(server: Nginx, path: str) -> http.client.HTTPResponse:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)
    connection.request("GET", path)
    reply = connection.getresponse()
    reply.read()
    connection.close()
    return reply
