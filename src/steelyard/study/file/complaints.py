"""Mistakes as an author reads them: where, what is wrong, what to do.

Collects complaints by the place in the tree and turns what pydantic found into plain words.
"""

from __future__ import annotations

import difflib
import types
import typing
from collections.abc import Iterable
from dataclasses import dataclass

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from steelyard.errors import Complaint
from steelyard.study.file.kinds import shown
from steelyard.study.file.meanings import meanings
from steelyard.study.file.source import Place, Source, Where

_REMOVED = "Removed;"
"""How the meaning of a key begins that only the studies of earlier runs have."""
_ALIKE = 0.61
"""Of `difflib`: `nope` is no slip for `openvz`."""
_NAMES_HINT = "use letters, digits and `-`, `_`, `.`, `+`, 80 at most; begin with a letter or digit"


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The known word that was probably meant."""
    names = {name.lower(): name for name in known}
    near = difflib.get_close_matches(word.lower(), names, n=1, cutoff=_ALIKE)
    near = near or [name for name in names if name.startswith(f"{word.lower()}.")][:1]
    return names[near[0]] if near else None


def choice_hint(word: str, known: Iterable[str], noun: str) -> str:
    """``did you mean `x`? noun: x, y, z``."""
    options = list(known)
    near = nearest(word, options)
    listed = f"{noun}: {', '.join(options)}" if options else f"there are no {noun}"
    return f"did you mean `{near}`? {listed}" if near else listed


def dotted(where: Where) -> str:
    """A place in the tree as people write it: ``systems.fast.service``."""
    return ".".join(str(part) for part in where)


@dataclass(frozen=True)
class Mistake:
    """Something wrong at a place of a file, and what to do about it."""

    where: Where
    message: str
    hint: str


class Complaints:
    """Every mistake found so far, each with its place."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.found: set[Complaint] = set()

    def __bool__(self) -> bool:
        return bool(self.found)

    def add(self, where: Where, message: str, hint: str, *, at_key: bool = False) -> None:
        """Notes a mistake at a value, or at its key; the nearest part above when neither is."""
        line, column = self._place(where, at_key=at_key)
        self.found.add(Complaint(self.source.path, line, column, message, hint))

    def add_all(self, mistakes: Iterable[Mistake]) -> None:
        """Notes every mistake that a check of a file found."""
        for mistake in mistakes:
            self.add(mistake.where, mistake.message, mistake.hint)

    def unknown_key(self, where: Where, known: Iterable[str], noun: str = "known keys") -> None:
        """Notes a key that is not known here."""
        key, inside = str(where[-1]), dotted(where[:-1])
        place = f" in `{inside}`" if inside else ""
        hint = choice_hint(key, known, noun)
        self.add(where, f"unknown key `{key}`{place}", hint, at_key=True)

    def ordered(self) -> list[Complaint]:
        """All complaints, in the order of the file."""
        return sorted(self.found)

    def _place(self, where: Where, *, at_key: bool) -> Place:
        source = self.source
        if at_key and where in source.keys:
            return source.keys[where]
        if where in source.values and not at_key:
            return source.values[where]
        while where:
            where = where[:-1]
            if where in source.keys:
                return source.keys[where]
            if where in source.values:
                return source.values[where]
        return (1, 1)


def add_validation(complaints: Complaints, error: ValidationError, root: type[BaseModel]) -> None:
    """Adds all that pydantic found in the tree.

    Not what only follows from another complaint: a key that is missing because it is misspelt,
    and the type of a value that is not there.
    """
    details = error.errors(include_url=False)
    unknown = (tuple(d["loc"]) for d in details if d["type"] == "extra_forbidden")
    meant = {(*where[:-1], nearest(str(where[-1]), keys_at(root, where[:-1]))) for where in unknown}
    for detail in details:
        misspelt = detail["type"] == "missing" and tuple(detail["loc"]) in meant
        if not misspelt and detail["input"] is not None:
            _add_one(complaints, detail, root)


def _add_one(complaints: Complaints, detail: ErrorDetails, root: type[BaseModel]) -> None:
    where: Where = tuple(detail["loc"])
    kind = detail["type"]
    if where and where[-1] == "[key]":
        name = str(where[-2])
        message = f"{shown(name)} cannot be a name"
        complaints.add(where[:-1], message, _NAMES_HINT, at_key=True)
    elif kind == "extra_forbidden":
        complaints.unknown_key(where, keys_at(root, where[:-1]))
    elif kind == "missing":
        inside = f" in `{dotted(where[:-1])}`" if where[:-1] else ""
        meaning = description_at(root, where)
        message = f"`{where[-1]}` is missing{inside}"
        complaints.add(where, message, f"add `{where[-1]}: ...`: {meaning}")
    else:
        message, hint = _words(detail, where, root)
        complaints.add(where, message, hint)


_WANTED = {
    "string_type": "a text",
    "bool_type": "`true` or `false`",
    "bool_parsing": "`true` or `false`",
    "model_type": "a mapping of keys to values",
    "model_attributes_type": "a mapping of keys to values",
    "dict_type": "a mapping of keys to values",
    "list_type": "a list",
    "tuple_type": "a list",
}


_EXAMPLES = {
    "budget": "`budget: {time: 4 min}`",
    "claims": "`- {id: NAME, system: NAME, response: throughput, faster_than: NAME}`",
    "factors": "`factors: {load.users: [1, 4, 16]}`",
    "gates": "`gates: {errors: none}`",
    "generator": "`generator: {host: local}`",
    "load": "`load: {users: [1, 4, 16]}`",
    "responses": "`responses: {throughput: {primary: true}, response.p99: {}}`",
    "sample": "`sample: {every: 1 s}`",
    "service": "`service: {use: sink-http}`",
    "systems": "`systems: {NAME: {platform: native, service: {use: sink-http}}}`",
    "trials": "`trials: {margin: 2 %}`",
    "variants": "`variants: {small: {trials: {budget: {time: 10 min}}}}`",
    "workload": "`workload: {use: http}`",
    "workloads": "`workloads: {NAME: {use: http}}`",
}


def _words(detail: ErrorDetails, where: Where, root: type[BaseModel]) -> tuple[str, str]:
    kind, value = detail["type"], detail["input"]
    context = detail.get("ctx") or {}
    name = dotted(where)
    if kind == "mistake":
        return f"`{name}`: {context['message']}", str(context["hint"])
    if kind in _WANTED:
        key = next((str(part) for part in reversed(where) if isinstance(part, str)), "")
        hint = (
            f"{description_at(root, where)}: {_EXAMPLES[key]}"
            if key in _EXAMPLES
            else (f"`{key}` is: {description_at(root, where)}")
        )
        return f"`{name}` must be {_WANTED[kind]}, not {shown(value)}", hint
    if kind == "literal_error":
        return _no_choice(str(context["expected"]), value, where, root)
    if kind in ("too_short", "string_too_short"):
        return f"`{name}` is empty", f"`{where[-1]}` is: {description_at(root, where)}"
    if kind in ("string_pattern_mismatch", "string_too_long"):
        return f"`{name}`: {shown(value)} cannot be a name", _NAMES_HINT
    return f"`{name}`: {detail['msg'].lower()}", f"`{where[-1]}` is: {description_at(root, where)}"


def _no_choice(
    expected: str, value: object, where: Where, root: type[BaseModel]
) -> tuple[str, str]:
    name = dotted(where)
    if description_at(root, where).startswith(_REMOVED.lower()):
        return f"`{name}` was removed", "take it out"
    choices = expected.replace("'", "").replace(" or ", ", ").split(", ")
    return f"`{name}` cannot be {shown(value)}", choice_hint(str(value), choices, "choices")


def _inner(annotation: object) -> object:
    """The type that matters: without Annotated, Optional, and the container around it."""
    origin = typing.get_origin(annotation)
    if origin is typing.Annotated:
        return _inner(typing.get_args(annotation)[0])
    if origin in (typing.Union, types.UnionType):
        return _inner(next(a for a in typing.get_args(annotation) if a is not type(None)))
    return annotation


def _step(annotation: object, key: str | int) -> object:
    inner = _inner(annotation)
    if isinstance(inner, type) and issubclass(inner, BaseModel):
        fields = {f.alias or name: f.annotation for name, f in inner.model_fields.items()}
        return fields.get(str(key))
    arguments = typing.get_args(inner)
    return arguments[-1] if arguments else None


def keys_at(root: type[BaseModel], where: Where) -> list[str]:
    """Keys that the grammar declares for the mapping at this place."""
    annotation: object = root
    for key in where:
        annotation = _step(annotation, key)
    inner = _inner(annotation)
    if isinstance(inner, type) and issubclass(inner, BaseModel):
        names = [f.alias or name for name, f in inner.model_fields.items()]
        return [name for name in names if not meanings(inner)[name].startswith(_REMOVED)]
    return []


def description_at(root: type[BaseModel], where: Where) -> str:
    """What the grammar says of the nearest declared key at or above this place."""
    annotation: object = root
    text = "see docs/reference/study-file.md"
    for key in where:
        inner = _inner(annotation)
        if isinstance(inner, type) and issubclass(inner, BaseModel):
            text = meanings(inner).get(str(key)) or text
        annotation = _step(annotation, key)
    return text[:1].lower() + text[1:].rstrip(".")
