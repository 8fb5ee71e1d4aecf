"""Why operations of a load failed: phase, kind, status, what the server said."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from steelyard.engine.messages import LoadResult
from steelyard.records.schema import FailedOperations

_STATUS_LINE = re.compile(r"HTTP/\d\.\d (\d{3}) ?")
_BAD_STATUS = "bad_status_"
_LONGEST_REPLY = 160


def all_failed(load: LoadResult) -> bool:
    """Whether no operation of the window succeeded, and some failed."""
    return load.counts.ok == 0 and load.counts.errors > 0


def failed_text(load: LoadResult) -> str:
    """``775 of 775 operations failed: HTTP status 500 in phase ttfb (reply: …)``."""
    counts = load.counts
    return f"{counts.errors:,} of {counts.sent:,} operations failed: {cause_text([load])}"


def cause_text(loads: Sequence[LoadResult]) -> str:
    """The commonest failure of all loads together; empty without any."""
    failures = failures_of(loads)
    if not failures:
        return ""
    first, total = failures[0], sum(each.count for each in failures)
    how = first.error.replace("_", " ") if first.status is None else f"HTTP status {first.status}"
    some = "" if first.count == total else f" in {first.count:,} of {total:,}"
    return f"{how} in phase {first.phase}{some}" + (
        f" (reply: {first.reply})" if first.reply else ""
    )


def failures_of(loads: Sequence[LoadResult]) -> tuple[FailedOperations, ...]:
    """What failed in all loads together, by phase and kind, the commonest first."""
    counts = Counter[tuple[str, str]]()
    for load in loads:
        for phase, kinds in load.errors.items():
            counts.update({(phase, kind): count for kind, count in kinds.items()})
    return tuple(
        _failed(phase, kind, count, _first_reply(loads, phase, kind))
        for (phase, kind), count in counts.most_common()
    )


def _first_reply(loads: Sequence[LoadResult], phase: str, kind: str) -> str:
    replies = (load.replies.get(phase, {}).get(kind) for load in loads)
    return next(filter(None, replies), "")


def _failed(phase: str, kind: str, count: int, reply: str) -> FailedOperations:
    said = _on_one_line(reply) or None
    if not kind.startswith(_BAD_STATUS):
        return FailedOperations(phase=phase, error=kind, count=count, reply=said)
    line = _STATUS_LINE.match(reply)
    status = line[1] if line else kind.removeprefix(_BAD_STATUS)
    return FailedOperations(phase=phase, error=kind, count=count, status=status, reply=said)


def _on_one_line(reply: str) -> str:
    """Of HTTP the reason and the body, without headers."""
    status = _STATUS_LINE.match(reply)
    if status:
        head, _, body = reply[status.end() :].partition("\r\n\r\n")
        reply = ": ".join(filter(None, (head.partition("\r\n")[0].strip(), body.strip())))
    line = " ".join(reply.split())
    return line if len(line) <= _LONGEST_REPLY else f"{line[:_LONGEST_REPLY]}…"
