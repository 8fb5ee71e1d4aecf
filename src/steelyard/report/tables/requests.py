"""Request times of each cell as ApacheBench prints them, and what the tail is made of."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from steelyard.judge.analyses.requests.findings import RequestTimesFinding
from steelyard.report.figures import percent, scale_for, significant
from steelyard.report.view import Table, View
from steelyard.report.vocabulary import compared_one
from steelyard.study.labels import Labels

TITLE = "Request times"


def request_tables(view: View) -> list[Table]:
    """The parts of a request, and the share served within a time; empty without requests."""
    if not view.own.request_times:
        return []
    return [_parts(view), _served(view)]


def _parts(view: View) -> Table:
    shown = [row.max_ns for found in view.own.request_times for row in found.rows]
    scale = scale_for(shown, "ns")
    head = (
        compared_one(view.run), "Condition", "Answered", "Failed", f"Part, {scale.unit}",
        "Min", "Mean", "SD", "Median", "Max",
    )  # fmt: skip
    rows = []
    for found in view.own.request_times:
        for row in found.rows:
            figures = (row.min_ns, row.mean_ns, row.sd_ns, row.median_ns, row.max_ns)
            rows.append(
                (
                    *_cell(found, view.run.labels),
                    row.name,
                    *(significant(figure / scale.divisor) for figure in figures),
                )
            )
    note = (
        "All requests of the trials that count, taken together. Connect: until the connection is "
        "there; processing: from then to the last byte; waiting: to the first byte of the reply; "
        "total: from the first to the last. The mean is that of all requests."
    )
    return Table("Connection times", head, tuple(rows), frozenset({2, 3, 5, 6, 7, 8, 9}), (note,))


def _served(view: View) -> Table:
    shares = [served.share for served in view.own.request_times[0].served]
    shown = [s.within_ns for found in view.own.request_times for s in found.served]
    scale = scale_for(shown, "ns")
    words = tuple(_share(share) for share in shares)
    head = (compared_one(view.run), "Condition", "Answered", "Failed", *words)
    rows = tuple(
        (
            *_cell(found, view.run.labels),
            *(significant(s.within_ns / scale.divisor) for s in found.served),
        )
        for found in view.own.request_times
    )
    numeric = frozenset(range(2, len(head)))
    return Table(f"Share of the requests served within, {scale.unit}", head, rows, numeric)


def _share(share: float) -> str:
    return "100 % (slowest)" if share == 1 else percent(share)


def _cell(found: RequestTimesFinding, labels: Labels) -> tuple[str, str, str, str]:
    where = labels.conditions(found.cell.conditions) or "all trials"
    failed = "not known" if found.failed is None else f"{found.failed:,}"
    return found.cell.system, where, f"{found.requests:,}", failed


def flat_request_rows(times: Sequence[RequestTimesFinding]) -> Iterator[dict[str, Any]]:
    """Every figure of the tables, unrounded, for the flat file."""
    for found in times:
        levels = {f"condition.{factor}": at for factor, at in found.cell.conditions.items()}
        cell = {"kind": "request_time", "unit": "ns", "system": found.cell.system, **levels}
        for row in found.rows:
            for figure in ("min_ns", "mean_ns", "sd_ns", "median_ns", "max_ns"):
                name = f"{row.name}.{figure.removesuffix('_ns')}"
                yield {**cell, "response": name, "value": getattr(row, figure), "n": row.requests}
        for served in found.served:
            name = f"served.{served.share:g}"
            yield {**cell, "response": name, "value": served.within_ns, "n": found.requests}
