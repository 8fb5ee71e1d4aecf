"""Sections of the page on how many trials a verdict costs: G3, G4, G5."""

from __future__ import annotations

import math
from collections.abc import Iterator
from statistics import fmean

from tests.calibration.cells import Cell
from tests.calibration.fixed import FIXED_PAIRS, oracle_pairs
from tests.calibration.goals import Standing, Told, of_bounds, sizes_text, together
from tests.calibration.noises import SD
from tests.calibration.oracle import mean_visits
from tests.calibration.rivals import RIVALS
from tests.calibration.store import Result, Store
from tests.calibration.tasks import EFFECTS, G4_EFFECTS, RIVAL_EFFECTS

_NAMES = ("nothing above 2 %", "2 % (= margin)", "5 %", "8.7 %")
_INDEPENDENT = "independent 2 %"
_MOST_OF_KNOWN = 1.25
_AIMED = 2
_BOUND_ERRORS = 2.326
"""Standard errors to a one-sided 99 % bound of a mean."""
PHORONIX = "until 3 % deviation, bars of one error (Phoronix)"


def visits_to_a_verdict(store: Store) -> Told:
    """G3."""
    found = [store.get(Cell(_INDEPENDENT, effect=effect).name) for effect in EFFECTS]
    aimed = [each for each in found if each is not None]
    if len(aimed) < len(EFFECTS):
        return Told(Standing.NOT_MEASURED, "not every effect was run")
    known = [mean_visits(effect) for effect in EFFECTS]
    pairs = list(zip(aimed, known, strict=True))
    standings = [
        of_bounds(*_bounds([each], visits), _MOST_OF_KNOWN) for each, visits in pairs[:_AIMED]
    ]
    ratios = ", ".join(f"{each.mean_stop / visits:.2f}" for each, visits in pairs[:_AIMED])
    told = f"{ratios} times; {sizes_text((0, each.studies) for each in aimed[:_AIMED])}"
    lines = [
        "Mean visits on independent noise of 2 %, beside those of who knows this noise. Larger",
        "effects are beside another oracle in G4: here what binds the judge is that eight visits",
        "have few orders.",
        "",
        "| true effect | the judge | known noise | ratio (99 % bounds) |",
        "|---|---:|---:|---:|",
        *(_known_row(name, *pair) for name, pair in zip(_NAMES, pairs, strict=True)),
        "",
        *_table(store),
    ]
    return Told(together(standings), told, tuple(lines))


def _known_row(name: str, result: Result, known: float) -> str:
    low, high = _bounds([result], known)
    ratio = f"{result.mean_stop / known:.2f} ({low:.2f} to {high:.2f})"
    return f"| {name} | {result.mean_stop:.1f} | {known:.1f} | {ratio} |"


def _table(store: Store) -> Iterator[str]:
    yield "Median visits at the stop, 90 % quantile in brackets, then the share of studies that"
    yield "were undecided at the end of 96. Undecided studies count as 96. No goal is set on other"
    yield "noise: what can be reached there is not known."
    yield ""
    yield "| noise | " + " | ".join(_NAMES) + " | studies |"
    yield "|---|" + "---:|" * (len(_NAMES) + 1)
    for noise in dict.fromkeys(each.about["noise"] for each in store.all()):
        found = [store.get(Cell(noise, effect=effect).name) for effect in EFFECTS]
        sizes = sorted({each.studies for each in found if each})
        cells = [_stop_text(each) for each in found]
        yield f"| {noise} | {' | '.join(cells)} | {' to '.join(map(str, sizes))} |"


def _stop_text(result: Result | None) -> str:
    if result is None:
        return "not run"
    median, nine = result.quantile(0.5), result.quantile(0.9)
    return f"{median} ({nine}), {result.share('undecided'):.1%}"


def beside_fixed_sizes(store: Store) -> Told:
    """G4: against who knows the effect beforehand, and against any number fixed beforehand."""
    found = [store.get(Cell("independent 2 %", effect=effect).name) for effect in G4_EFFECTS]
    results = [each for each in found if each is not None]
    if len(results) < len(G4_EFFECTS):
        return Told(Standing.NOT_MEASURED, "not every effect was run")
    lines = [
        "| true effect | visits of the judge, mean | right | oracle's trials | ratio |",
        "|---:|---:|---:|---:|---:|",
    ]
    standings = []
    for each in results:
        effect = each.about["effect"]
        oracle = 2 * oracle_pairs(effect) if effect else None
        ratio = each.mean_stop / oracle if oracle else None
        if ratio is not None and effect <= 2.5 * SD:
            standings.append(of_bounds(*_bounds([each], oracle), 1.25))
        lines.append(
            f"| {effect:.4f} | {each.mean_stop:.1f} | {_right(each):.1%} | {oracle or '–'} "
            f"| {'–' if ratio is None else f'{ratio:.2f}'} |"
        )
    pairs, sentence = _best_fixed(results)
    standings.append(of_bounds(*_bounds(results, 2 * pairs), 0.60))
    lines += ["", sentence]
    sentence += f"; {sizes_text((0, each.studies) for each in results)}"
    return Told(together(standings), sentence, tuple(lines))


def _bounds(results: list[Result], of_trials: float) -> tuple[float, float]:
    """Two 99 % bounds of the judge's mean visits over all of the results, over ``of_trials``."""
    mean = sum(each.mean_stop for each in results) / len(results)
    error = math.sqrt(sum(each.mean_stop_error**2 for each in results)) / len(results)
    return (mean - _BOUND_ERRORS * error) / of_trials, (mean + _BOUND_ERRORS * error) / of_trials


def _right(result: Result) -> float:
    return result.share("faster" if result.about["effect"] > 0 else "equivalent")


def _best_fixed(results: list[Result]) -> tuple[int, str]:
    """The smallest fixed number of pairs that is as often right as the judge."""
    visits = sum(each.mean_stop for each in results) / len(results)
    power = sum(map(_right, results)) / len(results)
    powers = {
        pairs: sum(each.share(f"{pairs} pairs: right") for each in results) / len(results)
        for pairs in FIXED_PAIRS
    }
    as_good = [pairs for pairs in FIXED_PAIRS if powers[pairs] >= power]
    pairs = as_good[0] if as_good else FIXED_PAIRS[-1]
    reach = "as often right" if as_good else "the largest compared, less often right"
    return pairs, (
        f"over the effects {visits:.1f} visits and {power:.1%} right; {pairs} pairs are {reach} "
        f"({powers[pairs]:.1%}) with {2 * pairs} trials: {visits / (2 * pairs):.0%} of these"
    )


def beside_rivals(store: Store, judge: Store, errors: Store) -> Told:
    """G5; ``judge`` holds the visits of G3 on the same studies, ``errors`` the rates of G1."""
    if not store.all():
        return Told(Standing.NOT_MEASURED, "nothing was run")
    standings, told = [], []
    for effect, name in ((RIVAL_EFFECTS[2], "8.7 %"), (RIVAL_EFFECTS[1], "5 %")):
        both = [
            (same, each)
            for each in store.all()
            if abs(each.about["effect"] - effect) < 1e-9 and (same := judge.get(each.cell))
        ]
        if not both:
            return Told(Standing.NOT_MEASURED, "the judge was not run on the same studies")
        ours = [same for same, _ in both]
        trials = fmean(_equal_trials(*pair) for pair in both)
        rule = fmean(each.counts[f"{PHORONIX}: trials"] / each.studies for _, each in both)
        mean = fmean(each.mean_stop for each in ours)
        standings.append(of_bounds(*_bounds(ours, trials), 1.0))
        told.append(
            f"{name}: {mean:.1f} visits, {mean / trials:.0%} of the {trials:.1f} trials of fixed "
            f"pairs; {mean / rule:.2f} times Phoronix's, of larger error"
        )
    told.append(sizes_text((0, each.studies) for each in store.all()))
    return Told(together(standings), "; ".join(told), tuple(_rivals_table(store, judge, errors)))


def _equal_trials(judge: Result, rivals: Result) -> int:
    """Trials of the fewest pairs that are as often right as the judge, or of the most compared."""
    right = judge.share("faster")
    as_good = (n for n in FIXED_PAIRS if rivals.share(f"{n} pairs: right") >= right)
    return 2 * next(as_good, FIXED_PAIRS[-1])


def _rivals_table(store: Store, judge: Store, errors: Store) -> Iterator[str]:
    yield "Least and most over the noises. *False*: equal systems called different. *Found*: the"
    yield "difference declared with its right sign; *wrong sign* is the most of any noise at 5 %."
    yield ""
    yield "| rule | false | found at 5 % | wrong sign | found at 8.7 % | trials at 0, 5, 8.7 % |"
    yield "|---|---:|---:|---:|---:|---:|"
    by_effect = [
        [r for r in store.all() if abs(r.about["effect"] - effect) < 1e-9]
        for effect in RIVAL_EFFECTS
    ]
    if not all(by_effect):
        return
    for rule in RIVALS:
        null, five, eight = by_effect
        false = [r.share(f"{rule}: faster") + r.share(f"{rule}: slower") for r in null]
        sizes = [
            sum(r.counts[f"{rule}: trials"] / r.studies for r in e) / len(e) for e in by_effect
        ]
        yield (
            f"| {rule} | {_span(false)} | {_span([r.share(f'{rule}: faster') for r in five])} | "
            f"{max(r.share(f'{rule}: slower') for r in five):.1%} | "
            f"{_span([r.share(f'{rule}: faster') for r in eight])} | "
            f"{', '.join(f'{size:.1f}' for size in sizes)} |"
        )
    yield from _own_row(by_effect, judge, errors)


def _own_row(by_effect: list[list[Result]], judge: Store, errors: Store) -> Iterator[str]:
    own = [[same for r in each if (same := judge.get(r.cell))] for each in by_effect]
    false = [r.share("wrong") for r in errors.all() if r.about["design"] == "two"]
    if not all(own) or not false:
        return
    sizes = ", ".join(f"{sum(r.mean_stop for r in each) / len(each):.1f}" for each in own)
    yield (
        f"| **the judge** (margin 2 %) | {_span(false)} | "
        f"{_span([r.share('faster') for r in own[1]])} | "
        f"{max(r.share('slower') for r in own[1]):.1%} | "
        f"{_span([r.share('faster') for r in own[2]])} | {sizes} |"
    )


def _span(shares: list[float]) -> str:
    return f"{min(shares):.1%} to {max(shares):.1%}"
