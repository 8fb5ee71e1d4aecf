"""Documents of a run: JSON of this schema version, or of an earlier one as this version has it."""

from __future__ import annotations

import gc
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from steelyard.errors import RecordError
from steelyard.records.files.migration import Document

_Model = TypeVar("_Model", bound=BaseModel)
VERSION = 2
"""The schema version of run facts, plans and records that are written."""
RESTORE = "it is damaged; restore the run from a backup"
LATER = "read it with a later steelyard: run.json names the version that wrote it"


def document_of(data: bytes, path: Path) -> dict[str, Any]:
    """A JSON object; ``path`` is named when it is none."""
    try:
        return dict(json.loads(data))
    except (ValueError, TypeError, RecursionError) as error:
        raise RecordError(
            f"{path}: {error}",
            hint=RESTORE,
            slug="record-is-damaged",
        ) from error


def read_bytes(path: Path) -> bytes:
    """A file that has to be there.

    Raises:
        RecordError: it is not.
    """
    try:
        return path.read_bytes()
    except FileNotFoundError as error:
        raise RecordError(
            f"{path} is missing",
            hint="the run is not whole; restore it from a backup or start a new one",
            slug="record-is-damaged",
        ) from error


@contextmanager
def uncollected() -> Iterator[None]:
    """Without looking for cycles meanwhile, which takes as long as reading a million objects."""
    looked_for = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if looked_for:
            gc.enable()


def parsed(
    data: bytes, path: Path, model: type[_Model], of_1: Callable[[Document], Document]
) -> _Model:
    """A document of this version, or of version 1 as this version has it; ``path`` is named.

    Raises:
        RecordError: it is damaged, or a later version wrote it.
    """
    try:
        return model.model_validate_json(data)
    except ValidationError as error:
        document = document_of(data, path)
        version = document.get("schema_version")
        if version == 1:
            return _migrated(path, document, model, of_1)
        if isinstance(version, int) and version != VERSION:
            raise _unknown_version(path, version) from error
        if all(each["type"] == "extra_forbidden" for each in error.errors()):
            raise _unknown_field(path, error) from error
        raise _damaged(path, error) from error


def _migrated(
    path: Path, document: Document, model: type[_Model], of_1: Callable[[Document], Document]
) -> _Model:
    try:
        return model.model_validate(of_1(document))
    except ValidationError as error:
        raise _damaged(path, error) from error
    except (KeyError, TypeError, AttributeError) as error:
        raise RecordError(
            f"{path}: it is not a document of schema version 1: {error!r}",
            hint=RESTORE,
            slug="record-is-damaged",
        ) from error


def _unknown_version(path: Path, version: int) -> RecordError:
    return RecordError(
        f"{path} has schema version {version}; this steelyard reads versions 1 to {VERSION}",
        hint=LATER,
        slug="record-version-unknown",
    )


def _unknown_field(path: Path, error: ValidationError) -> RecordError:
    """Of a document that is what was written, and has more than this version knows."""
    name = ".".join(str(part) for part in error.errors()[0]["loc"])
    return RecordError(
        f"{path} has `{name}`, which this steelyard does not know",
        hint=LATER,
        slug="record-version-unknown",
    )


def _damaged(path: Path, error: ValidationError) -> RecordError:
    first = error.errors()[0]
    place = ".".join(str(part) for part in first["loc"]) or "the document"
    return RecordError(f"{path}: {place}: {first['msg']}", hint=RESTORE, slug="record-is-damaged")
