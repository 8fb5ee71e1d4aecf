"""How a study was done: its order, its factors, its margin, and how it ended."""

from __future__ import annotations

import math
from collections.abc import Iterator

from steelyard.judge.analyses.factors.findings import InfluenceFinding
from steelyard.judge.findings import RunFindings
from steelyard.report.figures import counted
from steelyard.report.sentences.assumptions import judged, stop_words_of, unit_of_stop
from steelyard.report.view import views
from steelyard.report.vocabulary import compared_all
from steelyard.study.labels import Labels
from steelyard.units import format_duration, format_margin


def done_rows(run: RunFindings) -> list[tuple[str, str]]:
    """How it was done: term and text."""
    return list(_done(run))


_ORDERS = {
    "big_stick": "big-stick design, one random assignment per visit",
    "none": "not known",
    "pairs": "random pairs of visits",
    "double_blocks": "random blocks, decided systems are dropped",
    "blocks": "random blocks, decided systems are dropped",
}


def _done(run: RunFindings) -> Iterator[tuple[str, str]]:
    of_each = views(run)
    compared = compared_all(run)
    all_conditions = [each for view in of_each for each in view.own.conditions]
    influence = [each for view in of_each for each in view.own.influence]
    yield "Study", run.study + (f", variant {run.variant}" if run.variant else "")
    yield "Hash of the study", f"sha256 {run.study_sha256}"
    yield (
        compared[0].upper() + compared[1:],
        ", ".join(run.systems) + (f"; baseline {run.baseline}" if all_conditions else ""),
    )
    conditions = [run.labels.conditions(c) for c in all_conditions if c]
    if conditions or not influence:
        yield "Conditions", ", ".join(conditions) or "none"
    if all_conditions:
        known = run.design or ("big_stick" if len(run.systems) == 2 else "double_blocks")
        shuffled = f", conditions shuffled within a visit, seed {run.seed}"
        yield "Order", _ORDERS[known] + ("" if known == "none" else shuffled)
    for each in influence:
        yield "Factors", _factors(each, run.labels)
    margins = {each.margin_log for each in influence}
    margins |= {each.margin_log for view in of_each for each in judged(view)}
    told = dict.fromkeys(format_margin(math.expm1(each)) for each in sorted(margins))
    yield "Margin", "; ".join(told) or "no comparison was judged"
    yield "Ended", _ended(run)
    yield "Made by", f"steelyard {run.tool_version}, run {run.run}"


def _ended(run: RunFindings) -> str:
    stop = run.stop
    if stop.reason == "imported":
        return f"{stop_words_of(run)}: {counted(stop.trials_done, 'trial')}"
    return (
        f"{stop_words_of(run)}: {stop.visits_done} of at most {stop.visits_planned} "
        f"{unit_of_stop(run)}s, {counted(stop.trials_done, 'trial')}, "
        f"{counted(stop.attempts_failed, 'failed attempt')}, "
        f"{format_duration(stop.spent_s)}"
    )


def trials_words(run: RunFindings) -> str:
    """``57 trials in 4 min``; of what was imported, how long it took is not known."""
    if run.stop.reason == "imported":
        return counted(run.stop.trials_done, "trial")
    return f"{counted(run.stop.trials_done, 'trial')} in {format_duration(run.stop.spent_s)}"


def _factors(found: InfluenceFinding, labels: Labels) -> str:
    where = "" if found.system is None else f" on {found.system}"
    varied = "; ".join(
        f"{name} {', '.join(labels.level(level, name) for level in levels)}"
        for name, levels in found.factors.items()
    )
    return (
        f"{varied}{where}: {found.replicates} of at most {found.replicates_planned} replicates of "
        f"{found.cells} trials, in random order within each"
    )
