"""The tables of factors: every effect with its interval and share, and means of pairs."""

from __future__ import annotations

from collections.abc import Iterator

from steelyard.judge.analyses.factors.findings import EffectFinding, EffectWord, InfluenceFinding
from steelyard.report.effects import signed_effect
from steelyard.report.figures import counted, percent, scale_for, significant
from steelyard.report.sentences.influence import (
    PAIR,
    effects_of,
    ends_of_effect,
    margin_of,
    name_of,
    pair_of,
    percent_point,
    share_span,
)
from steelyard.report.view import NONE, Table, View
from steelyard.report.vocabulary import response_of
from steelyard.study.labels import Labels

MOST_ROWS = 40


def influence_tables(view: View) -> list[Table]:
    """For each set of factors its effects, its shares, then each pair that acts together."""
    return [
        table
        for each in view.own.influence
        for table in (effect_table(each, view), share_table(each), *_pairs(each, view))
    ]


def effect_table(found: InfluenceFinding, view: View) -> Table:
    """Main effects, then pairs, then what decides anything of the rest."""
    response = response_of(view, found.response)
    shown = _shown(found)
    rows = tuple(
        (
            name_of(each.factors),
            _levels(each, view.run.labels),
            NONE if each.effect_log is None else _size(each),
            NONE if each.effect_log is None else ends_of_effect(each, found, response),
            each.word.value.replace("_", " "),
            "; ".join(name_of(alias) for alias in each.aliases) or NONE,
        )
        for each in shown
    )
    left = len(found.effects) - len(shown)
    levels = f"{percent(found.interval_level)} for all effects together"
    inner = f"{percent(1 - 2 * found.alpha)} (two one-sided tests)"
    within = f"no effect above {margin_of(found)}, the margin"
    notes = [f"Intervals of {levels}; of what is negligible ({within}) {inner}."]
    if left:
        notes.append(
            f"{counted(left, 'further interaction')} not shown; all are in the CSV and JSON forms."
        )
    where = "" if found.system is None else f" of {found.system}"
    head = ("Effect", "Level", f"On {response.label}", "Interval", "Verdict", "Same as")
    return Table(f"Effects{where}", head, rows, frozenset({2}), tuple(notes))


def _shown(found: InfluenceFinding) -> list[EffectFinding]:
    simple = [each for each in found.effects if len(each.factors) <= PAIR]
    known = effects_of(found, EffectWord.INFLUENTIAL)
    intricate = [each for each in known if len(each.factors) > PAIR]
    wanted = [*simple, *intricate]
    if len(wanted) <= MOST_ROWS:
        return wanted
    mains = [each for each in wanted if len(each.factors) == 1]
    return [*mains, *(each for each in wanted if each in known and each not in mains)][:MOST_ROWS]


def _levels(each: EffectFinding, labels: Labels) -> str:
    pairs = zip(each.factors, each.levels, each.against, strict=True)
    return "; ".join(
        f"{labels.level(a, name)} against {labels.level(b, name)}" for name, a, b in pairs
    )


def _size(each: EffectFinding) -> str:
    return signed_effect(each.effect_log or 0.0, beside=(each.low_log, each.high_log))


def share_table(found: InfluenceFinding) -> Table:
    """How the variation divides; empty below three replicates."""
    rows = []
    for each in sorted(found.shares, key=lambda share: (share.kind == "noise", -share.share)):
        name = {
            "effect": name_of(each.factors),
            "higher": "three factors and more together",
            "noise": "noise",
        }[each.kind]
        if each.kind != "effect" or len(each.factors) <= PAIR or each.low > 0:
            rows.append((name, f"{percent_point(each.share)} %", f"{share_span(each)} %"))
    note = "Of the variation within replicates; intervals of 95 %, each by itself."
    head = ("Term", "Share of the variation", f"{percent(0.95)} interval")
    return Table("Shares of the variation", head, tuple(rows), frozenset({1, 2}), (note,))


def _pairs(found: InfluenceFinding, view: View) -> Iterator[Table]:
    """The means behind each interaction of two that is there."""
    response = response_of(view, found.response)
    there = effects_of(found, EffectWord.INFLUENTIAL)
    for factors in dict.fromkeys(e.factors for e in there if len(e.factors) == PAIR):
        pair = pair_of(found, *factors)
        if pair is None:
            continue
        second = pair.factors[1]
        scale = scale_for([m for row in pair.means for m in row if m is not None], response.unit)
        rows = tuple(
            (
                f"{pair.factors[0]} {view.run.labels.level(level, pair.factors[0])}",
                *(NONE if m is None else significant(m / scale.divisor) for m in means),
            )
            for level, means in zip(pair.first_levels, pair.means, strict=True)
        )
        head = (
            f"{response.label}, {scale.unit}".rstrip(", "),
            *(f"{second} {view.run.labels.level(level, second)}" for level in pair.second_levels),
        )
        columns = frozenset(range(1, len(head)))
        note = "Geometric means over all other factors and over replicates."
        yield Table(name_of(pair.factors), head, rows, columns, (note,))
