"""Several systems in order, in words: who is where, and who cannot be distinguished from whom."""

from __future__ import annotations

from collections.abc import Iterator

from steelyard.judge.analyses.ranking.findings import PlaceFinding, RankingFinding
from steelyard.report.effects import interval, signed_effect
from steelyard.report.figures import listed, percent
from steelyard.report.tables.table import NONE, Table
from steelyard.report.view import View
from steelyard.report.vocabulary import compared_one, direction_of, noun_of, place, response_of

_NEXT_WORDS = {
    "apart": "distinguished",
    "equivalent": "no difference above the margin",
    "open": "cannot be distinguished",
    None: NONE,
}


def ranking_lines(view: View) -> list[str]:
    """One sentence for each order: over all conditions, then at each."""
    return [_line(ranking, view) for ranking in view.own.rankings]


def _line(ranking: RankingFinding, view: View) -> str:
    where = place(ranking.conditions, view, view.run.systems)
    noun = noun_of(response_of(view, ranking.response))
    order = ", ".join(f"{p.system} ({_places(p)})" for p in ranking.places)
    said = [f"By {noun}{where}, best first: {order}"]
    ties = [*_ties(ranking, "open"), *_ties(ranking, "equivalent")]
    said += ties or ["all adjacent systems are distinguished"]
    return "; ".join(said) + "."


def _places(found: PlaceFinding) -> str:
    return f"{found.best}" if found.best == found.worst else f"{found.best} to {found.worst}"


def _ties(ranking: RankingFinding, kind: str) -> Iterator[str]:
    """Runs of neighbours that stand to each other in the same way."""
    run: list[str] = []
    for each, below in zip(ranking.places, ranking.places[1:], strict=False):
        if each.next == kind:
            run = run or [each.system]
            run.append(below.system)
        elif run:
            yield _tie_words(run, kind)
            run = []
    if run:
        yield _tie_words(run, kind)


def _tie_words(run: list[str], kind: str) -> str:
    neighbours = "" if len(run) == 2 else " from their neighbours"
    if kind == "open":
        return f"{listed(run)} cannot be distinguished{neighbours}"
    return f"{listed(run)} differ by no more than the margin{neighbours}"


def ranking_tables(view: View) -> list[Table]:
    """The same with ratio and interval, one table for each order."""
    return [_table(ranking, view) for ranking in view.own.rankings]


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
            ends = interval(
                found.low_log,
                found.high_log,
                estimate_log=found.estimate_log,
                direction=direction_of(response),
            )
        rows.append((_places(found), found.system, size, ends, _NEXT_WORDS[found.next]))
    note = (
        f"All places are right together with {percent(1 - ranking.alpha)}; a range says which "
        "places a system may have."
    )
    where = place(ranking.conditions, view, view.run.systems).strip()
    caption = f"Ranking by {noun_of(response)}" + (f", {where}" if where else "")
    return Table(caption, head, tuple(rows), frozenset({2}), (note,))
