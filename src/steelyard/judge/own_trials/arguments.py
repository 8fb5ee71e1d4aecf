"""What may be asked of ``judge_trials``: every argument that makes no sense is refused."""

from __future__ import annotations

from typing import get_args

from steelyard.inference.assumption import Engine, assumption_of
from steelyard.inference.randomisation import PATHS
from steelyard.judge.own_trials.rows import DESIGNS, Design, TrialsError

DEFAULT_BUDGET = 96


def budget_of(budget: int | None, visits: int, systems: int) -> int:
    if budget is None:
        return max(visits, DEFAULT_BUDGET * systems // 2)
    if budget <= 0 or visits > 2 * budget:
        raise TrialsError(
            f"{visits} visits of a budget of {budget}",
            "a budget may be extended once, to at most twice; give the one that was fixed before "
            "the first trial",
            argument="budget",
        )
    return budget


def refuse_arguments(design: str, direction: str, margin: float, alpha: float, paths: int) -> None:
    choices = {"design": (design, DESIGNS), "direction": (direction, ("higher", "lower"))}
    for argument, (value, known) in choices.items():
        if value not in known:
            raise TrialsError(f"`{argument}` is {value!r}", f"it is one of {', '.join(known)}")
    if not 0 < margin < 10:
        raise TrialsError(
            f"`margin` is {margin:g}",
            "a share above 0 and below 10, that is 1000 %: 0.02 is 2 %",
            argument="margin",
        )
    if not 0 < alpha <= 0.5:
        raise TrialsError(f"`alpha` is {alpha}", "an error rate above 0 and at most 0.5")
    if paths < 100:
        raise TrialsError(f"`paths` is {paths}", f"at least 100; a study uses {PATHS:,}")


def refuse_engine(
    engine: Engine, design: Design, trials: int, budget: int | None, *, has_covariate: bool
) -> None:
    if engine not in get_args(Engine):
        raise TrialsError(f"`engine` is {engine!r}", f"it is one of {', '.join(get_args(Engine))}")
    assumption = assumption_of(engine)
    if assumption.in_pairs and design != "pairs":
        raise TrialsError(
            f"the engine `{engine}` judges pairs, and the design is `{design}`",
            "leave out the engine: the exact one judges any order that was drawn",
        )
    if not assumption.extensible and budget is not None and trials > budget:
        raise TrialsError(
            f"{trials} trials of a budget of {budget}",
            f"the engine `{engine}` keeps nothing for an extension",
        )
    if has_covariate and not assumption.adjusts:
        raise TrialsError(
            f"the engine `{engine}` takes no covariate", "leave out the engine or the covariate"
        )
