"""The files of tuned's profiles that a study names: each is read once, or complained about."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from steelyard.study.declared.tuned_profiles import SETTING, ProfileError, is_own, read_profile
from steelyard.study.file.complaints import Complaints
from steelyard.study.file.grammar import StudyFile
from steelyard.study.file.source import Where
from steelyard.study.model import ScreenSpec, SystemSpec
from steelyard.study.resolve.settings import Factors

_PLACES = ("settings", "host_settings")
Named = tuple[str, Where]


def resolve_profiles(
    file: StudyFile,
    systems: Mapping[str, SystemSpec],
    factors: Factors,
    screen: ScreenSpec | None,
    complaints: Complaints,
) -> dict[str, str]:
    """Texts by the path that the study names; one that cannot be read is a mistake at its place."""
    texts: dict[str, str] = {}
    named = [*_of_systems(file, systems), *_of_factors(factors, ("factors",))]
    named += _of_factors({} if screen is None else screen.factors, ("screen", "factors"))
    for name, where in named:
        try:
            texts[name] = read_profile(name, complaints.source.path)
        except ProfileError as error:
            hint = "name the file of a profile, a tuned.conf, by its path from the study"
            message = f"the tuned profile `{name}` cannot be read: {error}"
            complaints.add(where, message, hint)
    return texts


def _of_systems(file: StudyFile, systems: Mapping[str, SystemSpec]) -> Iterator[Named]:
    for name, system in systems.items():
        part = file.systems[name]
        for place, own, levels in (
            ("settings", part.settings, system.inside),
            ("host_settings", part.host_settings, system.outside),
        ):
            above: Where = ("defaults",) if own is None else ("systems", name)
            level = levels.get(SETTING)
            if is_own(level):
                yield level, (*above, place, SETTING)


def _of_factors(factors: Factors, above: Where) -> Iterator[Named]:
    for place in _PLACES:
        factor = f"{place}.{SETTING}"
        for number, level in enumerate(factors.get(factor, ())):
            if is_own(level):
                yield level, (*above, factor, number)
