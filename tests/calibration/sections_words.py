"""Sections of the page on guardrails, claims, failures and races: G16 to G19."""

from __future__ import annotations

from collections.abc import Iterable

from tests.calibration.goals import (
    Standing,
    Told,
    of_rate,
    of_share,
    rate_text,
    sizes_text,
    together,
    worst_bounds,
)
from tests.calibration.sections_errors import MOST_FALSE
from tests.calibration.store import Result, Store

_TRADE_OFFS = 0.90
_PATHS_WORDS = "Orders are simulated 1,000 times instead of 20,000."
_NOTHING = Told(Standing.NOT_MEASURED, "nothing was run")


def guardrails(store: Store) -> Told:
    """G16."""
    at_margin = [each for each in store.all() if each.about["times"] == 1]
    beyond = [each for each in store.all() if each.about["times"] > 1]
    if not at_margin or not beyond:
        return _NOTHING
    standings = [of_rate(each.counts["faster"], each.studies, MOST_FALSE) for each in at_margin]
    standings += [of_share(each.counts["trade_off"], each.studies, _TRADE_OFFS) for each in beyond]
    told = (
        f"faster in {_summed(at_margin, 'faster')}; {_worst(at_margin, 'faster')}; beyond, a "
        f"trade-off in {_summed(beyond, 'trade_off')}"
    )
    lines = [
        "The rate of the other system is 8.7 % better, 24 visits of each at 2 % noise; guarded are",
        "the 99th percentile (margin 25 %, noise 10 %) and the share of failed operations (margin",
        f"0.1 % of all, 0.05 % fail on the baseline). {_PATHS_WORDS}",
        "",
        "| the other system's guarded response | faster | trade-off | studies |",
        "|---|---:|---:|---:|",
        *(
            f"| {r.cell} | {_rate(r, 'faster')} | {_rate(r, 'trade_off')} | {r.studies:,} |"
            for r in store.all()
        ),
    ]
    return Told(together(standings), told, tuple(lines))


def claims(store: Store) -> Told:
    """G17."""
    at_bound = [each for each in store.all() if each.about["kind"] == "at_the_bound"]
    if not at_bound:
        return _NOTHING
    standings = [
        of_rate(each.counts[word], each.studies, MOST_FALSE)
        for each in at_bound
        for word in ("supported", "contradicted")
    ]
    told = (
        f"supported in {_summed(at_bound, 'supported')}, contradicted in "
        f"{_summed(at_bound, 'contradicted')}; {sizes_text((0, r.studies) for r in at_bound)}"
    )
    lines = [
        "24 visits of each at 2 % noise. *At the bound* the truth is the bound of the claim, so",
        f"that either word would be false on one side of it. {_PATHS_WORDS}",
        "",
        "| claim, and the truth | supported | contradicted | studies |",
        "|---|---:|---:|---:|",
        *(
            f"| {r.cell} | {_rate(r, 'supported')} | {_rate(r, 'contradicted')} | {r.studies:,} |"
            for r in store.all()
        ),
    ]
    return Told(together(standings), told, tuple(lines))


def failures(store: Store) -> Told:
    """G18."""
    results = store.all()
    if not results:
        return _NOTHING
    told = f"{_summed(results, 'wrong')}; {_worst(results, 'wrong')}"
    lines = [
        "24 visits of each with 5,000 operations. Beside the judge, a chi-square test at 5 % of",
        "the pooled counts of the same studies, which takes operations for independent.",
        _PATHS_WORDS,
        "",
        "| what fails | told apart | pooled counts | studies |",
        "|---|---:|---:|---:|",
        *(f"| {r.cell} | {_rate(r, 'wrong')} | {_pooled(r)} | {r.studies:,} |" for r in results),
    ]
    standings = [of_rate(each.counts["wrong"], each.studies, MOST_FALSE) for each in results]
    return Told(together(standings), told, tuple(lines))


def _pooled(result: Result) -> str:
    return f"{result.share('pooled'):.0%}" if result.about["kind"] == "operations" else "–"


def races(store: Store) -> Told:
    """G19."""
    results = store.all()
    if not results:
        return _NOTHING
    standings = [of_rate(each.counts["wrong"], each.studies, MOST_FALSE) for each in results]
    told = f"{_summed(results, 'wrong')}; {_worst(results, 'wrong')}"
    lines = [
        "A baseline and three systems, in blocks that hold each twice, at most 12 blocks; decided",
        "systems leave. *Effects* are natural logarithms; *freed*: what each that has left adds to",
        "all that is measured later. Orders are simulated 1,000 times instead of 20,000.",
        "",
        "| race | any equal system called different | visits, mean | studies |",
        "|---|---:|---:|---:|",
        *(
            f"| {r.cell.removeprefix('race: ')} | {_rate(r, 'wrong')} | {r.mean_stop:.0f} "
            f"| {r.studies:,} |"
            for r in results
        ),
    ]
    return Told(together(standings), told, tuple(lines))


def _rate(result: Result, name: str) -> str:
    return rate_text(result.counts[name], result.studies)


def _summed(results: Iterable[Result], name: str) -> str:
    known = list(results)
    studies = sum(each.studies for each in known)
    return f"{rate_text(sum(each.counts[name] for each in known), studies)} of {studies:,}"


def _worst(results: Iterable[Result], name: str) -> str:
    return worst_bounds((each.counts[name], each.studies) for each in results)
