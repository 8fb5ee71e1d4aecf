"""A screening with an influential pair, a negligible factor, an open one, and an alias."""

from __future__ import annotations

import math
from typing import Any

from steelyard.judge.analyses.factors.findings import (
    EffectFinding,
    EffectWord,
    InfluenceFinding,
    PairFinding,
    ReplicatesLeftOut,
    ShareFinding,
)

MARGIN_LOG = math.log1p(0.05)
FACTORS = {
    "service.sync": ("none", "each message"),
    "load.users": (2, 8),
    "workload.body": (4096, 65536),
    "workload.pipelining": ("none", "message"),
}
SYNC, USERS, BODY, PIPELINING = FACTORS


def influence() -> InfluenceFinding:
    """What the judge would say; figures by hand."""
    return InfluenceFinding(
        system="server",
        response="throughput",
        factors=FACTORS,
        hard_to_change=(SYNC,),
        resolution=4,
        relations=("I = ABCD",),
        cells=8,
        replicates=5,
        replicates_planned=14,
        replicates_left_out=1,
        margin_log=MARGIN_LOG,
        alpha=0.05,
        interval_level=0.95,
        settled=False,
        effects=(
            effect("influential", -0.9, SYNC, unit="visit"),
            effect("influential", 0.35, USERS),
            effect("negligible", 0.002, BODY, half=0.03),
            effect("open", 0.03, PIPELINING),
            effect("influential", 0.3, SYNC, USERS, aliases=((BODY, PIPELINING),)),
        ),
        shares=(
            share(0.63, 0.48, 0.75, SYNC),
            share(0.16, 0.07, 0.27, USERS),
            share(0.04, 0.0, 0.09, SYNC, USERS, aliases=((BODY, PIPELINING),)),
            ShareFinding(kind="noise", factors=(), aliases=(), share=0.17, low=0.11, high=0.24),
        ),
        pairs=(
            PairFinding(
                factors=(SYNC, USERS),
                first_levels=FACTORS[SYNC],
                second_levels=FACTORS[USERS],
                means=((2000.0, 2100.0), (600.0, 1150.0)),
            ),
        ),
        noise_log=0.08,
        visit_noise_log=0.02,
        notes=(ReplicatesLeftOut(replicates=1),),
    )


def effect(
    word: str, log: float, *factors: str, half: float = 0.1, **changes: Any
) -> EffectFinding:
    given: dict[str, Any] = {
        "factors": factors,
        "levels": tuple(FACTORS[name][1] for name in factors),
        "against": tuple(FACTORS[name][0] for name in factors),
        "aliases": (),
        "word": EffectWord(word),
        "words": (EffectWord(word),),
        "effect_log": log,
        "low_log": log - half,
        "high_log": log + half,
        "equivalence_low_log": log - 0.9 * half,
        "equivalence_high_log": log + 0.9 * half,
        "decided_at_replicate": None if word == "open" else 4,
        "unit": "trial",
    }
    return EffectFinding.model_validate(given | changes)


def share(
    value: float, low: float, high: float, *factors: str, aliases: tuple[tuple[str, ...], ...] = ()
) -> ShareFinding:
    return ShareFinding(
        kind="effect", factors=factors, aliases=aliases, share=value, low=low, high=high
    )


def of_three_systems() -> InfluenceFinding:
    """A factor of three levels: one of its effects is there, the other one open."""
    found = influence()
    levels = ("plain", "delay", "faulty")
    of_system = {"against": ("plain",), "factors": ("system",)}
    rest = [each for each in found.effects if SYNC not in each.factors]
    own = [
        each.model_copy(update={**of_system, "levels": (level,)})
        for each, level in ((found.effects[0], "faulty"), (found.effects[3], "delay"))
    ]
    pairs = [
        found.effects[4].model_copy(
            update={
                "factors": ("system", USERS),
                "levels": (level, 8),
                "against": ("plain", 2),
                "aliases": (),
            }
        )
        for level in ("faulty", "delay")
    ]
    return found.model_copy(
        update={
            "factors": {"system": levels, **{k: v for k, v in FACTORS.items() if k != SYNC}},
            "effects": (*own, *rest, *pairs),
            "system": None,
            "shares": (),
            "pairs": (),
        }
    )
