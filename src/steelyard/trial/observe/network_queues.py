"""What stood in the queues of a machine's network in the window, and what held it back. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from steelyard.records.warnings import Figures
from steelyard.trial.observe.window import WindowSamples

_MOST_OVER_LIMIT = 0.01
"""Times that a limit was met, of the packets sent: one that is seldom met does not decide."""
_MOST_REFUSED = 0.001
"""Of the packets sent, as for those that are sent again."""
_LEAST = 10
_LEAST_REFUSED = 2
"""Each stops its connection until a timer runs out: a short window has no more of them."""
_MOSTLY = 0.5


def held_back(window: WindowSamples) -> Figures | None:
    """How this machine itself held back what it had to send, if it did.

    A discipline that met its limit (tbf, htb), one that lets packets wait (netem), or the packet
    filter, from which TCP learns of it and sends nothing again. A queue that only fills, as that
    of a link at its speed does, holds nothing back.
    """
    return next((found for found in _held_back(window)), None)


def _held_back(window: WindowSamples) -> Iterator[Figures]:
    for device in _devices(window):
        queue = f"queue.{device}"
        over = _of(window, f"{queue}.overlimits", f"{queue}.packets")
        if over is not None and over > _MOST_OVER_LIMIT:
            yield {"device": device, "overlimit_ratio": over}
        delayed = window.share_above_zero(f"{queue}.delayed_packets")
        if delayed is not None and delayed >= _MOSTLY:
            yield {"device": device, "delayed_ratio": delayed}
    refused = _refused(window)
    if refused is not None and refused > _MOST_REFUSED:
        yield {"refused_ratio": refused}


def waiting_to_be_sent(window: WindowSamples) -> float | None:
    """In which share of the samples the queue of some device held packets: the largest of all."""
    return _largest(
        window.share_above_zero(f"queue.{device}.backlog_bytes") for device in _devices(window)
    )


def _devices(window: WindowSamples) -> list[str]:
    begin, end = "queue.", ".overlimits"
    columns = window.counters.columns
    return [name[len(begin) : -len(end)] for name in columns if name.endswith(end)]


def _of(window: WindowSamples, part: str, whole: str) -> float | None:
    """The growth of one counter in that of another; ``None`` of too few."""
    grown, of = window.rate_per_s(part), window.rate_per_s(whole)
    if grown is None or not of or grown * window.span_s < _LEAST:
        return None
    return grown / of


def _refused(window: WindowSamples) -> float | None:
    """What was to be sent or passed on, less what was, of the former."""
    names = ("out_requests", "forwarded", "out_transmits")
    rates = [window.rate_per_s(f"ip.{name}") for name in names]
    known = [rate for rate in rates if rate is not None]
    if len(known) < len(names):
        return None
    due, refused = known[0] + known[1], known[0] + known[1] - known[2]
    return refused / due if due and refused * window.span_s >= _LEAST_REFUSED else None


def _largest(shares: Iterator[float | None]) -> float | None:
    return max((share for share in shares if share is not None), default=None)
