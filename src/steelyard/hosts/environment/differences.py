"""What differs between a machine before and after; what moves by itself is distinguished."""

from __future__ import annotations

import re
from dataclasses import dataclass

from steelyard.hosts.environment.snapshot import Environment
from steelyard.hosts.kernel_values import MOVES_BY_ITSELF


@dataclass(frozen=True)
class Difference:
    """One thing that is otherwise; ``None`` is not there. ``reason``: why it moves by itself."""

    kind: str
    name: str
    before: str | None
    after: str | None
    reason: str | None = None

    def __str__(self) -> str:
        was = "was not there" if self.before is None else f"was {self.before!r}"
        now = "is gone" if self.after is None else f"is {self.after!r}"
        return f"{self.kind} {self.name}: {was}, {now}"


@dataclass(frozen=True)
class Moving:
    """Things that move by themselves, by kind and name, and why."""

    kind: str
    pattern: str
    reason: str


MOVING: tuple[Moving, ...] = (
    *(Moving("value", re.escape(path), reason) for path, reason in MOVES_BY_ITSELF.items()),
    Moving(
        "value",
        r"/sys/block/loop\d+/queue/(?!scheduler$).*",
        "a loop device takes these from the file behind it and keeps them when that is detached",
    ),
    Moving(
        "value",
        r"/sys/block/(loop\d+|md\d+|vd[a-z]+|sd[a-z]+)/queue/iosched/.*",
        "they come and go with the scheduler",
    ),
    Moving("mount", r"/run/user/\d+(/.*)?", "comes and goes with a login"),
    Moving("mount", r"/proc/sys/fs/binfmt_misc", "is mounted when somebody looks at it"),
)


def differences(
    before: Environment, after: Environment, moving: tuple[Moving, ...] = MOVING
) -> list[Difference]:
    """Everything that is otherwise, by kind and name; what may move bears its reason.

    A kind that only one of the two could list is one difference of its own: it cannot be compared.
    """
    found = []
    for kind in sorted(before.keys() | after.keys()):
        if kind not in before or kind not in after:
            told = ("told", None) if kind in before else (None, "told")
            found.append(Difference(kind, "(all)", *told))
            continue
        found += _of_kind(kind, before[kind], after[kind], moving)
    return found


def _of_kind(
    kind: str, before: dict[str, str], after: dict[str, str], moving: tuple[Moving, ...]
) -> list[Difference]:
    names = sorted(before.keys() | after.keys())
    return [
        Difference(kind, name, before.get(name), after.get(name), _reason(kind, name, moving))
        for name in names
        if before.get(name) != after.get(name)
    ]


def _reason(kind: str, name: str, moving: tuple[Moving, ...]) -> str | None:
    known = (one for one in moving if one.kind == kind and re.fullmatch(one.pattern, name))
    return next((one.reason for one in known), None)
