"""What factors do to the response, as rows of effects."""

from __future__ import annotations

from steelyard.judge.analyses.factors.findings import EffectFinding, EffectWord, InfluenceFinding
from steelyard.report.effects import interval, signed_effect
from steelyard.report.figures import percent
from steelyard.report.sentences.influence import contrast_of
from steelyard.report.tables.effect_rows import VERDICT, EffectRow, EffectRows, Mark
from steelyard.report.view import View
from steelyard.report.vocabulary import noun_of, response_of

MOST_EFFECTS = 6


def factor_rows(found: InfluenceFinding, view: View) -> EffectRows:
    """Effects of factors on the response: single ones, then the largest of several together."""
    noun = noun_of(response_of(view, found.response))
    rows = tuple(_factor_row(each, found, view) for each in shown_effects(found))
    inner = f"of what is negligible {percent(1 - 2 * found.alpha)}"
    note = f"CI {percent(found.interval_level)} for all effects together; {inner}."
    left = len([e for e in found.effects if e.effect_log is not None]) - len(rows)
    more = (
        (f"{left} smaller effects of several factors are in the tables of the report.",)
        if left
        else ()
    )
    of = "" if found.system is None else f" of {found.system}"
    return EffectRows(
        caption=f"Effects on {noun}{of}",
        head=("Factor", "Change", "CI", VERDICT),
        rows=rows,
        direction=("less", "more"),
        minor=frozenset({2}),
        numeric=frozenset({1, 2}),
        notes=(note, *more),
    )


def shown_effects(found: InfluenceFinding) -> list[EffectFinding]:
    """Single factors by the size of their effect, then those of several: influential or largest."""
    known = [each for each in found.effects if each.effect_log is not None]
    known.sort(key=lambda each: (len(each.factors) > 1, -abs(each.effect_log or 0.0)))
    return [
        each
        for at, each in enumerate(known)
        if at < MOST_EFFECTS or len(each.factors) == 1 or each.word is EffectWord.INFLUENTIAL
    ]


def _factor_row(each: EffectFinding, found: InfluenceFinding, view: View) -> EffectRow:
    log = each.effect_log or 0.0
    low, high = each.low_log, each.high_log
    if each.word is EffectWord.NEGLIGIBLE:
        low, high = each.equivalence_low_log, each.equivalence_high_log
    levels = "; ".join(
        f"{view.run.labels.level(a, name)} instead of {view.run.labels.level(b, name)}"
        for name, a, b in zip(each.factors, each.levels, each.against, strict=True)
    )
    margin = found.margin_log
    ends = interval(low, high, estimate_log=log, direction=None, exact_to=(0.0, margin, -margin))
    name = contrast_of(each, found, view.run.labels)
    cells = (
        f"{each.factors[0]}: {levels}" if len(each.factors) == 1 else name,
        signed_effect(log, beside=(low, high)),
        ends,
        each.word.value.replace("_", " "),
    )
    decided = each.word in (EffectWord.INFLUENTIAL, EffectWord.NEGLIGIBLE)
    return EffectRow(cells, Mark(log, low, high, margin, decided, len(each.factors) == 1, 0))
