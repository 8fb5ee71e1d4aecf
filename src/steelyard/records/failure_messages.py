"""Messages of failed attempts, those that differ only in their numbers taken as one."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence

_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


def first_line(message: str) -> str:
    """What a list has room for: of the message of a server, its first line."""
    return message.strip().partition("\n")[0]


def masked(message: str) -> str:
    """The message without what differs between attempts: counts, ports, names of folders."""
    return _NUMBER.sub("#", message)


def commonest(messages: Sequence[str]) -> str:
    """The first line of the first of the messages that say what most of them say."""
    alike: dict[str, list[str]] = defaultdict(list)
    for message in map(first_line, messages):
        alike[masked(message)].append(message)
    return max(alike.values(), key=len)[0]
