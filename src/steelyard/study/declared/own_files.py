"""Files of a user's own next to a study: platforms and services, found by path or by name.

``./mine.yaml`` names a file, ``mine`` the file ``mine.yaml`` in the folder of its kind next to the
study. The folder of a run keeps copies in a folder of that name, where they are found again.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Generic, TypeVar

from pydantic import BaseModel, ValidationError

from steelyard.errors import Complaint, StudyError
from steelyard.study import catalogue
from steelyard.study.catalogue import Shelf
from steelyard.study.file.complaints import Complaints, add_validation, choice_hint
from steelyard.study.file.old_keys import rename_old_keys
from steelyard.study.file.source import file_bytes, parse_source, read_source

Entry = TypeVar("Entry", bound=BaseModel)
_KEPT_TEXTS = 64


@dataclass(frozen=True)
class OwnFiles(Generic[Entry]):
    """One kind of such files. ``shelf`` is their folder, and that of the catalogue,
    ``slug`` names the error of a wrong one.

    ``check`` adds every mistake of a file whose keys and kinds of values are right already,
    ``refused`` those of keys that only the catalogue's files may have.
    """

    shelf: Shelf
    slug: str
    model: type[Entry]
    shipped: Callable[[str], Entry]
    check: Callable[[Entry, Complaints], None]
    refused: Callable[[Complaints], None] = lambda _complaints: None

    @property
    def noun(self) -> str:
        """One of them, in a message."""
        return self.shelf.removesuffix("s")

    def find(self, name: str, study: Path) -> Path | None:
        """The user's own file that a study means with this name, if there is one.

        ``study`` is the study's file or folder. A name of the catalogue never means a file.
        """
        folder = study if study.is_dir() else study.parent
        if name in catalogue.names(self.shelf):
            return None
        if is_path(name):
            found = [folder / name, folder / self.shelf / Path(name).name]
        else:
            found = [folder / self.shelf / f"{name}.yaml"]
        return next(filter(_is_file, found), None)

    def named(self, name: str, study: Path) -> tuple[Entry, str | None] | None:
        """What a study means by a name, and the text of the file if it is the user's own.

        Raises:
            StudyError: the user's own file is wrong.
        """
        if name in catalogue.names(self.shelf):
            return self.shipped(name), None
        file = self.find(name, study)
        return None if file is None else (self.read(file), file.read_text(encoding="utf-8"))

    def asked(self, name: str, folder: Path) -> Entry:
        """What somebody means by a name who wants to see it.

        Raises:
            StudyError: the user's own file is wrong, or there is none.
        """
        named = self.named(name, folder)
        if named is not None:
            return named[0]
        hint = choice_hint(name, catalogue.names(self.shelf), self.shelf)
        message = f"there is no such {self.noun} or file"
        raise self._wrong([Complaint(Path(name), 1, 1, message, hint)])

    def read(self, path: Path) -> Entry:
        """One from a file of its own.

        Raises:
            StudyError: every mistake in it, with line and column.
        """
        try:
            raw = file_bytes(path)
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            complaint = Complaint(path, 1, 1, f"cannot be read: {reason}", "check the path")
            raise self._wrong([complaint]) from None
        return self.parse(raw, path)

    def parse(self, raw: bytes, path: Path) -> Entry:
        """The same from bytes; ``path`` is only named in complaints."""
        try:
            source = parse_source(raw, path, what=self.noun)
        except StudyError as error:
            raise self._wrong(error.complaints) from None
        rename_old_keys(source, self.noun)
        complaints = Complaints(source)
        self.refused(complaints)
        entry = self._validated(complaints)
        if entry is not None:
            self.check(entry, complaints)
        if entry is None or complaints:
            raise self._wrong(complaints.ordered())
        return entry

    def renamed_keys(self, path: Path) -> list[Complaint]:
        """A notice for each old key of a file that can be read."""
        return rename_old_keys(read_source(path, self.noun), self.noun)

    def known(self, name: str, text: str | None) -> Entry | None:
        """As :meth:`of`; ``None`` when a study names one that is not there."""
        there = text is not None or name in catalogue.names(self.shelf)
        return self.of(name, text) if there else None

    def of(self, name: str, text: str | None) -> Entry:
        """The one that a study read: of the catalogue, or of the text of the user's own file."""
        return self.shipped(name) if text is None else self._parsed(text)

    def kept_name(self, name: str) -> str:
        """The file that a run keeps a copy in, from the folder of the run."""
        return f"{self.shelf}/{Path(name).name if is_path(name) else f'{name}.yaml'}"

    @cached_property
    def _parsed(self) -> Callable[[str], Entry]:
        def parsed(text: str) -> Entry:
            return self.parse(text.encode(), Path(f"{self.noun}.yaml"))

        return lru_cache(_KEPT_TEXTS)(parsed)

    def _validated(self, complaints: Complaints) -> Entry | None:
        try:
            return self.model.model_validate(complaints.source.tree)
        except ValidationError as error:
            add_validation(complaints, error, self.model)
            return None

    def _wrong(self, complaints: list[Complaint]) -> StudyError:
        return StudyError(complaints, slug=self.slug)


def _is_file(path: Path) -> bool:
    """No name is too long for the question, as it is for ``Path.is_file``."""
    with suppress(OSError):
        return path.is_file()
    return False


def is_path(name: str) -> bool:
    """Whether a name means a file by where it is."""
    return "/" in name or name.endswith((".yaml", ".yml"))
