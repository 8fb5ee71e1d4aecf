"""Section of the page on studies on several machines: G26."""

from __future__ import annotations

from collections.abc import Sequence

from tests.calibration.goals import (
    Standing,
    Told,
    of_rate,
    rate_text,
    together,
    worst_bounds,
)
from tests.calibration.machines import PATHS, VISITS
from tests.calibration.store import Result, Store

_MOST = 0.055
_HEADER = (
    "| noise | scales | effects, % | different on all | missed | deviations missed | "
    "different on others | studies |"
)


def laboratories(store: Store) -> Told:
    """G26."""
    results = store.all()
    fixed = [each for each in results if not each.about["sampled"]]
    sampled = [each for each in results if each.about["sampled"]]
    if not fixed or not sampled:
        return Told(Standing.NOT_MEASURED, "not everything was run")
    rates = [
        *_counts(fixed, "wrong"),
        *_counts(results, "missed"),
        *_counts(results, "deviations missed"),
        *_counts(sampled, "others wrong"),
    ]
    told = (
        f"different on all of these: {worst_bounds(_counts(fixed, 'wrong'))}; on others like "
        f"them: {worst_bounds(_counts(sampled, 'others wrong'))}"
    )
    lines = [
        f"{VISITS} visits on each machine. *Scale*: the noise of each machine, in that of the row.",
        "*Missed*: the interval after all visits does not hold the mean of the effects, or any of",
        "those of the deviations does not hold its own. *Sampled*: each study draws its machines",
        "anew, from effects with that standard deviation about 0. Orders are simulated",
        f"{PATHS:,} times instead of 20,000.",
        "",
        _HEADER,
        "|---|---|---|---:|---:|---:|---:|---:|",
        *map(_row, [*fixed, *sampled]),
    ]
    return Told(together([of_rate(count, of, _MOST) for count, of in rates]), told, tuple(lines))


def _counts(results: Sequence[Result], name: str) -> list[tuple[int, int]]:
    return [(each.counts[name], each.studies) for each in results]


def _row(result: Result) -> str:
    about, sampled = result.about, bool(result.about["sampled"])
    scales = sorted(set(about["scales"]))
    machines = f"{len(about['scales'])} x " if len(scales) == 1 else ""
    effects = (
        f"sampled, {100 * about['sampled']:g}"
        if sampled
        else ", ".join(f"{100 * effect:+g}" for effect in about["effects"])
    )

    def rate(name: str) -> str:
        return rate_text(result.counts[name], result.studies)

    cells = [
        about["noise"],
        machines + ", ".join(f"{scale:g}" for scale in (scales if machines else about["scales"])),
        effects,
        "–" if sampled else rate("wrong"),
        rate("missed"),
        rate("deviations missed"),
        rate("others wrong") if sampled else "–",
        f"{result.studies:,}",
    ]
    return f"| {' | '.join(cells)} |"
