"""Effects, shares and means of pairs as rows of the flat table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from steelyard.judge.analyses.factors.findings import EffectFinding, InfluenceFinding, PairFinding
from steelyard.report.sentences.influence import name_of
from steelyard.study.labels import Labels
from steelyard.study.model import Level


def influence_rows(found: InfluenceFinding, unit: str, labels: Labels) -> Iterator[dict[str, Any]]:
    """One row for each effect, each share, and each pair of levels."""
    shared = {"response": found.response, "unit": unit, "system": found.system or ""}
    for each in found.effects:
        yield shared | _effect(each, found, labels)
    for share in found.shares:
        name = name_of(share.factors) if share.kind == "effect" else share.kind
        values = {"value": share.share, "low": share.low, "high": share.high}
        yield shared | {"kind": "share", "effect": name, "interval_level": 0.95, **values}
    for pair in found.pairs:
        yield from (shared | row for row in _means(pair, labels))


def _effect(each: EffectFinding, found: InfluenceFinding, labels: Labels) -> dict[str, Any]:
    aliases = "; ".join(name_of(alias) for alias in each.aliases)
    return {
        "kind": "effect",
        "effect": name_of(each.factors),
        "levels": _levels(each.factors, each.levels, labels),
        "against": _levels(each.factors, each.against, labels),
        "n": found.replicates,
        "interval_level": found.interval_level,
        "word": each.word.value,
        "words": " ".join(word.value for word in each.words),
        "estimate_log": each.effect_log,
        "low_log": each.low_log,
        "high_log": each.high_log,
        "equivalence_low_log": each.equivalence_low_log,
        "equivalence_high_log": each.equivalence_high_log,
        "margin_log": found.margin_log,
        "alpha": found.alpha,
        "family": f"all {len(found.effects)} effects",
        "note": f"same as {aliases}" if aliases else "",
    }


def _levels(factors: Sequence[str], levels: Sequence[Level], labels: Labels) -> str:
    pairs = zip(levels, factors, strict=True)
    return "; ".join(labels.level(level, factor) for level, factor in pairs)


def _means(pair: PairFinding, labels: Labels) -> Iterator[dict[str, Any]]:
    for first, means in zip(pair.first_levels, pair.means, strict=True):
        for second, mean in zip(pair.second_levels, means, strict=True):
            yield {
                "kind": "pair",
                "effect": name_of(pair.factors),
                "levels": _levels(pair.factors, (first, second), labels),
                "value": mean,
            }
