"""Why operations of a load failed, for the message of an attempt: phase, kind, what was said."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from steelyard.engine.messages import LoadResult

_STATUS_LINE = re.compile(r"HTTP/\d\.\d (\d{3}) ?")
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
    failures = Counter[tuple[str, str]]()
    for load in loads:
        for phase, kinds in load.errors.items():
            failures.update({(phase, kind): count for kind, count in kinds.items()})
    if not failures:
        return ""
    [((phase, kind), count)] = failures.most_common(1)
    replies = (load.replies.get(phase, {}).get(kind) for load in loads)
    reply = next(filter(None, replies), "")
    some = "" if count == failures.total() else f" in {count:,} of {failures.total():,}"
    said = _said(reply)
    return f"{_kind(kind, reply)} in phase {phase}{some}" + (f" (reply: {said})" if said else "")


def _kind(kind: str, reply: str) -> str:
    """A kind in words; of HTTP with the status of the first such reply."""
    if not kind.startswith("bad_status_"):
        return kind.replace("_", " ")
    status = _STATUS_LINE.match(reply)
    return f"HTTP status {status[1] if status else kind.removeprefix('bad_status_')}"


def _said(reply: str) -> str:
    """On one line, of HTTP the reason and the body, without headers."""
    status = _STATUS_LINE.match(reply)
    if status:
        head, _, body = reply[status.end() :].partition("\r\n\r\n")
        reply = ": ".join(filter(None, (head.partition("\r\n")[0].strip(), body.strip())))
    line = " ".join(reply.split())
    return line if len(line) <= _LONGEST_REPLY else f"{line[:_LONGEST_REPLY]}…"
