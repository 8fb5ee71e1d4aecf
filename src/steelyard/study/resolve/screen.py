"""The two-level screening of a study: its system, its factors and their levels."""

from __future__ import annotations

from collections.abc import Mapping

from steelyard.study.file.complaints import Complaints, choice_hint
from steelyard.study.file.grammar import ScreenPart, StudyFile
from steelyard.study.file.source import Where
from steelyard.study.fractions import MOST_FACTORS, MOST_FULL
from steelyard.study.model import (
    ScreenSpec,
    SystemSpec,
)
from steelyard.study.resolve.settings import Factors, read_levels
from steelyard.study.resolve.workloads.load import bindable, bound_setting

_MOST_HARD = 3


def resolve_screen(
    file: StudyFile, systems: Mapping[str, SystemSpec], complaints: Complaints
) -> ScreenSpec | None:
    """Two-level screening; every factor must bind and have two levels."""
    part = file.screen
    if part is None:
        return None
    if part.system not in systems:
        hint = choice_hint(part.system, systems, "systems")
        complaints.add(("screen", "system"), f"there is no system `{part.system}`", hint)
    factors = {}
    for name, written in part.factors.items():
        where: Where = ("screen", "factors", name)
        setting = bound_setting(name, file, systems, complaints)
        if setting is None:
            hint = choice_hint(name, bindable(file, systems, complaints), "factors of this study")
            complaints.add(
                where, f"factor `{name}` matches no setting of this study", hint, at_key=True
            )
            continue
        levels = read_levels(written, setting, where, complaints)
        if len(levels) != 2:
            complaints.add(
                where, "a screened factor needs exactly two levels", "give exactly two levels"
            )
        factors[name] = levels
    _check_screen(file, part, factors, complaints)
    hard = tuple(name for name in part.hard_to_change or () if name in factors)
    return ScreenSpec(system=part.system, factors=factors, hard_to_change=hard)


def _check_screen(
    file: StudyFile, part: ScreenPart, factors: Factors, complaints: Complaints
) -> None:
    if not 2 <= len(part.factors) <= MOST_FACTORS:
        hint = f"name two factors at least and {MOST_FACTORS} at most"
        message = f"{len(part.factors)} factors cannot be screened"
        complaints.add(("screen", "factors"), message, hint, at_key=True)
    hard = part.hard_to_change or []
    for i, name in enumerate(hard):
        if name not in part.factors:
            hint = choice_hint(name, part.factors, "factors of the screen")
            complaints.add(("screen", "hard_to_change", i), f"`{name}` is not screened", hint)
    other = "load.users" if file.load is not None and file.load.rate is not None else "load.rate"
    if other in factors:
        hint = "give `users` or `rate` under `load`, and screen that one"
        message = f"`{other}` is not how this study gives its load"
        complaints.add(("screen", "factors", other), message, hint, at_key=True)
    if factors and set(factors) <= set(hard):
        hint = "leave one out: some factor must vary while these keep their levels"
        message = "all factors are hard to change"
        complaints.add(("screen", "hard_to_change"), message, hint, at_key=True)
    if len(factors) > MOST_FULL and len(hard) > _MOST_HARD:
        hint = f"with more than {MOST_FULL} factors, at most {_MOST_HARD} can be hard to change"
        message = "too many factors are hard to change"
        complaints.add(("screen", "hard_to_change"), message, hint, at_key=True)
