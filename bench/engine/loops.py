"""What io_uring would save: minimal clients of a ring against the engine, and those of epoll.

In these contests the first side is the minimal client of io_uring, and the one called minimal
client that of epoll: `python -m bench.engine.loops`.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from bench.engine import machine, page, runs, table
from bench.engine.__main__ import run_all
from bench.engine.contest import Contest, Least, Shoot, Shot, cpu_at_most
from bench.engine.files import CONNECTIONS as FTP_CONNECTIONS
from bench.engine.files import ROOT, ours_small, shoot_ftp_client
from bench.engine.needs import GCC, VSFTPD, WRK, Need
from bench.engine.peers import least_shot
from bench.engine.servers import vsftpd
from bench.engine.web import (
    CONNECTIONS,
    KEEP_ALIVE,
    NEW,
    ours,
    quiet_sink,
    shoot_connect_client,
    shoot_epoll_client,
    shoot_wrk,
)

OF_EPOLL = 0.90
"""CPU per operation, to the minimal client of epoll, from which on a ring is worth its price."""
PEERS: dict[str, tuple[float, tuple[Need, ...]]] = {"steelyard": (0.80, ()), "wrk": (0.62, (WRK,))}
"""The same to a whole client, and what that one needs."""


def main() -> int:
    """Runs all, prints the table, and writes figures to bench/runs/."""
    parser = argparse.ArgumentParser(prog="python -m bench.engine.loops", description=__doc__)
    parser.add_argument("--pairs", type=int, default=12, help="of runs in each contest")
    parser.add_argument("--seconds", type=int, default=3, help="length of each run")
    parser.add_argument("--note", help="what a reader of the figures must know about this run")
    parser.add_argument("--out", type=Path, default=page.RUNS, help="folder for the figures")
    options = parser.parse_args()
    begun = machine.facts()
    rows, raw = run_all([*contests()], options.pairs, options.seconds)
    print(table.text(rows))
    asked = {"pairs": options.pairs, "seconds": options.seconds, "note": options.note}
    path = runs.store(page.LOOPS.word, {**begun, **asked}, rows, raw, options.out)
    page.follow(page.LOOPS, path)
    return 1 if any(row.failed for row in rows) else 0


@dataclass(frozen=True)
class Use:
    """What both loops are used for."""

    name: str
    setup: str
    setting: Callable[[], AbstractContextManager[str]]
    ring: Shoot
    """The minimal client of io_uring."""
    epoll: Shoot
    needs: tuple[Need, ...] = ()


def contests() -> list[Contest]:
    """Requests on kept connections, on new ones, and small files."""
    files = f"4 KiB retrieved again and again, {FTP_CONNECTIONS} connections, vsftpd"
    kept = Use("keep-alive", KEEP_ALIVE, quiet_sink, ring("uring_client"), shoot_epoll_client)
    new = Use("connect", NEW, quiet_sink, ring("uring_connect_client"), shoot_connect_client)
    small = Use("ftp-small", files, vsftpd, shoot_uring_ftp, shoot_ftp_client, (VSFTPD, ROOT))
    return [
        against("steelyard", ours, kept),
        against("wrk", shoot_wrk, kept),
        against("steelyard", ours_new, new),
        against("steelyard", ours_small, small),
    ]


def against(peer: str, shoot: Shoot, use: Use) -> Contest:
    """The minimal client of a ring against a peer, and against that of epoll."""
    bound, needs = PEERS[peer]
    return Contest(
        f"uring-{use.name}-{peer}",
        use.setup,
        peer,
        (GCC, *needs, *use.needs),
        use.setting,
        use.ring,
        shoot,
        (cpu_at_most(bound),),
        Least(use.epoll, cpu_at_most(OF_EPOLL)),
    )


def ring(name: str) -> Shoot:
    """A minimal client of HTTP that uses a ring."""
    return lambda address, seconds: least_shot(
        name, address.rsplit(":", 1)[1], CONNECTIONS, seconds
    )


def ours_new(address: str, seconds: int) -> Shot:
    """The engine with a connection for each request."""
    return ours(address, seconds, "--disable-keepalive")


def shoot_uring_ftp(address: str, seconds: int) -> Shot:
    """The minimal client of small files that uses a ring."""
    _, port = address.split()
    return least_shot("uring_ftp_client", port, "small", FTP_CONNECTIONS, seconds)


if __name__ == "__main__":
    sys.exit(main())
