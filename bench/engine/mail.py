"""SMTP: against smtp-source on two servers, and against postal."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.engine.contest import Contest, Least, Shot, cpu_at_most, per_cpu_at_least
from bench.engine.needs import GCC, POSTAL, SMTP_SINK, SMTP_SOURCE, Root
from bench.engine.peers import least_shot
from bench.engine.process import CLIENT_CORE, charged, killed, scratch, start
from bench.engine.servers import smtp_sink
from bench.engine.steelyard import counting_sink, load, sink

SESSIONS = 10
BYTES = 4096
TRIAL = 500
FOR_SMTP_SINK = (SMTP_SOURCE, SMTP_SINK, Root("smtp-sink", "run the bench as root"))
ONE, MANY = "one message a connection", "many messages a connection"
SETUP = f"{SESSIONS} sessions, {BYTES} B"


def contests() -> list[Contest]:
    """Everything that SMTP is held against."""
    return [
        Contest(
            "smtp-one",
            f"{ONE}, {SETUP}, smtp-sink",
            "smtp-source",
            FOR_SMTP_SINK,
            smtp_sink,
            lambda address, seconds: ours(address, seconds, "--messages-per-connection", "1"),
            shoot_smtp_source,
            (per_cpu_at_least(1.3),),
        ),
        Contest(
            "smtp-many",
            f"{MANY}, {SETUP}, smtp-sink",
            "smtp-source -d",
            (*FOR_SMTP_SINK, GCC),
            smtp_sink,
            ours,
            shoot_smtp_source_many,
            (per_cpu_at_least(1.5),),
            Least(shoot_smtp_client, cpu_at_most(1.10)),
        ),
        Contest(
            "smtp-pipelining",
            f"{MANY}, {SETUP}, own sink; here with pipelining, there in lockstep",
            "smtp-source -d",
            (SMTP_SOURCE,),
            quiet_sink,
            lambda address, seconds: ours(address, seconds, "--pipelining", "message"),
            shoot_smtp_source_many,
            (per_cpu_at_least(3.0),),
        ),
        Contest(
            "smtp-postal",
            f"{MANY}, {SETUP}, own sink, which counts postal's messages",
            "postal",
            (POSTAL,),
            quiet_sink,
            ours,
            shoot_postal,
            (per_cpu_at_least(5.0),),
        ),
    ]


@contextmanager
def quiet_sink() -> Iterator[str]:
    """The sink of SMTP with its defaults."""
    with sink("smtp") as address:
        yield address


def ours(address: str, seconds: int, *options: str) -> Shot:
    """The engine, in lockstep unless told otherwise."""
    return load(f"smtp://{address}", seconds, "-c", str(SESSIONS), "--size", str(BYTES), *options)


def shoot_smtp_source_many(address: str, seconds: int) -> Shot:
    """smtp-source without disconnecting after each message."""
    return shoot_smtp_source(address, seconds, "-d")


def shoot_smtp_source(address: str, seconds: int, *options: str) -> Shot:
    """As many messages as fit into the seconds, judged by a trial; it ends badly if one fails."""
    trial = charged(smtp_source(address, TRIAL, options))
    messages = max(TRIAL, int(TRIAL / trial.wall_s * seconds))
    done = charged(smtp_source(address, messages, options))
    return Shot(messages, done.cpu_s, messages / done.wall_s)


def smtp_source(address: str, messages: int, options: tuple[str, ...]) -> list[str]:
    people = ["-f", "sender@steelyard.test", "-t", "user1@steelyard.test"]
    size = ["-s", str(SESSIONS), "-l", str(BYTES), "-m", str(messages)]
    return ["smtp-source", *options, *size, *people, address]


def shoot_smtp_client(address: str, seconds: int) -> Shot:
    """The minimal client in lockstep."""
    return least_shot("smtp_client", address.rsplit(":", 1)[1], SESSIONS, seconds, BYTES)


def shoot_postal(_: str, seconds: int) -> Shot:
    """Postal never ends and tells sums by the minute: its own sink counts, a signal ends it."""
    users = Path(scratch().name) / "users"
    users.write_text("user1@steelyard.test\n", encoding="utf-8")
    kilobytes = str(BYTES // 1024)
    command = ["postal", "-t", str(SESSIONS), "-m", kilobytes, "-M", kilobytes, "-c", "1000"]
    with counting_sink("smtp") as (address, counters):
        host, port = address.rsplit(":", 1)
        command += ["-r", "100000000", f"[{host}]{port}", str(users)]
        process = start(command, CLIENT_CORE)
        time.sleep(seconds)
        cpu_s = killed(process)
    return Shot(counters["ok"], cpu_s, counters["ok"] / seconds)
