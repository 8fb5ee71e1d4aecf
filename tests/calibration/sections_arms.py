"""Sections of the page on canaries and on stalls in one arm: G21 and G22."""

from __future__ import annotations

from tests.calibration.cells import Cell
from tests.calibration.goals import (
    Standing,
    Told,
    of_rate,
    rate_text,
    sizes_text,
    together,
    worst_bounds,
)
from tests.calibration.noises import MACHINES
from tests.calibration.sections_errors import MOST_FALSE
from tests.calibration.store import Result, Store
from tests.calibration.tasks import EFFECTS

_NOTHING = Told(Standing.NOT_MEASURED, "nothing was run")


_MOST_FASTER = 0.0275
"""Of systems that are slower by their stalls."""


def canaries(store: Store, without: Store) -> Told:
    """G21; ``without`` holds the visits of G3, on the same noises without a canary."""
    equal = [each for each in store.all() if not each.cell.startswith("stops: ")]
    if not equal:
        return _NOTHING
    standings = [of_rate(each.counts["wrong"], each.studies, MOST_FALSE) for each in equal]
    worst = worst_bounds((each.counts["wrong"], each.studies) for each in equal)
    lines = [
        "The canary has three parts, as in a study: one hears what the machine does in a visit,",
        "with an error of 0.5 %, one half of it with an error of 1 %, one nothing; none hears the",
        "rest of the noise. Median visits at the stop (90 % quantile) with it, [without].",
        "",
        "| noise | false | nothing above 2 % | 2 % (= margin) | 5 % | 8.7 % | studies |",
        "|---|---:|---:|---:|---:|---:|---:|",
        *(_canary_row(noise, store, without) for noise in MACHINES),
    ]
    return Told(together(standings), f"{worst}; visits: see below", tuple(lines))


def _canary_row(noise: str, store: Store, without: Store) -> str:
    null = store.get(Cell(noise, canary=True).name)
    rate = "not run" if null is None else rate_text(null.counts["wrong"], null.studies)
    gains = [
        f"{_median(store.get(f'stops: {Cell(noise, effect=effect, canary=True).name}'))} "
        f"[{_median(without.get(Cell(noise, effect=effect).name))}]"
        for effect in EFFECTS
    ]
    found = [each for each in store.all() if each.about["noise"] == noise]
    sizes = sizes_text((0, each.studies) for each in found) if found else "none"
    return f"| {noise} | {rate} | {' | '.join(gains)} | {sizes} |"


def _median(result: Result | None) -> str:
    return "not run" if result is None else f"{result.quantile(0.5)} ({result.quantile(0.9)})"


def stalls(store: Store) -> Told:
    """G22."""
    results = store.all()
    if not results:
        return _NOTHING
    told = [each for each in results if "faster" in each.counts]
    if not told:
        return _NOTHING
    standings = [of_rate(each.counts["faster"], each.studies, _MOST_FASTER) for each in told]
    wrong, studies = sum(r.counts["faster"] for r in told), sum(r.studies for r in told)
    worst = worst_bounds((each.counts["faster"], each.studies) for each in told)
    lines = [
        "The visits of the other system that stall lose 5 to 40 %; all others are the same. So it",
        "is slower: its median by 0.1 % on independent noise where 5 % of the visits stall, 0.3 %",
        "at 10 % and 0.6 % at 20 %, its mean by 1.1, 2.3 and 4.5 %. *Slower* is right; the goal is",
        "held against *faster* ([why](../decisions/032-goals-that-are-not-reached.md)).",
        "*Exact alone*: called different by the exact test without the second one.",
        "",
        "| noise | visits of the other that stall | faster | slower | exact alone | studies |",
        "|---|---:|---:|---:|---:|---:|",
        *(
            f"| {r.about['noise']} | {r.about['stalls']:.0%} "
            f"| {rate_text(r.counts['faster'], r.studies)} "
            f"| {(r.counts['wrong'] - r.counts['faster']) / r.studies:.1%} "
            f"| {r.share('exact'):.1%} | {r.studies:,} |"
            for r in told
        ),
    ]
    return Told(
        together(standings), f"{rate_text(wrong, studies)} of {studies:,}; {worst}", tuple(lines)
    )
