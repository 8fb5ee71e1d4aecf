"""The platforms that a study names: of the catalogue, or files of the user's own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from steelyard.errors import StudyError
from steelyard.study import catalogue
from steelyard.study.catalogue import Platform
from steelyard.study.file.complaints import Complaints, choice_hint
from steelyard.study.file.grammar import StudyFile
from steelyard.study.platforms.own import platform_named
from steelyard.study.setting import Setting


@dataclass(frozen=True)
class NamedPlatform:
    """A platform, and the text of its file if that is not of the catalogue."""

    entry: Platform
    text: str | None

    @property
    def settings(self) -> Mapping[str, Setting]:
        return self.entry.settings


def named_platforms(file: StudyFile, complaints: Complaints) -> dict[str, NamedPlatform]:
    """Every platform by the name a study gives it, without those that are not there or wrong."""
    found: dict[str, NamedPlatform] = {}
    for system, part in file.systems.items():
        try:
            named = platform_named(part.platform, complaints.source.path)
        except StudyError as error:
            complaints.found |= set(error.complaints)
            continue
        if named is None:
            hint = choice_hint(part.platform, catalogue.names("platforms"), "platforms")
            hint += "; a file of your own is named by its path, as `./mine.yaml`"
            message = f"there is no platform `{part.platform}`"
            complaints.add(("systems", system, "platform"), message, hint)
        else:
            found[part.platform] = NamedPlatform(*named)
    return found
