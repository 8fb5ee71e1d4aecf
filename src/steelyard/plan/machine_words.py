"""The plans of several machines in words: what they have in common once, then each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from steelyard.plan.make import Planned
from steelyard.plan.model import Plan
from steelyard.plan.trial_words import takes
from steelyard.units import format_share


def machines_lines(
    whole: Plan, parts: Mapping[str, Planned], lines_of: Mapping[str, Sequence[str]]
) -> list[str]:
    """``lines_of`` are those of each plan by itself, as ``plan_lines`` has them."""
    first, *others = lines_of.values()
    shared = [line for line in first if all(line in own for own in others)]
    study, plan = next(iter(parts.values()))
    total_s = sum(part.plan.forecast.total_s for part in parts.values())
    alpha = format_share(study.trials.alpha * len(parts))
    lines = [
        *shared,
        "",
        f"  {len(parts)} machines, and the figures above are of one: {', '.join(parts)}",
        "  each carries all systems in a random order of its own; they take turns, visit by visit",
        f"  all machines: {takes(study, plan, total_s)} at most; seed {whole.seed}",
        f"  false verdicts at most {alpha} on all of these, and as many on any of them",
    ]
    for name, own in lines_of.items():
        lines += ["", f"  on {name}", *(f"  {line}" for line in own if line not in shared)]
    return lines
