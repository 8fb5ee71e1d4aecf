"""What ``steelyard history`` found: releases in their order, each measured against an earlier one.

Ratios are natural logarithms of the later release over the earlier, in the raw response.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

ANCHOR_EVERY = 10
"""Releases after which an early one is measured again."""


class LinkKind(StrEnum):
    """``LINK``: against the release before. ``ANCHOR``: against one that lies further back."""

    LINK = "link"
    ANCHOR = "anchor"


class Standing(StrEnum):
    """``NAMED``: slower, in as many runs as the stream asks for. ``OPEN``: slower in every run so
    far, which are too few. ``KNOWN``: not tested, because a release between was named.
    """

    NAMED = "named"
    OPEN = "open"
    NOT_NAMED = "not_named"
    KNOWN = "known"


@dataclass(frozen=True)
class Total:
    """A release over the first one, over ``ratios`` measured ratios.

    The interval joins theirs as those of independent estimates; an end is ``None`` without bound.
    """

    estimate_log: float
    low_log: float | None
    high_log: float | None
    ratios: int


@dataclass(frozen=True)
class Link:
    """One release against an earlier one: all its runs, the last of which gives the size.

    ``level`` is what the stream lets it err with, ``chance`` the most with which equal releases
    have all the runs that count say slower (1 where one does not). ``verified``: digests say that
    the baseline is the release it is taken for.
    """

    kind: LinkKind
    release: str
    against: str
    runs: tuple[str, ...]
    words: tuple[str, ...]
    level: float | None
    chance: float
    runs_needed: int
    standing: Standing
    estimate_log: float | None
    low_log: float | None
    high_log: float | None
    verified: bool
    total: Total | None = None


@dataclass(frozen=True)
class Chain:
    """All links in their order. ``rate`` is the false discovery rate of what is named.

    ``next_level`` and ``next_runs`` are those of the next release; ``since_anchor`` counts
    releases since an early one was measured last.
    """

    study: str
    comparison: str
    title: str
    response: str
    rate: float
    links: tuple[Link, ...]
    next_level: float
    next_runs: int
    since_anchor: int

    @property
    def named(self) -> tuple[Link, ...]:
        """The links whose release was named."""
        return tuple(link for link in self.links if link.standing is Standing.NAMED)

    @property
    def anchor_is_due(self) -> bool:
        """Whether it is time to measure an early release again."""
        return self.since_anchor >= ANCHOR_EVERY
