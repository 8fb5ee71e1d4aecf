"""A chain of releases in words: its table, what it names, and what to do next."""

from __future__ import annotations

import math
from collections.abc import Iterator
from statistics import median

from steelyard.records.own_files.stored_series import StoredSeries
from steelyard.records.results.chain import ANCHOR_EVERY, Chain, Link, LinkKind, Standing, Total
from steelyard.report.effects import interval, signed_effect
from steelyard.report.figures import counted, listed, percent

LINK_HEAD = ("release", "against", "runs", "verdict", "change", "interval", "since the first")
_ENDS = 10
"""Figures at either end of a stored series whose medians are put side by side."""
_STANDINGS = {
    Standing.NAMED: "NAMED",
    Standing.OPEN: "to confirm",
    Standing.NOT_NAMED: "",
    Standing.KNOWN: "not tested",
}


def chain_lines(chain: Chain) -> list[str]:
    """What is named, what to do, and how far it may be trusted; the table is apart."""
    return [*_named(chain), *_to_do(chain), *_basis(chain)]


def link_cells(link: Link) -> tuple[str, ...]:
    """One row of the table, by ``LINK_HEAD``."""
    size, ends = size_and_interval(link.estimate_log, link.low_log, link.high_log)
    words = ", ".join(word.replace("_", " ") for word in dict.fromkeys(link.words))
    standing = _STANDINGS[link.standing]
    return (
        link.release,
        f"{link.against}{' (anchor)' if link.kind is LinkKind.ANCHOR else ''}",
        str(len(link.runs)),
        f"{words}: {standing}" if standing else words,
        size,
        ends,
        _total_text(link.total),
    )


def size_and_interval(
    estimate_log: float | None, low_log: float | None, high_log: float | None
) -> tuple[str, str]:
    """A ratio and its interval as percent or factor; dashes where there is none."""
    if estimate_log is None:
        return "–", "–"
    size = signed_effect(estimate_log, beside=(low_log, high_log))
    return size, interval(low_log, high_log, estimate_log=estimate_log, direction=None)


def _total_text(total: Total | None) -> str:
    if total is None:
        return "–"
    size, ends = size_and_interval(total.estimate_log, total.low_log, total.high_log)
    return f"{size} ({ends}), {counted(total.ratios, 'ratio')}"


def _named(chain: Chain) -> Iterator[str]:
    for link in chain.named:
        size, ends = size_and_interval(link.estimate_log, link.low_log, link.high_log)
        where = (
            link.release
            if link.kind is LinkKind.LINK
            else f"a release after {link.against} and up to {link.release}"
        )
        yield (
            f"named: {where}, slower than {link.against} in {counted(len(link.runs), 'run')}; "
            f"{chain.response} {size} ({ends})"
        )
    if not chain.named:
        yield "named: no release"


def _to_do(chain: Chain) -> Iterator[str]:
    for link in chain.links:
        if link.standing is Standing.OPEN:
            more = link.runs_needed - len(link.runs)
            yield (
                f"to confirm: {link.release} against {link.against} is slower so far; measure the "
                f"same two again, {counted(more, 'run')} more that say so name it"
            )
    if chain.anchor_is_due:
        yield (
            f"anchor: {counted(chain.since_anchor, 'release')} since an early one was measured; "
            f"measure the newest against it every {ANCHOR_EVERY}"
        )


def _basis(chain: Chain) -> Iterator[str]:
    yield (
        f"of what is named at most {percent(chain.rate)} is not slower, on average; "
        f"the next release is named by {counted(chain.next_runs, 'run')} that all say slower"
    )
    if any(link.total is not None and link.total.ratios > 1 for link in chain.links):
        yield (
            "ratios since the first release are products; their intervals take the runs to err "
            "independently of each other"
        )
    unsure = [link.release for link in chain.links if not link.verified]
    if unsure:
        yield (
            "taken as a release by the name of its system and the order of the runs, because no "
            f"digest or version tells it from the one before: {listed(unsure[:3])}"
            + (f" and {len(unsure) - 3} more" if len(unsure) > 3 else "")
        )


def series_line(series: StoredSeries) -> str:
    """A stored series in one line, which says that nothing was tested."""
    values = series.values
    said = f"beside, not randomised: {series.metric}, {counted(len(values), 'figure')}"
    if not values:
        return said
    first, last = median(values[:_ENDS]), median(values[-_ENDS:])
    said += f" from {series.labels[0]} to {series.labels[-1]}"
    if first <= 0 or last <= 0:
        return f"{said}; no test is made"
    change = signed_effect(math.log(last / first))
    return f"{said}; medians of the last and first {_ENDS}: {change}; no test is made"
