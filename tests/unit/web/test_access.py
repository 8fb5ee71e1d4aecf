"""Who may ask: hosts, origins, methods, tokens, and what goes out with every answer."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.web.conftest import TOKEN, Reader

from steelyard.errors import HostError
from steelyard.web.access import COOKIE, token_in
from steelyard.web.server import Place


@pytest.mark.parametrize("host", ["127.0.0.1:8080", "localhost", "[::1]:8080", "127.9.9.9:1"])
def test_loopback_by_any_of_its_names_is_answered(reader: Reader, host: str) -> None:
    assert reader.ask("/runs", host=host).status_code == 200


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:8080", "localhost.evil.example", "10.0.0.1", "", "[::2]", "a:b",
     "127.0.0.1:80:90", "127.0.0.1@evil.example"],
)  # fmt: skip
def test_a_name_that_somebody_else_gave_this_machine_is_refused(reader: Reader, host: str) -> None:
    assert reader.ask("/runs", host=host).status_code == 421


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "http://127.0.0.1:9090", "file://"]
)
def test_a_page_of_another_site_may_not_ask(reader: Reader, origin: str) -> None:
    assert reader.ask("/runs.json", origin=origin).status_code == 403


def test_the_servers_own_pages_may_ask(reader: Reader) -> None:
    assert reader.ask("/runs.json", origin="http://127.0.0.1:8080").status_code == 200


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"])
def test_nothing_but_reading_is_answered(reader: Reader, method: str) -> None:
    answer = reader.ask("/runs", method)
    assert (answer.status_code, answer.headers["allow"]) == (405, "GET, HEAD")


@pytest.mark.parametrize("path", ["/runs", "/nothing", "/runs.json", "/static/live.js"])
def test_every_answer_has_a_policy_without_other_sites(reader: Reader, path: str) -> None:
    headers = reader.ask(path).headers
    policy = dict(part.split(" ", 1) for part in headers["content-security-policy"].split("; "))
    assert policy["default-src"] == "'none'"
    assert policy["script-src"] == "'self'"
    assert "http" not in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["x-frame-options"] == "DENY"
    assert headers["referrer-policy"] == "no-referrer"


@pytest.mark.parametrize(
    "given", ["", "Bearer", f"Bearer {TOKEN}x", f"Bearer {TOKEN[:-1]}", f"Basic {TOKEN}"]
)
def test_without_the_token_nothing_is_shown(reader_with_token: Reader, given: str) -> None:
    answer = reader_with_token.ask("/runs.json", authorization=given)
    assert (answer.status_code, answer.headers["www-authenticate"]) == (401, "Bearer")
    assert "durable-mail" not in answer.text


def test_a_token_that_is_no_ascii_is_refused_and_no_defect(reader_with_token: Reader) -> None:
    assert reader_with_token.ask("/runs?token=%ff%fe%C3%A4").status_code == 401


def test_a_program_sends_the_token_as_bearer(reader_with_token: Reader) -> None:
    answer = reader_with_token.ask("/runs.json", authorization=f"Bearer {TOKEN}")
    assert answer.status_code == 200


def test_a_browser_gives_the_token_once_and_it_leaves_the_address(
    reader_with_token: Reader,
) -> None:
    first = reader_with_token.ask(f"/runs?q=mail&token={TOKEN}")
    assert (first.status_code, first.headers["location"]) == (303, "/runs?q=mail")
    cookie = first.headers["set-cookie"]
    assert {"HttpOnly", "SameSite=strict"} <= set(cookie.split("; "))
    later = reader_with_token.ask("/runs", cookie=f"{COOKIE}={TOKEN}")
    assert later.status_code == 200


def test_the_way_back_never_leads_to_another_site(reader_with_token: Reader) -> None:
    location = reader_with_token.ask(f"//evil.example/runs?token={TOKEN}").headers.get(
        "location", "/"
    )
    assert location.startswith("/")
    assert not location.startswith("//")


def test_with_a_token_addresses_and_given_names_are_the_servers(reader_with_token: Reader) -> None:
    for host, status in (("10.1.2.3:8080", 200), ("bench.example", 200), ("evil.example", 421)):
        answer = reader_with_token.ask("/runs", host=host, authorization=f"Bearer {TOKEN}")
        assert answer.status_code == status, host


def write_token(path: Path, text: str, mode: int = 0o600) -> Path:
    path.write_text(text, encoding="utf-8")
    path.chmod(mode)
    return path


def test_a_token_is_the_word_in_its_file(tmp_path: Path) -> None:
    assert token_in(write_token(tmp_path / "token", f"{TOKEN}\n")) == TOKEN


@pytest.mark.parametrize(
    ("text", "mode"),
    [("short", 0o600), ("", 0o600), (f"{TOKEN} {TOKEN}", 0o600), (f"{TOKEN}ä", 0o600),
     (TOKEN, 0o644), (TOKEN * 300, 0o600)],
)  # fmt: skip
def test_a_token_that_protects_nothing_is_refused(tmp_path: Path, text: str, mode: int) -> None:
    with pytest.raises(HostError) as refused:
        token_in(write_token(tmp_path / "token", text, mode))
    assert refused.value.slug == "token-is-wrong"


def test_a_token_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(HostError):
        token_in(tmp_path / "none")


@pytest.mark.parametrize(
    ("text", "place", "is_open"),
    [("127.0.0.1:8080", ("127.0.0.1", 8080), False), ("[::1]:0", ("::1", 0), False),
     (":80", ("127.0.0.1", 80), False), ("10.0.0.1:80", ("10.0.0.1", 80), True),
     ("localhost:1", ("localhost", 1), False), ("[::]:1", ("::", 1), True),
     ("lab.example:1", ("lab.example", 1), True)],
)  # fmt: skip
def test_where_to_listen(text: str, place: tuple[str, int], is_open: bool) -> None:
    found = Place.of(text)
    assert (tuple(found), found.is_open) == (place, is_open)


@pytest.mark.parametrize(
    "text", ["127.0.0.1", "8080", "1.2.3.4:", "a:b", "a:99999", "http://a:80", "", "a:-1", "a:²"]
)
def test_what_is_no_place_to_listen(text: str) -> None:
    with pytest.raises(ValueError, match="no ADDRESS:PORT"):
        Place.of(text)
