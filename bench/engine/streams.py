"""Bulk TCP and small UDP datagrams: against iperf3, as the receiving end counted them."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from typing import Any

from bench.engine import outputs
from bench.engine.contest import Contest, Least, Shot, rate_at_least
from bench.engine.needs import GCC, IPERF3
from bench.engine.peers import least_shot
from bench.engine.process import SERVER_CORE, Unmeasurable, charged, free_port, served
from bench.engine.steelyard import run_load, sink

DATAGRAM_BYTES = 64
NO_ADDRESS = nullcontext("")
"""Each side needs a server of its own kind, and starts it."""


def contests() -> list[Contest]:
    """Everything that streams are held against."""
    return [
        Contest(
            "stream-tcp",
            "one flow of TCP, each with its own receiver",
            "iperf3",
            (IPERF3,),
            lambda: NO_ADDRESS,
            ours_tcp,
            lambda _, seconds: shoot_iperf3(seconds),
            (rate_at_least(1.0, "bytes/s"),),
        ),
        replace(
            udp("stream-udp", "each whole for the kernel", "--no-offload"),
            needs=(IPERF3, GCC),
            least=Least(shoot_udp_client, rate_at_least(0.95, "datagrams/s")),
        ),
        udp("stream-udp-offload", "here cut and joined by the kernel (GSO, GRO), there one by one"),
    ]


def udp(name: str, way: str, *options: str) -> Contest:
    return Contest(
        name,
        f"datagrams of {DATAGRAM_BYTES} B that arrived, {way}, each with its own receiver",
        "iperf3",
        (IPERF3,),
        lambda: NO_ADDRESS,
        lambda _, seconds: ours_udp(seconds, *options),
        lambda _, seconds: shoot_iperf3(seconds, "-u", "-b", "0", "-l", str(DATAGRAM_BYTES)),
        (rate_at_least(1.5, "datagrams/s"),),
    )


def ours_tcp(_: str, seconds: int) -> Shot:
    """One flow of the engine."""
    stream, cpu_s = run_stream("tcp", seconds)
    return arrived(stream["sent_bytes_per_s"], stream["flows"][0]["received_bytes"], cpu_s)


def ours_udp(seconds: int, *options: str) -> Shot:
    """Datagrams of the engine."""
    stream, cpu_s = run_stream("udp", seconds, "--block", str(DATAGRAM_BYTES), *options)
    received = stream["flows"][0]["datagrams_received"]
    return arrived(stream["sent_datagrams_per_s"], received, cpu_s)


def shoot_udp_client(_: str, seconds: int) -> Shot:
    """The least two ends."""
    return least_shot("udp_client", SERVER_CORE, DATAGRAM_BYTES, seconds)


def run_stream(transport: str, seconds: int, *options: str) -> tuple[dict[str, Any], float]:
    with sink("stream") as address:
        result, cpu_s = run_load(f"stream+{transport}://{address}", "-d", f"{seconds}s", *options)
    return result["stream"], cpu_s


def arrived(per_s: float | None, amount: float | None, cpu_s: float) -> Shot:
    if per_s is None or not amount:
        raise Unmeasurable("the engine's stream broke")
    return Shot(amount, cpu_s, per_s)


def shoot_iperf3(seconds: int, *options: str) -> Shot:
    """One run of iperf3."""
    port = free_port()
    with served(["iperf3", "-s", "-B", "127.0.0.1", "-p", str(port)], port):
        where = ["-c", "127.0.0.1", "-p", str(port)]
        done = charged(["iperf3", *where, "-t", str(seconds), "-J", *options])
    counted = outputs.iperf3(done.output)
    return Shot(counted.operations, done.cpu_s, counted.per_s)
