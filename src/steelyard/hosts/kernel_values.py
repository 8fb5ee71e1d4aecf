"""Values of the kernel below ``/proc/sys`` and ``/sys``, as they are written and as they show."""

from __future__ import annotations

import re

_CHOSEN = re.compile(r"\[([^\]]+)\]")


def shown(content: str) -> str:
    """What a file of the kernel says, without its spacing; of choices the one in brackets.

    Such as ``none`` of ``[none] mq-deadline``, and ``4096 131072 6291456`` of three columns.
    """
    chosen = _CHOSEN.search(content)
    return chosen[1] if chosen else " ".join(content.split())


def same(one: str, other: str) -> bool:
    """Whether two contents say the same value."""
    return shown(one) == shown(other)
