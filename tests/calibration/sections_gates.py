"""The section of the page on gates: G28."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from tests.calibration.gating import MARGIN_LOG, PATHS, SLOWER_LOG, powers
from tests.calibration.goals import Standing, Told, of_rate, of_share, rate_text, together
from tests.calibration.live_gates import LiveGate, kept
from tests.calibration.store import Result, Store

_MOST_FALSE, _FOUND, _FAILS = 0.05, 0.90, 5
_MOST_TOGETHER = 200
_GATES = (
    "A gate is what `steelyard gate --budget 15min` plans of the study in the guide: big-stick",
    "order, both builds up, at most 1,000 visits of 800 ms, margin 5 %, looks as of any study,",
    "the end with the first word; it fails when that is *slower*. Recorded trials of one system",
    "in a row are its noise. *In turn*: a quiet and a busy recording of the same work, 50 visits",
    "of each on average, at the level that each had. *Comes and goes*: 30 % less while a load",
    "lasts, 50 visits on average, and 20 % less over the whole gate. *Windows*: a visit is the",
    "mean of the trials of 800 ms, and the gate has the visits that the recording lasts, which is",
    f"less than 15 minutes. Elsewhere a visit is one trial of 0.02 to 0.2 s. {PATHS:,} orders.",
)


def gates(store: Store) -> Told:
    """G28."""
    results, live = store.all(), kept()
    equal = [each for each in results if each.about["effect"] == 0.0]
    if not equal:
        return Told(Standing.NOT_MEASURED, "nothing was run")
    slower = {e.about["noise"]: e for e in results if e.about["effect"] == SLOWER_LOG}
    of_plan = [e for p in powers() if (e := store.get(p.name)) is not None]
    fails, of = sum(e.counts["fails"] for e in equal), sum(e.studies for e in equal)
    standings = [_equal_standing(equal, fails, of, live)]
    standings += [of_share(e.counts["fails"], e.studies, _FOUND) for e in slower.values()]
    standings += [of_share(e.counts["fails"], e.studies, _FOUND) for e in of_plan]
    good = sum(e.share("fails") >= _FOUND for e in slower.values())
    least = min((e.share("fails") for e in of_plan), default=math.nan)
    told = (
        f"{rate_text(fails, of)} of {of:,} replayed gates of equal builds fail; 10 % slower is "
        f"found in 90 % under {good} of {len(slower)} recorded loads; what the plan says it finds "
        f"in {least:.0%} at least; {_live_told(live)}"
    )
    lines = (*_GATES, "", *_replayed(equal, slower), *_powers(of_plan), *_live(live))
    return Told(together(standings), told, lines)


def _equal_standing(equal: Sequence[Result], fails: int, of: int, live: list[LiveGate]) -> Standing:
    """Of all together, and no cell by itself known to be beyond."""
    standings = [of_rate(fails, of, _MOST_FALSE)]
    each = [of_rate(e.counts["fails"], e.studies, _MOST_FALSE) for e in equal]
    standings += [s for s in each if s is Standing.NOT_REACHED]
    own = [g for g in live if g.kind == "equal"]
    if of + len(own) < _MOST_TOGETHER or not own:
        standings.append(Standing.OPEN)
    if own:
        wrong = sum(g.exit_code == _FAILS for g in own)
        beyond = of_rate(wrong, len(own), _MOST_FALSE) is Standing.NOT_REACHED
        standings += [Standing.NOT_REACHED] if beyond else []
    return together(standings)


def _replayed(equal: Sequence[Result], slower: dict[str, Result]) -> Iterator[str]:
    yield "| noise | visits | equal builds: fail | faster | equivalent | undecided | visits, mean | 10 % slower: fails | visits, mean |"  # noqa: E501
    yield "|---|" + "---:|" * 8
    for each in sorted(equal, key=lambda e: (e.about["visits"] != 1_000, e.about["noise"])):
        found = slower.get(each.about["noise"])
        beside = (
            "not run | –"
            if found is None
            else f"{rate_text(found.counts['fails'], found.studies)} of {found.studies} "
            f"| {found.mean_stop:.0f}"
        )
        yield (
            f"| {each.about['noise']} | {each.about['visits']:,} "
            f"| {rate_text(each.counts['fails'], each.studies)} of {each.studies} "
            f"| {each.share('faster'):.1%} | {each.share('equivalent'):.0%} "
            f"| {each.share('undecided'):.0%} | {each.mean_stop:.0f} | {beside} |"
        )


def _powers(results: Sequence[Result]) -> Iterator[str]:
    yield ""
    yield "What `plan` prints behind *finds*: what nine of ten runs find in independent"
    yield f"noise, never less than the margin (here {math.expm1(MARGIN_LOG):.0%})."
    yield ""
    yield "| noise of a visit | visits | difference | found | equivalent | undecided |"
    yield "|---:|---:|---:|---:|---:|---:|"
    for each in results:
        yield (
            f"| {each.about['noise'].removeprefix('independent ')} | {each.about['visits']:,} "
            f"| {math.expm1(each.about['effect']):.1%} "
            f"| {rate_text(each.counts['fails'], each.studies)} of {each.studies} "
            f"| {each.share('equivalent'):.1%} | {each.share('undecided'):.1%} |"
        )


def _live_told(live: Sequence[LiveGate]) -> str:
    parts = []
    for kind, words in (("equal", "equal builds"), ("slower", "a slower one")):
        own = [each for each in live if each.kind == kind]
        fails = sum(each.exit_code == _FAILS for each in own)
        parts.append(f"{fails} of {len(own)} of {words}")
    return f"live {' and '.join(parts)} fail" if live else "none live"


def _live(live: Sequence[LiveGate]) -> Iterator[str]:
    if not live:
        return
    yield ""
    yield "Live: `steelyard gate --budget 30s`, windows of 300 ms, beside a process that keeps a"
    yield "processor busy and rests, 0.2 to 8 s each (`python -m tests.calibration.live_gates`)."
    yield "*Slower*: waits 11 ms before each reply, its base 10 ms. All that ended."
    yield ""
    yield "| made | machine | load average | kind | exit code | verdict | visits | ratio | s |"
    yield "|---|---|---:|---|---:|---|---:|---:|---:|"
    for each in live:
        ratio = "–" if each.estimate_log is None else f"{each.estimate_log:+.4f}"
        yield (
            f"| {each.made} | {each.machine} | {each.load_average} | {each.kind} "
            f"| {each.exit_code} | {each.word}{': ' + each.why if each.why else ''} "
            f"| {each.visits or '–'} | {ratio} | {each.took_s:.0f} |"
        )
