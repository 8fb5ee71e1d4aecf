"""Several systems in order, in words: who is where, and who cannot be distinguished from whom."""

from __future__ import annotations

from steelyard.judge.analyses.ranking.findings import PlaceFinding, RankingFinding
from steelyard.report.effects import interval, signed_effect
from steelyard.report.figures import percent
from steelyard.report.sentences.ranking import places_text
from steelyard.report.view import NONE, Table, View
from steelyard.report.vocabulary import compared_one, direction_of, noun_of, place, response_of

_NEXT_WORDS = {
    "apart": "distinguished",
    "equivalent": "no difference above the margin",
    "open": "cannot be distinguished",
    None: NONE,
}


def ranking_tables(view: View) -> list[Table]:
    """The same with ratio and interval, one table for each order."""
    return [_table(ranking, view) for ranking in view.own.rankings]


def _ends(found: PlaceFinding, ranking: RankingFinding, view: View) -> str:
    """Of a verdict that is withheld none, since the order does not go by them."""
    held = (
        v.withheld
        for v in view.own.verdicts
        if (v.response, v.conditions) == (ranking.response, ranking.conditions)
        and (v.baseline, v.other) == (view.run.baseline, found.system)
    )
    if any(held):
        return "withheld"
    direction = direction_of(response_of(view, ranking.response))
    low, high = found.low_log, found.high_log
    return interval(low, high, estimate_log=found.estimate_log or 0.0, direction=direction)


def _table(ranking: RankingFinding, view: View) -> Table:
    response = response_of(view, ranking.response)
    head = (
        "Place",
        compared_one(view.run),
        f"Against {view.run.baseline}",
        "Interval",
        "To the next",
    )
    rows = []
    for found in ranking.places:
        size = ends = NONE
        if found.system == view.run.baseline:
            size = "baseline"
        elif found.estimate_log is not None:
            size = signed_effect(found.estimate_log, beside=(found.low_log, found.high_log))
            ends = _ends(found, ranking, view)
        rows.append((places_text(found), found.system, size, ends, _NEXT_WORDS[found.next]))
    note = (
        f"All places are right together with {percent(1 - ranking.alpha)}; a range says which "
        "places a system may have."
    )
    where = place(ranking.conditions, view, view.run.systems).strip()
    caption = f"Ranking by {noun_of(response)}" + (f", {where}" if where else "")
    return Table(caption, head, tuple(rows), frozenset({2}), (note,))
