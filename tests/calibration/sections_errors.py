"""Sections of the page on wrong verdicts: G1, G2, G15."""

from __future__ import annotations

from collections.abc import Iterator

from tests.calibration.cells import DESIGNS as ENGINE_DESIGNS
from tests.calibration.cells import HORIZON
from tests.calibration.goals import (
    Standing,
    Told,
    of_rate,
    rate_text,
    sizes_text,
    together,
    worst_bounds,
)
from tests.calibration.store import Result, Store

DESIGNS = {
    **ENGINE_DESIGNS,
    "cube": "2^3, screening, 8 replicates",
    "default cube": "the same, 14",
}
MOST_FALSE = 0.055
MOST_OPPOSITE = 0.005


def false_differences(store: Store) -> Told:
    """G1."""
    results = store.all()
    if not results:
        return Told(Standing.NOT_MEASURED, "nothing was run")
    standings = [of_rate(each.counts["wrong"], each.studies, MOST_FALSE) for each in results]
    wrong, studies = sum(r.counts["wrong"] for r in results), sum(r.studies for r in results)
    worst = worst_bounds((each.counts["wrong"], each.studies) for each in results)
    reached = f"{rate_text(wrong, studies)} of {studies:,} over all; {worst}"
    usual = [each for each in results if each.about.get("horizon", HORIZON) == HORIZON]
    longer = [each for each in results if each not in usual]
    return Told(together(standings), reached, (*_designs_table(usual), "", *_longer_table(longer)))


def _longer_table(results: list[Result]) -> Iterator[str]:
    yield "Two systems with larger budgets, most of whose looks are several visits apart:"
    yield ""
    yield "| noise | budget in visits | false | studies |"
    yield "|---|---:|---:|---:|"
    for each in results:
        shown = f"{each.about['horizon']:,} | {_rate(each, 'wrong')} | {each.studies:,}"
        yield f"| {each.about['noise']} | {shown} |"


def _designs_table(results: list[Result]) -> Iterator[str]:
    designs = list(DESIGNS)
    found = {(each.about["noise"], each.about["design"]): each for each in results}
    yield "| noise | " + " | ".join(DESIGNS[d] for d in designs) + " | studies |"
    yield "|---|" + "---:|" * (len(designs) + 1)
    for noise in dict.fromkeys(each.about["noise"] for each in results):
        rows = [found.get((noise, design)) for design in designs]
        cells = [_rate(each, "wrong") for each in rows]
        sizes = " + ".join(f"{each.studies:,}" for each in rows if each)
        yield f"| {noise} | {' | '.join(cells)} | {sizes} |"


def _rate(result: Result | None, name: str) -> str:
    return "not run" if result is None else rate_text(result.counts[name], result.studies)


def at_the_margin(store: Store) -> Told:
    """G2."""
    results = store.all()
    if not results:
        return Told(Standing.NOT_MEASURED, "nothing was run")
    standings = []
    for each in results:
        standings.append(of_rate(each.counts["equivalent"], each.studies, MOST_FALSE))
        standings.append(of_rate(each.counts["opposite"], each.studies, MOST_OPPOSITE))
    studies = sum(each.studies for each in results)
    equal = sum(each.counts["equivalent"] for each in results)
    opposite = sum(each.counts["opposite"] for each in results)
    reached = (
        f"equivalent {rate_text(equal, studies)}, wrong direction {rate_text(opposite, studies)} "
        f"of {studies:,}; {worst_bounds((r.counts['equivalent'], r.studies) for r in results)}"
    )
    return Told(together(standings), reached, tuple(_margin_table(results)))


def _margin_table(results: list[Result]) -> Iterator[str]:
    yield "| noise | true ratio | equivalent | wrong direction | studies |"
    yield "|---|---:|---:|---:|---:|"
    for each in results:
        yield (
            f"| {each.about['noise']} | {each.about['effect']:+.4f} | {_rate(each, 'equivalent')} "
            f"| {_rate(each, 'opposite')} | {each.studies:,} |"
        )


def unequal_spread(store: Store) -> Told:
    """G15."""
    results = store.all()
    if not results:
        return Told(Standing.NOT_MEASURED, "nothing was run")
    standings = [of_rate(each.counts["wrong"], each.studies, MOST_FALSE) for each in results]
    told = "; ".join(
        f"1 to {spread:g}: {rate_text(*_summed(results, spread))}"
        for spread in sorted({each.about["spread"] for each in results})
    )
    told += f"; {sizes_text((0, each.studies) for each in results)}"
    lines = [
        "| noise | spread of one arm over the other | false | studies |",
        "|---|---:|---:|---:|",
    ]
    lines += [
        f"| {each.about['noise']} | {each.about['spread']:g} | {_rate(each, 'wrong')} "
        f"| {each.studies:,} |"
        for each in results
    ]
    return Told(together(standings), told, tuple(lines))


def _summed(results: list[Result], spread: float) -> tuple[int, int]:
    chosen = [each for each in results if each.about["spread"] == spread]
    return sum(each.counts["wrong"] for each in chosen), sum(each.studies for each in chosen)
