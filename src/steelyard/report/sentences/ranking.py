"""The order of the systems, in sentences."""

from __future__ import annotations

from collections.abc import Iterator

from steelyard.judge.analyses.ranking.findings import PlaceFinding, RankingFinding
from steelyard.report.figures import listed
from steelyard.report.view import View
from steelyard.report.vocabulary import noun_of, place, response_of


def ranking_lines(view: View) -> list[str]:
    """One sentence for each order: over all conditions, then at each."""
    return [_line(ranking, view) for ranking in view.own.rankings]


def _line(ranking: RankingFinding, view: View) -> str:
    where = place(ranking.conditions, view, view.run.systems)
    noun = noun_of(response_of(view, ranking.response))
    order = ", ".join(f"{p.system} ({places_text(p)})" for p in ranking.places)
    said = [f"By {noun}{where}, best first: {order}"]
    ties = [*_ties(ranking, "open"), *_ties(ranking, "equivalent")]
    said += ties or ["all adjacent systems are distinguished"]
    return "; ".join(said) + "."


def places_text(found: PlaceFinding) -> str:
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
