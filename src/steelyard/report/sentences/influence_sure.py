"""What the answer about factors rests on: error rate, design, noise, aliased effects."""

from __future__ import annotations

from steelyard.judge.analyses.factors.findings import InfluenceFinding
from steelyard.report import notes
from steelyard.report.figures import counted, listed, percent
from steelyard.report.sentences.influence import PAIR, name_of, percent_point, simple_aliases
from steelyard.report.view import View
from steelyard.study.fractions import LETTERS
from steelyard.study.labels import Labels

_ROMAN = {3: "III", 4: "IV", 5: "V", 6: "VI"}


def influence_sure_lines(view: View) -> list[str]:
    """What the answer about factors rests on."""
    return [line for each in view.own.influence for line in _sure(each, view.run.labels)]


def _sure(found: InfluenceFinding, labels: Labels) -> list[str]:
    where = "" if found.system is None else f" on {found.system}"
    lines = [
        (
            f"Error rate {percent(found.alpha)} for all {counted(len(found.effects), 'effect')}"
            f"{where} together, at whatever replicate the study stopped."
        ),
        _design(found),
    ]
    if found.noise_log is not None:
        noise = f"Noise of a trial {percent_point(found.noise_log)} %"
        if found.visit_noise_log is not None:
            hard = listed(list(found.hard_to_change))
            noise += (
                f", of a visit {percent_point(found.visit_noise_log)} % besides; {hard} is judged "
                "by visits, the rest by trials"
            )
        lines.append(f"{noise}; differences between replicates are removed.")
    lines += aliases_lines(found)
    if found.shares:
        lines.append(
            "Shares of variation have an interval of 95 % each, as if the number of replicates had "
            "been fixed."
        )
    texts = notes.texts(found.notes, labels)
    return lines + [f"{text[:1].upper()}{text[1:]}." for text in texts]


def _design(found: InfluenceFinding) -> str:
    count = 1
    for levels in found.factors.values():
        count *= len(levels)
    if not found.relations:
        return f"Design: all {count} combinations of {counted(len(found.factors), 'factor')}."
    relations = " and ".join(found.relations)
    return (
        f"Design: {found.cells} of {count:,} combinations of {len(found.factors)} factors in each "
        f"replicate, by turns, resolution {_ROMAN.get(found.resolution or 0, '?')}; "
        f"defining {'relations' if len(found.relations) > 1 else 'relation'} {relations}, with "
        f"{_letters(found)}."
    )


def _letters(found: InfluenceFinding) -> str:
    """Which factor has which letter: those that are hard to change come first."""
    names = sorted(found.factors, key=lambda name: name not in found.hard_to_change)
    return listed([f"{letter} {name}" for letter, name in zip(LETTERS, names, strict=False)])


def aliases_lines(found: InfluenceFinding) -> list[str]:
    """Which effects of single factors and pairs are aliased."""
    simple = [each for each in found.effects if len(each.factors) <= PAIR]
    shared = [
        f"{name_of(each.factors)} with {listed(simple_aliases(each.aliases))}"
        for each in simple
        if simple_aliases(each.aliases)
    ]
    if shared:
        return [f"Aliased in this design: {'; '.join(shared)}."]
    if found.relations:
        return ["No factor and no pair of factors is aliased with another."]
    return []
