"""Who may ask, and what goes out with every answer.

Without a token the server listens on loopback only. A page of another site could still make a
browser ask it: the name in ``Host`` must be one of this server (against names that resolve to
loopback), and an ``Origin`` must be the server itself.
"""

from __future__ import annotations

import hmac
import ipaddress
from collections.abc import Iterable
from http.cookies import CookieError, SimpleCookie
from pathlib import Path
from urllib.parse import parse_qsl, urlencode

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from steelyard.errors import HostError, RecordError
from steelyard.web.reading import read_bounded

COOKIE = "steelyard_token"
_LEAST_TOKEN = 16
_MOST_TOKEN = 4096
HEADERS = {
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "cache-control": "private, no-cache",
}
OWN_PAGES = (
    "default-src 'none'; style-src 'self' 'unsafe-inline'; script-src 'self'; "
    "img-src 'self' data:; connect-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'"
)
"""Styles may stand in the page, as those of its drawings do; scripts may not."""


def token_in(path: Path) -> str:
    """The token in a file: its text without the line end.

    Raises:
        HostError: the file cannot be read, is open to everybody, or holds no good token.
    """
    try:
        text = read_bounded(path.resolve(), _MOST_TOKEN).decode("ascii").strip()
        open_to_all = path.stat().st_mode & 0o077
    except (OSError, ValueError, RecordError) as error:
        why = getattr(error, "strerror", None) or "it is not one line of ASCII text"
        raise _bad_token(path, why) from error
    if open_to_all:
        raise _bad_token(path, "others may read it; chmod 600 it")
    if len(text) < _LEAST_TOKEN or not text.isprintable() or " " in text:
        raise _bad_token(path, f"it must hold one word of at least {_LEAST_TOKEN} letters")
    return text


def _bad_token(path: Path, why: str) -> HostError:
    return HostError(
        f"the token in {path} cannot be used: {why}",
        hint=f"umask 077; head -c 24 /dev/urandom | base64 | tr +/ -_ > {path}",
        slug="token-is-wrong",
    )


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches the address."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class Access:
    """Lets a request through, or answers it with 401, 403, 405 or 421.

    ``names`` are host names of this server besides addresses; without ``token`` only loopback
    addresses and those names count.
    """

    def __init__(self, app: ASGIApp, token: str | None, names: Iterable[str]) -> None:
        self._app = app
        self._token = token
        self._names = {name.lower() for name in names} | {"localhost"}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return
        answer = self._refusal(scope)

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
                headers.setdefault("content-security-policy", OWN_PAGES)
            await send(message)

        await (answer or self._app)(scope, receive, with_headers)

    def _refusal(self, scope: Scope) -> Response | None:
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if not self._is_own(host):
            return _said(421, f"This server has no name {host!r}: give it with --name.")
        if scope["method"] not in {"GET", "HEAD"}:
            return _said(405, "This server only shows.", allow="GET, HEAD")
        origin = headers.get("origin")
        if origin is not None and origin not in {f"http://{host}", f"https://{host}"}:
            return _said(403, "Pages of other sites may not ask this server.")
        return None if self._token is None else self._without_token(scope, headers)

    def _is_own(self, host: str) -> bool:
        name = _name_in(host)
        if name is None:
            return False
        if name in self._names:
            return True
        try:
            address = ipaddress.ip_address(name)
        except ValueError:
            return False
        return self._token is not None or address.is_loopback

    def _without_token(self, scope: Scope, headers: Headers) -> Response | None:
        query = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        asked = dict(query).get("token")
        if asked is not None and self._is_token(asked):
            rest = urlencode([(name, value) for name, value in query if name != "token"])
            path = "/" + scope["path"].lstrip("/")
            answer = RedirectResponse(f"{path}?{rest}" if rest else path, 303)
            answer.set_cookie(COOKIE, asked, httponly=True, samesite="strict", path="/")
            return answer
        scheme, _, bearer = headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer" and self._is_token(bearer.strip()):
            return None
        if self._is_token(_cookie(headers.get("cookie", ""))):
            return None
        how = "Add ?token=TOKEN to the address once, or send `Authorization: Bearer TOKEN`."
        return _said(401, f"A token is needed. {how}", **{"www-authenticate": "Bearer"})

    def _is_token(self, given: str) -> bool:
        """In a time that says nothing about how much of it was right."""
        wanted = (self._token or "").encode()
        return hmac.compare_digest(given.encode("utf-8", "surrogateescape"), wanted)


def _name_in(host: str) -> str | None:
    """The name without the port; ``[::1]:8080`` without its brackets."""
    name, _, port = host.rpartition(":") if not host.endswith("]") else (host, "", "")
    if not name:
        name, port = host, ""
    if port and not port.isdigit():
        return None
    return name.lower().removeprefix("[").removesuffix("]") or None


def _cookie(header: str) -> str:
    try:
        found = SimpleCookie(header).get(COOKIE)
    except CookieError:
        return ""
    return "" if found is None else found.value


def _said(status: int, text: str, **headers: str) -> Response:
    return PlainTextResponse(text + "\n", status, headers=headers)
