"""How a file that holds several results is taken apart: by name, each with its part. Pure."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from steelyard.imports.kind import Kind, Rows
from steelyard.imports.output import NotThereError, Printed
from steelyard.study.declared.json_path import as_text, values_at
from steelyard.study.workload.metric import Look

SOURCE = "stdout"
_ROW_NAME = "name"


def printed(kind: Kind, text: str, document: object = None) -> Printed:
    """The same text whatever stream or file the catalogue reads it from."""
    looks: list[Look] = [*kind.holds, *kind.metrics.values(), *kind.refuses]
    looks += kind.conditions.values()
    looks += [part for m in kind.metrics.values() for part in (m.per, m.needs) if part is not None]
    sources = {look.source for look in looks} | {t.source for t in kind.tables.values()} | {SOURCE}
    documents = {} if document is None else dict.fromkeys(sources, document)
    return Printed(dict.fromkeys(sources, text), kind.tables, str, {}, documents, is_file=True)


class Part(NamedTuple):
    """One result: its name, the system that it says it is of, what it holds, and its rows."""

    name: str | None
    system: str | None
    printed: Printed
    rows: tuple[object, ...] = ()


def parts_of(kind: Kind, rows: Rows, text: str, document: object) -> Iterator[Part]:
    """The rows of a file; of one name several, as where a benchmark was repeated.

    Raises:
        NotThereError: a row lacks what names it, or there are no rows at all.
    """
    found = list(_lines(rows, text) if rows.pattern is not None else _items(rows, document))
    if rows.matches is not None:
        found = [(name, item) for name, item in found if re.search(rows.matches, name or "")]
    counts = Counter((name, _system(item, rows)) for name, item in found)
    twice = next((name for (name, _), count in counts.items() if count > 1), None)
    if rows.unique is not None and twice is not None:
        raise NotThereError(f"several results are called `{twice}`: {rows.unique}")
    if rows.together:
        grouped: dict[str | None, list[object]] = {}
        for name, item in found:
            grouped.setdefault(name, []).append(item)
        found = list(grouped.items())
    for name, item in found:
        whole = printed(kind, f"{item}\n") if isinstance(item, str) else printed(kind, "", item)
        held = tuple(item) if rows.together and isinstance(item, list) else (item,)
        yield Part(name, _system(item, rows), whole, held)


def _system(item: object, rows: Rows) -> str | None:
    return None if rows.system is None else _name(item, (rows.system,))


def _lines(rows: Rows, text: str) -> Iterator[tuple[str | None, object]]:
    above = [] if rows.above is None else list(re.finditer(rows.above, text, re.MULTILINE))
    for match in re.finditer(rows.pattern or "", text, re.MULTILINE):
        before = [each[1] for each in above if each.end() <= match.start()]
        yield " ".join((*before[-1:], match[_ROW_NAME])), match[0]


def _items(rows: Rows, document: object) -> Iterator[tuple[str | None, object]]:
    try:
        items = values_at(document, rows.json_path or "*")
    except LookupError as error:
        raise NotThereError(f"nothing at `{rows.json_path}`: there is no `{error}`") from error
    if rows.within is not None:
        items = [inner for item in items for inner in _within(item, rows.within)]
    for item in items:
        if rows.but and isinstance(item, dict):
            yield _words({key: inner for key, inner in item.items() if key not in rows.but}), item
        elif not rows.by_key:
            yield _name(item, rows.name), item
        elif isinstance(item, dict):
            for key, inner in item.items():
                yield from _combinations(key, inner, rows)


def _within(item: object, path: str) -> Iterator[object]:
    """Each of the rows within a row, beside what the row says."""
    outer = item if isinstance(item, dict) else {}
    try:
        yield from ({**outer, "each": inner} for inner in values_at(item, path))
    except LookupError as error:
        raise NotThereError(f"nothing at `{path}`: there is no `{error}`") from error


def _combinations(name: str, item: object, rows: Rows) -> Iterator[tuple[str, object]]:
    """The numbers of a row, each as the `value` of a row of its own, named by its levels."""
    if rows.values is None or rows.levels is None:
        yield name, item
        return
    try:
        values = values_at(item, f"{rows.values}.*")
        levels = [values_at(each, "*") for each in values_at(item, f"{rows.levels}.*")]
    except LookupError as error:
        raise NotThereError(f"`{name}` has no numbers: there is no `{error}`") from error
    combinations = list(itertools.product(*levels))
    if len(values) != len(combinations):
        message = f"`{name}` has {len(values)} numbers and {len(combinations)} combinations"
        raise NotThereError(message)
    for level, value in zip(combinations, values, strict=True):
        yield " ".join([name, *map(as_text, level)]), {"value": value}


def _name(item: object, paths: tuple[str, ...]) -> str | None:
    """What its paths say, with blanks between; the first must be there."""
    if not paths:
        return None
    words = []
    for at, path in enumerate(paths):
        try:
            words += [_words(value) for value in values_at(item, path)]
        except LookupError as error:
            if at == 0:
                raise NotThereError(f"nothing at `{path}`: there is no `{error}`") from error
    return " ".join(word for word in words if word)


def _words(value: object) -> str:
    if isinstance(value, dict):
        return " ".join(f"{key}={as_text(inner)}" for key, inner in value.items())
    return as_text(value)
