"""nginx with four faces: clear text, TLS, HTTP/2 in clear text, and one that closes soon."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.integration.servers.authority import Authority
from tests.integration.servers.private_server import (
    answers,
    free_port,
    require_program,
    running,
    write_config,
)

PAGES = {"index.html": 4096, "small.txt": 10, "large.txt": 100_000}
CHUNKED = 30_000
BRIEF_REQUESTS = 7  # keepalive_requests of the brief face, as in the template


@dataclass(frozen=True)
class Nginx:
    folder: Path
    port: int
    tls_port: int
    http2_port: int
    brief_port: int

    @property
    def clear(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def secure(self) -> str:
        return f"https://127.0.0.1:{self.tls_port}"

    @property
    def http2(self) -> str:
        return f"http://127.0.0.1:{self.http2_port}"

    @property
    def brief(self) -> str:
        return f"http://127.0.0.1:{self.brief_port}"

    @property
    def socket(self) -> Path:
        return self.folder / "http.sock"


@dataclass(frozen=True)
class Logged:
    """A line of the access log, in the form that the template asks for."""

    method: str
    path: str
    status: int
    request_bytes: int
    connection: int
    protocol: str


def logged(folder: Path) -> list[Logged]:
    """Every request that nginx has answered; whole only after it has ended."""
    lines = (folder / "access.log").read_text(encoding="utf-8").splitlines()
    words = (line.split() for line in lines)
    return [Logged(m, u, int(s), int(n), int(c), p) for m, u, s, n, c, p in words]


@contextmanager
def nginx(folder: Path, authority: Authority) -> Iterator[Nginx]:
    program = require_program("nginx", "nginx-light")
    authority.certify(folder)
    _write_pages(folder / "html")
    server = Nginx(folder, *(free_port() for _ in range(4)))
    config = write_config(
        "nginx.conf",
        folder / "nginx.conf",
        folder=folder,
        port=server.port,
        tls_port=server.tls_port,
        http2_port=server.http2_port,
        brief_port=server.brief_port,
        user="user root;" if os.geteuid() == 0 else "",
    )
    command: list[str | Path] = [program, "-p", folder, "-e", folder / "error.log", "-c", config]
    ports = (server.port, server.tls_port, server.http2_port, server.brief_port)
    # All: where one is taken for a moment, nginx listens on those before it and tries again.
    with running(command, folder / "stderr.log", lambda: all(map(answers, ports))):
        (folder / "access.log").write_text("")  # the look whether it answers is no request
        yield server


def _write_pages(html: Path) -> None:
    (html / "chunked").mkdir(parents=True)
    for name, size in PAGES.items():
        (html / name).write_text("x" * size, encoding="utf-8")
    # server-side includes make the length unknown beforehand
    (html / "chunked" / "page.html").write_text(
        "<!--#echo var='uri' -->" + "y" * CHUNKED, encoding="utf-8"
    )
