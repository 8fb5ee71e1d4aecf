"""HTTP/1.1, new connections, HTTP/2."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace

from bench.engine import outputs
from bench.engine.contest import (
    Contest,
    Goal,
    Least,
    Pair,
    Shoot,
    Shot,
    cpu_at_most,
    per_cpu_at_least,
    rate_at_least,
)
from bench.engine.needs import AB, GCC, H2LOAD, NGINX, OHA, WRK, Need
from bench.engine.outputs import Counted
from bench.engine.peers import least_shot
from bench.engine.process import charged
from bench.engine.servers import nginx
from bench.engine.steelyard import load, sink

CONNECTIONS = 64
H2_CONNECTIONS, H2_STREAMS = 16, 16
BUSY_SHARE = 0.9
KEEP_ALIVE = f"HTTP/1.1, {CONNECTIONS} connections kept alive, own sink, 128 B"
NEW = f"a new connection for each request, {CONNECTIONS} at once, own sink"
STREAMS = f"HTTP/2 without TLS, {H2_CONNECTIONS} connections x {H2_STREAMS} streams"


def contests() -> list[Contest]:
    """Everything that HTTP is held against."""
    return [
        with_least(keep_alive("wrk", WRK, shoot_wrk, cpu_at_most(0.70), rate_at_least(1.0))),
        with_least(keep_alive("ab -k", AB, shoot_ab_kept, cpu_at_most(0.85))),
        keep_alive("oha", OHA, shoot_oha, cpu_at_most(0.70), rate_at_least(1.0)),
        keep_alive("h2load --h1", H2LOAD, shoot_h2load_h1, rate_at_least(1.0)),
        wrk_at_its_limit(),
        new_connections(),
        http2("http2-h2load-sink", "own sink", (H2LOAD,), lambda: sink("http")),
        http2("http2-h2load-nginx", "nginx", (H2LOAD, NGINX), nginx),
    ]


def keep_alive(peer: str, need: Need, theirs: Shoot, *goals: Goal) -> Contest:
    word = peer.split(maxsplit=1)[0]
    return Contest(
        f"http-keep-alive-{word}", KEEP_ALIVE, peer, (need,), quiet_sink, ours, theirs, goals
    )


def with_least(contest: Contest) -> Contest:
    """The same with the minimal client of connections that are kept."""
    least = Least(shoot_epoll_client, cpu_at_most(1.05))
    return replace(contest, needs=(*contest.needs, GCC), least=least)


def wrk_at_its_limit() -> Contest:
    return Contest(
        "http-limit-wrk",
        f"{KEEP_ALIVE}; counts only if wrk used {BUSY_SHARE:.0%} of its core, so that the "
        "server was not the limit",
        "wrk",
        (WRK,),
        quiet_sink,
        ours,
        shoot_wrk,
        (rate_at_least(1.2),),
        doubt=server_was_the_limit,
    )


def new_connections() -> Contest:
    return Contest(
        "http-connect-ab",
        NEW,
        "ab",
        (AB, GCC),
        quiet_sink,
        lambda address, seconds: ours(address, seconds, "--disable-keepalive"),
        shoot_ab,
        (per_cpu_at_least(1.2),),
        Least(shoot_connect_client, cpu_at_most(1.10)),
    )


def http2(
    name: str, server: str, needs: tuple[Need, ...], setting: Callable[[], Setting]
) -> Contest:
    return Contest(
        name,
        f"{STREAMS}, {server}",
        "h2load",
        needs,
        setting,
        ours_http2,
        shoot_h2load,
        (per_cpu_at_least(0.9),),
    )


Setting = AbstractContextManager[str]


@contextmanager
def quiet_sink() -> Iterator[str]:
    """The sink of HTTP with its defaults."""
    with sink("http") as address:
        yield address


def ours(address: str, seconds: int, *options: str) -> Shot:
    """The engine on HTTP/1.1."""
    return load(f"http://{address}/", seconds, "-c", str(CONNECTIONS), *options)


def ours_http2(address: str, seconds: int) -> Shot:
    """The engine on HTTP/2."""
    options = ("--http2", "--streams", str(H2_STREAMS), "-c", str(H2_CONNECTIONS))
    return load(f"http://{address}/", seconds, *options)


def shoot_wrk(address: str, seconds: int) -> Shot:
    """wrk, and which share of its core it used."""
    return shot(["wrk", *spread("-t", "-c"), "-d", f"{seconds}s", url(address)], outputs.wrk)


def shoot_ab_kept(address: str, seconds: int) -> Shot:
    """Ab with connections kept alive."""
    return shoot_ab(address, seconds, "-k")


def shoot_ab(address: str, seconds: int, *options: str) -> Shot:
    """Ab with a connection for each request, unless told otherwise."""
    # -t sets a count of its own, so that -n must come after it. ab reserves memory for the whole
    # count: it is only a little above what a run can reach.
    command = ["ab", "-q", *options, "-t", str(seconds), "-n", str(300_000 * seconds)]
    return shot([*command, "-c", str(CONNECTIONS), url(address)], outputs.ab)


def shoot_oha(address: str, seconds: int) -> Shot:
    """Oha on one thread, without its screen."""
    command = ["oha", "--no-tui", "--output-format", "json", "-z", f"{seconds}s"]
    return shot([*command, "-c", str(CONNECTIONS), url(address)], outputs.oha)


def shoot_h2load_h1(address: str, seconds: int) -> Shot:
    """h2load on HTTP/1.1."""
    command = ["h2load", "--h1", *spread("-t", "-c"), "-D", str(seconds), url(address)]
    return shot(command, outputs.h2load)


def shoot_h2load(address: str, seconds: int) -> Shot:
    """h2load on HTTP/2."""
    lanes = ["-c", str(H2_CONNECTIONS), "-m", str(H2_STREAMS)]
    return shot(["h2load", "-t", "1", *lanes, "-D", str(seconds), url(address)], outputs.h2load)


def shoot_epoll_client(address: str, seconds: int) -> Shot:
    """The minimal client of connections that are kept."""
    return least_shot("epoll_client", address.rsplit(":", 1)[1], CONNECTIONS, seconds)


def shoot_connect_client(address: str, seconds: int) -> Shot:
    """The minimal client of new connections."""
    return least_shot("connect_client", address.rsplit(":", 1)[1], CONNECTIONS, seconds)


def shot(command: list[str], read: Callable[[str], Counted]) -> Shot:
    done = charged(command)
    counted = read(done.output)
    core = {"core_share": done.cpu_s / done.wall_s}
    return Shot(counted.operations, done.cpu_s, counted.per_s, core)


def server_was_the_limit(pairs: list[Pair]) -> str | None:
    """A warning if wrk had time to spare."""
    least = min(pair.theirs.note["core_share"] for pair in pairs)
    if least >= BUSY_SHARE:
        return None
    return f"wrk used only {least:.0%} of its core: it was not its own limit"


def spread(threads: str, connections: str) -> list[str]:
    return [threads, "1", connections, str(CONNECTIONS)]


def url(address: str) -> str:
    return f"http://{address}/"
