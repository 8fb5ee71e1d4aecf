"""Sections of the page on screenings, curves and warm-ups: G9, G10, G11."""

from __future__ import annotations

from tests.calibration.goals import (
    Standing,
    Told,
    lower_bound,
    of_rate,
    of_share,
    rate_text,
    sizes_text,
    together,
    upper_bound,
    worst_bounds,
)
from tests.calibration.store import Result, Store

_CUBES = ("cube", "default cube")


def screenings(store: Store, errors: Store) -> Told:
    """G9; the family-wise error is that of the screenings of G1."""
    found = [each for each in store.all() if "found" in each.counts]
    shares = store.get("intervals of shares")
    null = [each for each in errors.all() if each.about.get("design") in _CUBES]
    if not found or shares is None or not null:
        return Told(Standing.NOT_MEASURED, "not everything was run")
    standings = [of_rate(each.counts["wrong"], each.studies, 0.055) for each in null]
    standings += [of_share(each.counts["found"], each.studies, 0.95) for each in found]
    standings += [
        _within(count, shares.studies, 0.93, 0.97)
        for name, count in shares.counts.items()
        if name.startswith("held")
    ]
    held = [count / shares.studies for count in shares.counts.values()]
    told = (
        f"4 % found in {min(each.share('found') for each in found):.1%} at least; shares held in "
        f"{min(held):.1%} to {max(held):.1%} of {shares.studies:,}; false effects: the screenings "
        f"of G1; {sizes_text((0, each.studies) for each in found)}"
    )
    lines = [
        "| what | share | studies |",
        "|---|---:|---:|",
        *(
            f"| {each.cell}: found | {each.share('found'):.1%} | {each.studies:,} |"
            for each in found
        ),
        *(
            f"| share of factors {name.removeprefix('held ')}: its interval holds the truth "
            f"| {count / shares.studies:.1%} | {shares.studies:,} |"
            for name, count in sorted(shares.counts.items())
        ),
    ]
    return Told(together(standings), told, tuple(lines))


def curves(store: Store) -> Told:
    """G10."""
    peak, fall, flat = (
        store.get(n) for n in ("interval of a peak", "a fall of 10 %", "a flat end")
    )
    none = [each for each in store.all() if each.cell.startswith("no peak")]
    if peak is None or fall is None or flat is None or not none:
        return Told(Standing.NOT_MEASURED, "not everything was run")
    standings = [
        _within(peak.counts["held"], peak.counts["told"], 0.93, 0.98),
        of_share(fall.counts["falls"], fall.studies, 0.90),
        of_rate(flat.counts["falls"], flat.studies, 0.055),
        *(of_rate(each.counts["claimed"], each.studies, 0.02) for each in none),
    ]
    told = (
        f"the peak is held in {peak.counts['held'] / peak.counts['told']:.1%} of "
        f"{peak.counts['told']:,}, falls of 10 % are found in {fall.share('falls'):.1%}; peaks "
        f"that are none: {worst_bounds((r.counts['claimed'], r.studies) for r in none)}"
    )
    lines = [
        "| what | share | studies |",
        "|---|---:|---:|",
        *(
            f"| {each.cell}: a peak is claimed | {rate_text(each.counts['claimed'], each.studies)} "
            f"| {each.studies:,} |"
            for each in none
        ),
        f"| a fall of 10 %: found | {fall.share('falls'):.1%} | {fall.studies:,} |",
        f"| a flat end: called falling | {_falls_text(flat)} | {flat.studies:,} |",
    ]
    return Told(together(standings), told, tuple(lines))


def _falls_text(flat: Result) -> str:
    return rate_text(flat.counts["falls"], flat.studies)


def warmups(store: Store) -> Told:
    """G11."""
    results = store.all()
    if not results:
        return Told(Standing.NOT_MEASURED, "nothing was run")
    standings = [of_share(each.counts["safe"], each.studies, 0.95) for each in results]
    worst = min(results, key=lambda each: each.share("safe"))
    lines = ["| shape | left out or refused | studies |", "|---|---:|---:|"]
    lines += [f"| {r.cell} | {r.share('safe'):.1%} | {r.studies:,} |" for r in results]
    told = (
        f"{worst.share('safe'):.1%} at least of {len(results)} shapes ({worst.cell}); "
        f"{sizes_text((0, each.studies) for each in results)}"
    )
    return Told(together(standings), told, tuple(lines))


def _within(count: int, of: int, low: float, high: float) -> Standing:
    """A coverage: reached where its bounds touch the range and the figure lies in it."""
    if lower_bound(count, of) > high or upper_bound(count, of) < low:
        return Standing.NOT_REACHED
    wide = upper_bound(count, of) - lower_bound(count, of) > high - low
    return Standing.OPEN if wide or not low <= count / of <= high else Standing.REACHED
