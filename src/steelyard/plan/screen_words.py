"""The screening of a plan in words: factors, design, aliases, replicates."""

from __future__ import annotations

from collections.abc import Iterator

from steelyard.plan.model import Plan, ScreenPlan
from steelyard.study import screening
from steelyard.study.fractions import LETTERS
from steelyard.study.labels import Labels
from steelyard.study.model import Study
from steelyard.units import format_duration

_ROMAN = {3: "III", 4: "IV", 5: "V", 6: "VI"}
_FEWEST_FOR_SHARES = 3


def screen_rows(study: Study, plan: Plan, labels: Labels) -> Iterator[tuple[str, str]]:
    """Key and text of each line; nothing for a plan that does not screen."""
    screen, asked = plan.screen, screening.screened(study)
    if screen is None or asked is None:
        return
    yield "screened", f"{len(screen.factors)} factors on {screen.system}"
    for letter, name in zip(LETTERS, _leading(screen), strict=False):
        levels = " or ".join(labels.level(level, name) for level in screen.factors[name])
        hard = " (hard to change: kept within a visit)" if name in screen.hard_to_change else ""
        yield f"factor {letter}", f"{name}: {levels}{hard}"
    yield "design", _design(screen)
    for fraction in screen.fractions:
        if fraction.relation:
            yield "defining relation", fraction.relation
    yield "replicates", _replicates(study, screen, asked)


def _leading(screen: ScreenPlan) -> list[str]:
    """In the order of the letters: what is hard to change first."""
    return sorted(screen.factors, key=lambda name: name not in screen.hard_to_change)


def _design(screen: ScreenPlan) -> str:
    count = len(screen.fractions[0].cells)
    if len(screen.fractions) == 1:
        return f"full factorial of {count} cells, in random order within each replicate"
    cells = 1
    for levels in screen.factors.values():
        cells *= len(levels)
    resolution = screen.fractions[0].resolution or 0
    both = 2 * count
    rest = "together all of them" if both == cells else f"together {both}"
    return (
        f"a fraction of {count} of {cells:,} cells, resolution {_ROMAN[resolution]}, and its "
        f"fold-over by turns ({rest}); in random order within each replicate"
    )


def _replicates(study: Study, screen: ScreenPlan, asked: screening.Screened) -> str:
    trials = sum(len(visit.trials) for visit in screen.visits)
    one = format_duration(screening.replicate_s(study, asked))
    line = f"{screen.replicates:,} at most, {trials:,} trials; one takes about {one}"
    first = asked.first_answer
    if screen.replicates < first:
        return f"{line}; nothing is called before {first}, so this can only suggest"
    line += f"; an effect may be called after {first}"
    if screen.replicates < _FEWEST_FOR_SHARES:
        line += f"; shares of variation need {_FEWEST_FOR_SHARES}"
    return line
