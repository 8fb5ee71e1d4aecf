"""Scripts that make test content on the machine itself, from little and always the same.

Pure. A block of text, drawn from the seed, is repeated as often as a size needs; a message is a
head with its number, and the block. Nothing but a POSIX shell with ``head``, ``cat`` and ``cp`` is
needed there.
"""

from __future__ import annotations

import random
import shlex
import string
from collections.abc import Mapping

from steelyard.hosts.site import filled
from steelyard.study.service.entry import FilesBySize, Maildirs, OneFile

Made = OneFile | FilesBySize | Maildirs
BLOCK_BYTES = 77 * 800
"""Of the text that is repeated: lines of 76 characters."""

_LINE = 76
_HEAD = (
    "From: sender@steelyard.test\nTo: reader@steelyard.test\nSubject: message %09d\n"
    "Date: Thu, 01 Jan 2026 00:00:00 +0000\nMessage-ID: <%09d@steelyard.test>\n"
    "MIME-Version: 1.0\nContent-Type: text/plain; charset=us-ascii\n\n"
)
_FILL = 'fill() { while cat "$block" 2>/dev/null; do :; done | head -c "$1"; }'


def block(seed: int) -> str:
    """The text that all content of this seed is made of."""
    drawn = random.Random(seed)  # noqa: S311 - test content, not a secret
    letters = string.ascii_letters + string.digits
    lines = ("".join(drawn.choices(letters, k=_LINE)) for _ in range(BLOCK_BYTES // (_LINE + 1)))
    return "".join(f"{line}\n" for line in lines)


def script(
    made: Made,
    settings: Mapping[str, object],
    values: Mapping[str, str],
    *,
    block_file: str,
    owner: str | None,
) -> str:
    """A shell script that makes one piece of content; ``owner`` as ``USER:GROUP`` gets it."""
    at = shlex.quote(filled(made.at, values))
    head = f"set -eu\nblock={shlex.quote(block_file)}\n{_FILL}\n"
    match made:
        case OneFile():
            body = f'mkdir -p "$(dirname {at})"\nfill {_number(settings, made.bytes)} > {at}\n'
        case FilesBySize():
            sizes = settings[made.sizes]
            listed = sizes if isinstance(sizes, tuple) else ()
            each = "".join(f"fill {size} > {at}/{size}\n" for size in dict.fromkeys(listed))
            body = f"mkdir -p {at}\n{each}"
        case Maildirs():
            body = _maildirs(made, settings, at)
    return head + body + (f"chown -R {shlex.quote(owner)} {at}\n" if owner else "")


def _maildirs(made: Maildirs, settings: Mapping[str, object], at: str) -> str:
    size = _number(settings, made.bytes)
    rest = size - len(_HEAD % (0, 0)) - 1
    name = f"1767225600.M$(printf %06d $i)P1.steelyard,S={size},W={size + lines_in(size)}"
    return f"""\
mkdir -p {at}/.made
i=0
while [ $i -lt {_number(settings, made.messages)} ]; do
  i=$((i + 1))
  {{ printf {shlex.quote(_HEAD.encode("unicode_escape").decode())} $i $i; fill {rest}; echo; }} \\
    > {at}/.made/{name}
done
u=0
while [ $u -lt {_number(settings, made.mailboxes)} ]; do
  u=$((u + 1))
  mkdir -p {at}/user$u/cur {at}/user$u/tmp
  cp -r {at}/.made {at}/user$u/new
done
rm -rf {at}/.made
"""


def lines_in(message_bytes: int) -> int:
    """Line ends in a message of this size: what CRLF adds to it on the wire."""
    head = _HEAD % (0, 0)
    return head.count("\n") + (message_bytes - len(head) - 1) // (_LINE + 1) + 1


def _number(settings: Mapping[str, object], name: str) -> int:
    value = settings[name]
    if not isinstance(value, int):
        raise TypeError(f"{name} is {value!r}, no number")
    return value
