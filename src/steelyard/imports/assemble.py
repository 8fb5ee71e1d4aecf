"""Which results are of which system, and which trials are repetitions of one another. Pure."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from steelyard.errors import Complaint, StudyError
from steelyard.imports.kind import Kind
from steelyard.imports.numbers import Values
from steelyard.imports.reading import Result, ResultFile
from steelyard.imports.record import ImportedTrial
from steelyard.records.missing import Missing
from steelyard.study.model import Level


@dataclass(frozen=True)
class _Placed:
    """The results of one system in one file, which counts from 1."""

    system: str
    file: int
    conditions: dict[str, Level]
    trials: tuple[Values, ...]
    missing: dict[str, Missing]


def trials_of(
    files: Sequence[ResultFile], names: Sequence[str], kind: Kind
) -> tuple[ImportedTrial, ...]:
    """Every trial, those of one visit one after the other.

    The k-th trials of a system at each condition are one visit.

    Raises:
        StudyError: files and systems do not fit, a file is named twice, or conditions differ
            between systems.
    """
    _refuse_repeated(files)
    placed = list(_placed(files, names, kind))
    _refuse_lacking(files, placed, names)
    known: Counter[tuple[str, tuple[tuple[str, Level], ...]]] = Counter()
    found: list[tuple[int, str, _Placed, Values]] = []
    for each in placed:
        for values in each.trials:
            cell = (each.system, tuple(each.conditions.items()))
            known[cell] += 1
            found.append((known[cell], each.system, each, values))
    order = list(dict.fromkeys(names))
    found.sort(key=lambda one: (order.index(one[1]), one[0]))
    visits = {key: i for i, key in enumerate(dict.fromkeys((s, k) for k, s, *_ in found), start=1)}
    return tuple(
        ImportedTrial(
            trial=number,
            visit=visits[system, repetition],
            system=system,
            conditions=each.conditions,
            file=each.file,
            values=values,
            missing={name: why for name, why in each.missing.items() if name not in values},
        )
        for number, (repetition, system, each, values) in enumerate(found, start=1)
    )


def left_out_of(files: Sequence[ResultFile], names: Sequence[str]) -> dict[str, int]:
    """How many trials the files hold of each system that was not named."""
    if _deciding(files, names) is None:
        return {}
    found = Counter[str]()
    for result in (each for file in files for each in file.results):
        if result.system is not None and result.system not in names:
            found[result.system] += len(result.trials)
    return dict(found)


def _placed(files: Sequence[ResultFile], names: Sequence[str], kind: Kind) -> Iterator[_Placed]:
    rows = kind.rows
    if rows is not None and rows.systems and len(files) == 1 and len(names) > 1:
        results = files[0].results
        if len(results) != len(names):
            shown = ", ".join(f"`{result.name}`" for result in results)
            message = f"{len(results)} results and {len(names)} systems: {shown}"
            raise _wrong(files[0], message, "name one system for each result, in their order")
        for name, result in zip(names, results, strict=True):
            yield _Placed(name, 1, result.conditions, result.trials, result.missing)
        return
    several = any(len(file.results) > 1 for file in files)
    if (named := _deciding(files, names)) is not None:
        _refuse_unknown(files[0], names, named)
        for number, file in enumerate(files, 1):
            for result in file.results:
                if result.system is not None and result.system in names:
                    conditions = _conditions(result, kind, several=several)
                    yield _Placed(result.system, number, conditions, result.trials, result.missing)
        return
    for number, (file, system) in enumerate(zip(files, _systems(files, names), strict=True), 1):
        for result in file.results:
            conditions = _conditions(result, kind, several=several)
            yield _Placed(system, number, conditions, result.trials, result.missing)


def _refuse_repeated(files: Sequence[ResultFile]) -> None:
    named = Counter(file.path.resolve() for file in files)
    for file in files:
        if named[file.path.resolve()] > 1:
            raise _wrong(file, "is named twice", "name each file once: a trial counts once")
    first: dict[str, ResultFile] = {}
    for file in files:
        if (other := first.setdefault(file.sha256, file)) is not file:
            message = f"holds the same as {other.path}, byte for byte"
            hint = "it is a copy, and a trial counts once: give the file that was meant, or one"
            raise _wrong(file, message, hint)


def _named(files: Sequence[ResultFile]) -> set[str] | None:
    """The systems that the files themselves name, if they do."""
    found = {result.system for file in files for result in file.results}
    return None if None in found else {name for name in found if name is not None}


def _deciding(files: Sequence[ResultFile], names: Sequence[str]) -> set[str] | None:
    """The same where they decide which result is whose; ``None`` where the files' places do."""
    named = _named(files)
    return named if named is not None and (set(names) <= named or len(files) < 2) else None


def _refuse_unknown(file: ResultFile, names: Sequence[str], named: set[str]) -> None:
    for name in names:
        if name not in named:
            shown = ", ".join(f"`{each}`" for each in sorted(named))
            raise _wrong(file, f"has nothing of `{name}`", f"it holds the systems {shown}")


def _conditions(result: Result, kind: Kind, *, several: bool) -> dict[str, Level]:
    if kind.rows is None or result.name is None or not several:
        return result.conditions
    return {kind.rows.condition: result.name, **result.conditions}


def _systems(files: Sequence[ResultFile], names: Sequence[str]) -> list[str]:
    """By place where there is a name for each file, else by the name that the file's name holds."""
    held = [[name for name in dict.fromkeys(names) if name in file.path.name] for file in files]
    if len(files) == len(names):
        for file, name, of in zip(files, names, held, strict=True):
            if of and name not in of:
                message = f"stands where `{name}` does, and its name says `{of[0]}`"
                raise _wrong(file, message, "name the systems in the order of their files")
        return list(names)
    for file, of in zip(files, held, strict=True):
        if len(of) != 1:
            said = "none" if not of else "more than one"
            message = f"its name holds {said} of the systems {', '.join(names)}"
            hint = "give one name for each file, or files whose names hold that of their system"
            raise _wrong(file, message, hint)
    return [of[0] for of in held]


def _refuse_lacking(
    files: Sequence[ResultFile], placed: Sequence[_Placed], names: Sequence[str]
) -> None:
    """What one system was measured under, all must be."""
    seen: dict[str, dict[tuple[tuple[str, Level], ...], int]] = {name: {} for name in names}
    for each in placed:
        seen[each.system].setdefault(tuple(each.conditions.items()), each.file)
    for name, other in itertools.permutations(seen, 2):
        for condition, file in seen[name].items():
            if condition not in seen[other]:
                said = ", ".join(f"{key} {value}" for key, value in condition) or "this result"
                message = f"has {said} of {name}, and there is none of {other}"
                raise _wrong(files[file - 1], message, "give files that hold the same results")


def _wrong(file: ResultFile, message: str, hint: str) -> StudyError:
    return StudyError([Complaint(file.path, 1, 1, message, hint)], slug="imported-file-is-wrong")
