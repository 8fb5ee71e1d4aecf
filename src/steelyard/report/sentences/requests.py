"""The tail of the requests, in sentences."""

from __future__ import annotations

from steelyard.judge.analyses.requests.findings import TailFinding
from steelyard.report.figures import counted
from steelyard.report.view import View


def request_lines(view: View) -> list[str]:
    """One sentence for each cell with slow requests: what they waited for."""
    return [
        f"{view.run.labels.place(found.cell.system, found.cell.conditions)}: {_tail(found.tail)}"
        for found in view.own.request_times
        if found.tail is not None
    ]


def _tail(tail: TailFinding) -> str:
    sent = tail.syn_retransmits
    counts = "" if sent is None else f"; {round(sent):,} SYNs and SYN-ACKs sent again were counted"
    slow = counted(tail.slow, "request")
    at = f"{tail.at_steps:,} of the {slow} slower than 0.9 s took as long as a lost SYN waits"
    steps = "1, 3, 7, 15 s and so on"
    if tail.explained:
        return f"the tail is made of retransmission timeouts: {at} ({steps}){counts}."
    return f"the tail is not made of retransmission timeouts: only {at} ({steps}){counts}."
