"""Reads a study file: all of it, with every mistake at once.

A file that pydantic refuses is still checked further: the refused parts are taken out and the
rest is resolved, so that an author sees all mistakes in one run.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable
from pathlib import Path

from pydantic import ValidationError

from steelyard.errors import Complaint, StudyError
from steelyard.study.checks.budget import check_budget
from steelyard.study.checks.generators import check_generators
from steelyard.study.checks.questions import check_asked
from steelyard.study.checks.study_folder import check_notes, check_study_folder
from steelyard.study.checks.support import missing_parts
from steelyard.study.checks.systems_beside import check_systems_beside
from steelyard.study.file.complaints import Complaints, add_validation, dotted
from steelyard.study.file.grammar import StudyFile
from steelyard.study.file.old_keys import rename_old_keys
from steelyard.study.file.source import Source, Where, parse_source, read_source
from steelyard.study.file.variants import overlaid, variant_names, with_variant
from steelyard.study.machines import on_machine, parts_of
from steelyard.study.model import Study
from steelyard.study.resolve.study import resolve_study

_STAND_INS: dict[str, object] = {
    "study": "unnamed",
    "question": "?",
    "trials": {"margin": "1 %", "budget": {"time": "300 d"}},
}
_MOST_ROUNDS = 20


def read_study(path: Path, *, variant: str | None = None, machine: str | None = None) -> Study:
    """The study of a file, or of a folder that holds ``study.yaml``, or its part on a machine.

    Checks the grammar of the whole file, all variants included. Raises ``StudyError`` with every
    mistake, in the order of the file.
    """
    return on_machine(_checked(_read(path), variant), machine)


def read_study_bytes(raw: bytes, path: Path, *, variant: str | None = None) -> Study:
    """The same from bytes, such as the copy kept with a run; ``path`` is named in complaints."""
    source = parse_source(raw, path)
    rename_old_keys(source)
    return _checked(source, variant)


def read_runnable_study(path: Path, *, variant: str | None = None) -> Study:
    """The same, and refuses with ``StudyError`` what this version cannot run yet, and what of the
    study is not beside its file.
    """
    study, complaints = read_with_lacking(path, variant=variant)
    if complaints:
        raise StudyError(complaints, slug="not-in-this-version")
    beside = Complaints(_chosen(_read(path), variant))
    check_notes(study, beside)
    if beside:
        raise StudyError(beside.ordered())
    return study


def read_with_lacking(path: Path, *, variant: str | None = None) -> tuple[Study, list[Complaint]]:
    """The study, and what of it this version cannot run yet, each with its place."""
    source = _read(path)
    study = _checked(source, variant)
    return study, _lacking(study, _chosen(source, variant)).ordered()


def renamed_keys(path: Path) -> list[Complaint]:
    """A notice for each key of a study file that has a new name, in the order of the file."""
    return rename_old_keys(read_source(path))


def _chosen(source: Source, variant: str | None) -> Source:
    return source if variant is None else with_variant(source, variant)


def _checked(source: Source, variant: str | None) -> Study:
    study, found = _resolved(source)
    for name in variant_names(source):
        chosen, more = _variant(source, name)
        found |= more
        study = chosen if name == variant else study
    if variant is not None and variant not in variant_names(source):
        with_variant(source, variant)
    if found or study is None:
        raise StudyError(sorted(found))
    return study


def _read(path: Path) -> Source:
    source = read_source(path)
    rename_old_keys(source)
    return source


def _variant(source: Source, name: str) -> tuple[Study | None, set[Complaint]]:
    changed, complaints = overlaid(source, name)
    study, found = _resolved(changed)
    return study, found | set(complaints)


def _resolved(source: Source) -> tuple[Study | None, set[Complaint]]:
    complaints = Complaints(source)
    file = _parsed(source, complaints)
    study = None if file is None else resolve_study(file, complaints)
    if study is not None and not complaints:
        check_asked(study, complaints)
        check_generators(study, complaints)
        check_study_folder(study, complaints)
        check_systems_beside(study, complaints)
    if study is not None and not complaints and not _lacking(study, source):
        check_budget(next(iter(parts_of(study).values()), study), complaints)
    return study, complaints.found


def _lacking(study: Study, source: Source) -> Complaints:
    complaints = Complaints(source)
    missing_parts(study, complaints)
    return complaints


def _parsed(source: Source, complaints: Complaints) -> StudyFile | None:
    """The file as written, without the parts that were complained about."""
    tree = copy.deepcopy(source.tree)
    _complain_of_empty(source.tree, (), complaints)
    for round_ in range(_MOST_ROUNDS):
        try:
            return StudyFile.model_validate(tree)
        except ValidationError as error:
            if round_ == 0:
                add_validation(complaints, error, StudyFile)
            for detail in error.errors(include_url=False):
                _take_out(tree, tuple(detail["loc"]), missing=detail["type"] == "missing")
    return None


def _complain_of_empty(part: object, where: Where, complaints: Complaints) -> None:
    """A key without a value is a slip, but for a response, which needs none."""
    if part is None and where[:1] != ("responses",):
        name = dotted(where)
        hint = "write a value after the colon, or take the key out"
        complaints.add(where, f"`{name}` has no value", hint, at_key=True)
    items: Iterable[tuple[str | int, object]] = part.items() if isinstance(part, dict) else ()
    items = enumerate(part) if isinstance(part, list) else items
    for key, value in items:
        if where or key != "variants":
            _complain_of_empty(value, (*where, key), complaints)


def _take_out(tree: dict[str, object], where: Where, *, missing: bool) -> None:
    """Removes what is wrong; the part around it when something is missing there."""
    where = where[:-1] if where and where[-1] == "[key]" else where
    if missing and len(where) > 1:
        where = where[:-1]
    if where[0] in _STAND_INS and (len(where) == 1 or where == ("trials", "margin")):
        tree[str(where[0])] = copy.deepcopy(_STAND_INS[str(where[0])])
        return
    part: object = tree
    for key in where[:-1]:
        part = _inner(part, key)
    if isinstance(part, dict):
        part.pop(where[-1], None)
    elif isinstance(part, list) and isinstance(where[-1], int):
        del part[where[-1] : where[-1] + 1]


def _inner(part: object, key: str | int) -> object:
    if isinstance(part, list):
        return part[key] if isinstance(key, int) and key < len(part) else None
    return part.get(key) if isinstance(part, dict) else None
