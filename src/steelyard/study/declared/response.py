"""What a number of a trial is: its unit, which way is good, how several instances give one."""

from __future__ import annotations

from typing import Literal

from steelyard.study.declared.setting import Entry
from steelyard.study.model import Direction

Join = Literal["sum", "largest", "least", "mean"]
Shared = Literal["kernel", "disk", "network"]


class Response(Entry):
    """A number per trial. A name with ``{p}`` stands for one per statistic.

    What may be zero has no logarithm and therefore cannot decide a study. ``instances`` says how
    the figures of several instances become the one of their trial; ``shared`` what instances may
    have in common, such as containers their kernel, which then counts once.
    """

    label: str
    unit: str
    direction: Direction
    meaning: str
    source: Literal["load", "samples", "probe", "command", "tool"]
    may_be_zero: bool = False
    instances: Join = "largest"
    shared: Shared | None = None
    runs: bool = True
