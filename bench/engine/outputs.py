"""What peers print, read. What cannot be parsed is an error, never a zero."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

from bench.engine.process import Unmeasurable


@dataclass(frozen=True)
class Counted:
    """Operations that went well, and how many there were a second."""

    operations: float
    per_s: float


def wrk(text: str) -> Counted:
    """Requests, if all were answered well."""
    if re.search(r"Socket errors|Non-2xx", text):
        raise Unmeasurable(f"wrk met errors: {text[-200:].strip()}")
    found = search("wrk", r"(\d+) requests in", text)
    rate = search("wrk", r"Requests/sec:\s+([\d.]+)", text)
    return counted("wrk", text, float(found[1]), float(rate[1]))


def ab(text: str) -> Counted:
    """Requests, if all were answered well."""
    done = search("ab", r"Complete requests:\s+(\d+)", text)
    failed = search("ab", r"Failed requests:\s+(\d+)", text)
    rate = search("ab", r"Requests per second:\s+([\d.]+)", text)
    if int(failed[1]) or "Non-2xx responses" in text:
        raise Unmeasurable("ab met failures")
    return counted("ab", text, float(done[1]), float(rate[1]))


def h2load(text: str) -> Counted:
    """Requests that succeeded, if none failed."""
    counts = search("h2load", r"(\d+) succeeded, (\d+) failed, (\d+) errored, (\d+) timeout", text)
    rate = search("h2load", r"finished in [\d.]+\w+, ([\d.]+) req/s", text)
    if any(int(count) for count in counts.groups()[1:]):
        raise Unmeasurable(f"h2load met failures: {counts[0]}")
    return counted("h2load", text, float(counts[1]), float(rate[1]))


def oha(text: str) -> Counted:
    """Requests answered with 200; those under way at the deadline are no failures."""
    try:
        document = json.loads(text)
        good = float(document["statusCodeDistribution"]["200"])
        # Its own rate counts those that it broke off at the deadline.
        rate = good / float(document["summary"]["total"])
        errors = document["errorDistribution"]
    except (ValueError, KeyError, TypeError, ZeroDivisionError) as error:
        raise not_understood("oha", text) from error
    if any(reason != "aborted due to deadline" for reason in errors):
        raise Unmeasurable(f"oha met errors: {errors}")
    return counted("oha", text, good, rate)


def least(text: str) -> Counted:
    """Operations and seconds, as the minimal clients in `bench/peers/` print them."""
    found = search("the minimal client", r"^(\d+) \w+ in ([\d.]+) s$", text)
    operations = float(found[1])
    return counted("the minimal client", text, operations, operations / float(found[2]))


def curl(text: str) -> Counted:
    """Bytes and bytes a second, as `-w` was asked for."""
    found = search("curl", r"^bytes (\d+) seconds ([\d.]+)$", text)
    return counted("curl", text, float(found[1]), float(found[1]) / float(found[2]))


def iperf3(text: str) -> Counted:
    """TCP: bytes that arrived. UDP: datagrams that arrived."""
    try:
        end = json.loads(text)["end"]
        udp = "udp" in end["streams"][0]
        received = end["sum_received"]
        arrived = received["packets"] - received["lost_packets"] if udp else received["bytes"]
        seconds = received["seconds"]
    except (ValueError, KeyError, IndexError, TypeError) as error:
        raise not_understood("iperf3", text) from error
    return counted("iperf3", text, float(arrived), arrived / seconds)


def ftp_small(text: str) -> tuple[Counted, float]:
    """Files, and the CPU seconds that went before the first one."""
    pattern = r"^(\d+) files in ([\d.]+) s, ([\d.]+) s of CPU before$"
    found = search("ftpbench", pattern, text)
    files, seconds = float(found[1]), float(found[2])
    return counted("ftpbench", text, files, files / seconds), float(found[3])


def pop3_messages(log: str) -> int:
    """Messages that Dovecot's log says were retrieved over POP3."""
    return sum(int(count) for count in re.findall(r"pop3\(.*Disconnected: .* retr=(\d+)/", log))


def imap_messages(log: str) -> int:
    """Messages that Dovecot's log says were fetched over IMAP."""
    return sum(
        int(count) for count in re.findall(r"imap\(.*Disconnected: .* body_count=(\d+)", log)
    )


def search(peer: str, pattern: str, text: str) -> re.Match[str]:
    found = re.search(pattern, text, re.MULTILINE)
    if found is None:
        raise not_understood(peer, text)
    return found


def counted(peer: str, text: str, operations: float, per_s: float) -> Counted:
    if operations <= 0 or per_s <= 0:
        raise not_understood(peer, text)
    return Counted(operations, per_s)


def not_understood(peer: str, text: str) -> Unmeasurable:
    return Unmeasurable(f"{peer} said what cannot be parsed: {text[-200:].strip()!r}")
