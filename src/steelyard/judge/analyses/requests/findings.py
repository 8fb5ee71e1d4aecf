"""What is found of the requests of a cell, all its trials together. Times are nanoseconds."""

from __future__ import annotations

from steelyard.plan.model import Cell, Frozen


class TimesRow(Frozen):
    """One part of a request. Mean, least and largest are exact, the rest is from buckets."""

    name: str
    requests: int
    min_ns: int
    mean_ns: float
    sd_ns: float
    median_ns: float
    max_ns: int


class Served(Frozen):
    """The time within which this share of the requests was answered."""

    share: float
    within_ns: float


class RequestTimesFinding(Frozen):
    """The times of all requests of one cell.

    ``rows`` are connect, processing, waiting and total where each request has a connection of its
    own, otherwise waiting and total. ``failed`` is ``None`` when a trial does not report it.
    """

    cell: Cell
    trials: int
    requests: int
    failed: int | None
    rows: tuple[TimesRow, ...]
    served: tuple[Served, ...]
