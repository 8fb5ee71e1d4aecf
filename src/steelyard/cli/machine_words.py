"""What is said of machines that are not alike: of their wall clocks, and of their kinds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from steelyard.hosts.clocks import WallOffset
from steelyard.hosts.kinds import Kind
from steelyard.trial.wall_clocks import MOST_APART_NS, apart

CLOCK_DOES = (
    "its logs and files bear other times; no figure does, for trials are timed by clocks that are "
    "never set, put on the controller's"
)
CLOCK_REMEDY = "set it by a time server: `chronyc makestep`, or `timedatectl set-ntp true`"
KINDS_DO = (
    "what is said of all of these is a mean over kinds; whether the effect depends on the machine "
    "stands beside it, and the rows of the machines say what holds on each"
)
KINDS_REMEDY = "name machines of one kind, and make a study of each kind"


def is_skewed(wall: WallOffset) -> bool:
    """Whether it is to be said at all."""
    return wall.differs_by(MOST_APART_NS)


def clock_words(wall: WallOffset) -> str:
    """How far a clock is from the controller's."""
    return f"{apart(wall)} the controller's" if is_skewed(wall) else "as the controller's"


def clock_line(machine: str, wall: WallOffset) -> str:
    """Of a machine whose clock differs."""
    return f"the wall clock of {machine} is {clock_words(wall)}: {CLOCK_DOES}; {CLOCK_REMEDY}"


def kinds_words(kinds: Mapping[Kind, Sequence[str]]) -> str:
    """The machines of each kind."""
    return "; ".join(
        f"{', '.join(names)}: architecture {architecture}, processor {model}, {count} of them"
        for (architecture, model, count), names in kinds.items()
    )


def kinds_line(kinds: Mapping[Kind, Sequence[str]]) -> str:
    """Of machines that are of several kinds."""
    return f"the machines are of {len(kinds)} kinds: {kinds_words(kinds)}; {KINDS_DO}"
