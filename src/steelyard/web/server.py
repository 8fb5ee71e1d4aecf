"""Listens, serves until it is asked to end, and leaves nothing running."""

from __future__ import annotations

import errno
import socket
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import uvicorn

from steelyard.errors import HostError
from steelyard.web.access import is_loopback
from steelyard.web.app import application
from steelyard.web.queue_watch import Ask

_LONGEST_END_S = 2
_MOST_CONNECTIONS = 200


class Place(NamedTuple):
    """Where to listen."""

    host: str
    port: int

    @classmethod
    def of(cls, text: str) -> Place:
        """``127.0.0.1:8080``, ``[::1]:0``, ``:8080`` of loopback.

        Raises:
            ValueError: it is no address with a port.
        """
        host, colon, port = text.rpartition(":")
        host = host.removeprefix("[").removesuffix("]") or "127.0.0.1"
        if not (colon and port.isascii() and port.isdigit()) or int(port) > 65535 or "/" in host:
            raise ValueError(f"{text!r} is no ADDRESS:PORT")
        return cls(host, int(port))

    @property
    def is_open(self) -> bool:
        """Whether other machines reach it."""
        return not is_loopback(self.host)


class _Server(uvicorn.Server):
    """Tells when it listens. Open event streams do not keep it from ending."""

    def __init__(
        self,
        config: uvicorn.Config,
        listening: Callable[[], None],
        end_streams: Callable[[], Awaitable[None]],
    ) -> None:
        super().__init__(config)
        self._listening = listening
        self._end_streams = end_streams

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        await self._end_streams()
        await super().shutdown(sockets)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._listening()


def serve(  # noqa: PLR0917 - what is served, where, to whom
    results: Path,
    place: Place,
    token: str | None,
    names: Iterable[str],
    listening: Callable[[str, int], None],
    queue: Ask = lambda _: {},
) -> None:
    """Serves until SIGINT or SIGTERM. ``listening`` is given the address and the number of runs.

    ``queue`` says how runs stand that were given to a queue.

    Raises:
        HostError: the address cannot be listened on.
    """
    app = application(results, token, names, queue)
    with _socket(place) as sock:
        port = sock.getsockname()[1]
        shown = f"[{place.host}]" if ":" in place.host else place.host
        config = uvicorn.Config(
            app,
            log_level="warning",
            access_log=False,
            server_header=False,
            lifespan="on",
            limit_concurrency=_MOST_CONNECTIONS,
            timeout_graceful_shutdown=_LONGEST_END_S,
        )

        def told() -> None:
            listening(f"http://{shown}:{port}/", len(app.state.index.listing().runs))

        with suppress(KeyboardInterrupt):  # raised once more when all has been closed
            _Server(config, told, app.state.followers.close).run(sockets=[sock])


def _socket(place: Place) -> socket.socket:
    try:
        family, kind, _, _, address = socket.getaddrinfo(
            place.host, place.port, type=socket.SOCK_STREAM
        )[0]
        sock = socket.socket(family, kind)
        try:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            sock.bind(address)
        except OSError:
            sock.close()
            raise
    except OSError as error:
        taken = error.errno == errno.EADDRINUSE
        raise HostError(
            f"cannot listen on {place.host}:{place.port}: {error.strerror or error}",
            hint="name another port with --listen, or 0 for a free one" if taken
            else "name an address of this machine with --listen",
            slug="cannot-listen",
        ) from error  # fmt: skip
    return sock
