"""What a study means by a platform: one of the catalogue, or a file of the user's own."""

from __future__ import annotations

from collections.abc import Iterable

from steelyard.study import catalogue
from steelyard.study.catalogue import Platform
from steelyard.study.model import SystemSpec
from steelyard.study.own_files import OwnFiles
from steelyard.study.platforms.check import check

FILES = OwnFiles(
    shelf="platforms",
    slug="platform-file-is-wrong",
    model=Platform,
    shipped=catalogue.platform,
    check=check,
)
own_file, platform_named, read_platform = FILES.find, FILES.named, FILES.read


def known_platform(spec: SystemSpec) -> Platform | None:
    """As :func:`platform_of`; ``None`` when the study names a platform that is not there."""
    return FILES.known(spec.platform, spec.platform_text)


def platform_of(spec: SystemSpec) -> Platform:
    """The platform that a system lives on: of the catalogue, or the user's own."""
    return FILES.of(spec.platform, spec.platform_text)


def own_texts(systems: Iterable[SystemSpec]) -> dict[str, str]:
    """Texts of the user's own platforms by the path that a run keeps them under."""
    own = {spec.platform: spec.platform_text for spec in systems}
    return {FILES.kept_name(name): text for name, text in own.items() if text is not None}
