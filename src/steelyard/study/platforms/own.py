"""Platforms of a user's own: files beside the study, found by path or by name.

``platform: ./my.yaml`` names a file, ``platform: mine`` the file ``platforms/mine.yaml``. The
folder of a run keeps copies in its own ``platforms``, where they are found again.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from pydantic import ValidationError

from steelyard.errors import Complaint, StudyError
from steelyard.study import catalogue
from steelyard.study.catalogue import Platform
from steelyard.study.file.complaints import Complaints, add_validation
from steelyard.study.file.source import Source, parse_source
from steelyard.study.model import SystemSpec
from steelyard.study.platforms.check import check

FOLDER = "platforms"


def own_file(name: str, study: Path) -> Path | None:
    """The user's own file that a study means with this name, if there is one.

    ``study`` is the study's file or folder. A name of the catalogue never means a file.
    """
    beside = study if study.is_dir() else study.parent
    if name in catalogue.names("platforms"):
        return None
    if "/" in name or name.endswith((".yaml", ".yml")):
        found = [beside / name, beside / FOLDER / Path(name).name]
    else:
        found = [beside / FOLDER / f"{name}.yaml"]
    return next((file for file in found if file.is_file()), None)


def platform_named(name: str, study: Path) -> tuple[Platform, str | None] | None:
    """What a study means by a platform's name, and the text of the file if it is the user's own.

    Raises:
        StudyError: the user's own file is wrong.
    """
    if name in catalogue.names("platforms"):
        return catalogue.platform(name), None
    file = own_file(name, study)
    if file is None:
        return None
    platform = read_platform(file)
    return platform, file.read_text(encoding="utf-8")


def read_platform(path: Path) -> Platform:
    """A platform from a file of its own.

    Raises:
        StudyError: every mistake in it, with line and column.
    """
    try:
        raw = path.read_bytes()
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        complaint = Complaint(path, 1, 1, f"cannot be read: {reason}", "check the path")
        raise _wrong([complaint]) from None
    return parse_platform(raw, path)


def _wrong(complaints: list[Complaint]) -> StudyError:
    return StudyError(complaints, slug="platform-file-is-wrong")


def parse_platform(raw: bytes, path: Path) -> Platform:
    """The same from bytes; ``path`` is only named in complaints."""
    try:
        source = parse_source(raw, path, what="platform")
    except StudyError as error:
        raise _wrong(error.complaints) from None
    complaints = Complaints(source)
    platform = _validated(source, complaints)
    if platform is not None:
        check(platform, complaints)
    if complaints:
        raise _wrong(complaints.ordered())
    assert platform is not None  # noqa: S101 - without complaints there is one
    return platform


def _validated(source: Source, complaints: Complaints) -> Platform | None:
    try:
        return Platform.model_validate(source.tree)
    except ValidationError as error:
        add_validation(complaints, error, Platform)
        return None


@cache
def _parsed(text: str) -> Platform:
    return parse_platform(text.encode(), Path("platform.yaml"))


def known_platform(spec: SystemSpec) -> Platform | None:
    """As :func:`platform_of`; ``None`` when the study names a platform that is not there."""
    known = spec.platform_text is not None or spec.platform in catalogue.names("platforms")
    return platform_of(spec) if known else None


def platform_of(spec: SystemSpec) -> Platform:
    """The platform that a system lives on: of the catalogue, or the user's own."""
    if spec.platform_text is None:
        return catalogue.platform(spec.platform)
    return _parsed(spec.platform_text)


def own_texts(systems: Mapping[str, SystemSpec]) -> dict[str, str]:
    """Texts of the user's own platforms by the file name that a run keeps them under."""
    own = [spec for spec in systems.values() if spec.platform_text is not None]
    return {_kept_name(spec.platform): spec.platform_text or "" for spec in own}


def _kept_name(platform: str) -> str:
    name = Path(platform).name
    return name if "/" in platform or name.endswith((".yaml", ".yml")) else f"{name}.yaml"
