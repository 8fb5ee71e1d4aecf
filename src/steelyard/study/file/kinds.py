"""The kinds of value an author writes, as pydantic types that read them.

Each gives the base unit, complains in words (``Mistake``), and describes itself in the JSON
schema for editors.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, WithJsonSchema
from pydantic_core import PydanticCustomError

from steelyard import units
from steelyard.study.file.meanings import DESCRIBED

_LIMIT = re.compile(r"at (most|least)\s+(.+)", re.DOTALL)
_PER_CELL = re.compile(r"(\d{1,9})\s+per\s+cell", re.ASCII)
_IDLE = re.compile(r"until idle(?:,\s*at most\s+(.+))?", re.DOTALL)


class Part(BaseModel):
    """A mapping of the study file; keys it does not declare are mistakes."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True, **DESCRIBED)


class OpenPart(BaseModel):
    """A mapping whose further keys depend on what it names; ``resolve`` checks them."""

    model_config = ConfigDict(frozen=True, extra="allow", defer_build=True, **DESCRIBED)

    def further(self) -> dict[str, object]:
        """The keys that are not declared, as written."""
        return dict(self.model_extra or {})


def named(value: object) -> object:
    """A name alone stands for a part that uses it."""
    return {"use": value} if isinstance(value, str) else value


def mistake(message: str, hint: str) -> PydanticCustomError:
    """A complaint about the value being read."""
    return PydanticCustomError("mistake", "{message}", {"message": message, "hint": hint})


def shown(value: object) -> str:
    """A value as it is quoted in a complaint."""
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, list):
        return "a list"
    if value is None:
        return "nothing"
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return f"`{text if len(text) <= 60 else text[:57] + '...'}`"


def _quantity(kind: units.Kind) -> Callable[[object], int | float]:
    def read(value: object) -> int | float:
        try:
            return units.parse(value, kind)
        except units.UnitError as error:
            raise mistake(error.message, error.hint) from None

    return read


def _schema(*types: str, examples: list[object]) -> WithJsonSchema:
    return WithJsonSchema(
        {"type": list(types) if len(types) > 1 else types[0], "examples": examples}
    )


def quantity_schema(kind: units.Kind, least: int = 0) -> dict[str, object]:
    """What an editor may accept as a quantity; a number alone has no unit, unless it is zero."""
    alone: dict[str, object] = {"const": 0}
    if not units.known(kind):
        alone = {"type": "integer" if kind == "count" else "number", "minimum": least}
    return {"anyOf": [{"type": "string", "pattern": units.pattern(kind)}, alone]}


def _described(kind: units.Kind, example: object, least: int = 0) -> WithJsonSchema:
    return WithJsonSchema(quantity_schema(kind, least) | {"examples": [example]})


Duration = Annotated[float, BeforeValidator(_quantity("duration")), _described("duration", "2 s")]
Size = Annotated[int, BeforeValidator(_quantity("size")), _described("size", "4 KiB")]
Share = Annotated[float, BeforeValidator(_quantity("share")), _described("share", "2 %")]
Count = Annotated[int, BeforeValidator(_quantity("count")), _described("count", 3)]


def _above_zero(value: object) -> int | float:
    duration_s = _quantity("duration")(value)
    if duration_s <= 0:
        raise mistake(f"{shown(value)} is no time to wait", "write a time above zero, as `60 s`")
    return duration_s


Wait = Annotated[float, BeforeValidator(_above_zero), _described("duration", "60 s")]


def _at_least_one(value: object) -> int | float:
    count = _quantity("count")(value)
    if count < 1:
        raise mistake(f"{shown(value)} is too small", "the minimum is 1")
    return count


PositiveCount = Annotated[int, BeforeValidator(_at_least_one), _described("count", 1, least=1)]


def _word(value: object) -> object:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, int | float) else value


Word = Annotated[str, BeforeValidator(_word), _schema("string", "number", "boolean", examples=[])]


class Limit(BaseModel):
    """A limit as written: ``at most 0.1 %``, ``at least 100``, ``none``."""

    model_config = ConfigDict(frozen=True, defer_build=True)
    side: str
    quantity: str


def _limit(value: object) -> object:
    if value == "none" or value is None or value == 0:
        return Limit(side="most", quantity="0")
    match = _LIMIT.fullmatch(str(value).strip())
    if match is None:
        raise mistake(f"{shown(value)} is not a limit", "write `at most 0.1 %`, or `none`")
    return Limit(side=match[1], quantity=match[2])


LimitWritten = Annotated[
    Limit, BeforeValidator(_limit), _schema("string", "integer", examples=["at most 0.1 %", "none"])
]


def _trials_per_cell(value: object) -> int:
    text = str(value).strip()
    match = _PER_CELL.fullmatch(text) or re.fullmatch(r"(\d{1,9})", text, re.ASCII)
    if re.fullmatch(r"\d{10,}(\s+per\s+cell)?", text, re.ASCII):
        raise mistake(f"{shown(value)} is too large", "write fewer trials, as `40 per cell`")
    if match is None or isinstance(value, bool):
        raise mistake(f"{shown(value)} is not a number of trials", "write `40 per cell`")
    return int(match[1])


TrialsPerCell = Annotated[
    int,
    BeforeValidator(_trials_per_cell),
    _schema("string", "integer", examples=["40 per cell"]),
]


class Settle(BaseModel):
    """A pause as written: a duration, or ``until idle, at most 2 min``."""

    model_config = ConfigDict(frozen=True, defer_build=True)
    duration_s: float
    until_idle: bool


def _settle(value: object) -> Settle:
    match = _IDLE.fullmatch(str(value).strip())
    if match is None:
        return Settle(duration_s=_quantity("duration")(value), until_idle=False)
    if match[1] is None:
        raise mistake(
            "`until idle` does not say how long at most", "write `until idle, at most 2 min`"
        )
    return Settle(duration_s=_quantity("duration")(match[1]), until_idle=True)


SettleWritten = Annotated[
    Settle, BeforeValidator(_settle), _schema("string", examples=["until idle, at most 2 min"])
]


def _listed(value: object) -> object:
    """One value stands for a list of one."""
    return value if isinstance(value, list) else [value]


Levels = Annotated[
    list[object],
    BeforeValidator(_listed),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": ["string", "number", "boolean"]},
                {"type": "array", "items": {"type": ["string", "number", "boolean"]}},
            ],
            "examples": [[1, 4, 16], "1..10", ["1..10", "20..100 by 10"]],
        }
    ),
]
Words = Annotated[list[Word], BeforeValidator(_listed)]


def _command(value: object) -> object:
    words = value if isinstance(value, list) else [value]
    if not words or any(not isinstance(word, str | int | float) or word == "" for word in words):
        raise mistake(f"{shown(value)} is not a command", "write its words: `[sync, --data, /srv]`")
    if not isinstance(value, list) and len(str(value).split()) > 1:
        raise mistake(
            f"{shown(value)} is one word", "write one word per item: `[sync, --data, /srv]`"
        )
    return [str(word) for word in words]


CommandWritten = Annotated[
    list[str],
    BeforeValidator(_command),
    WithJsonSchema({"type": "array", "items": {"type": ["string", "number"]}, "minItems": 1}),
]
Machines = Annotated[
    list[Word],
    BeforeValidator(_listed),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "string"},
                {"type": "array", "items": {"type": "string"}, "minItems": 1},
            ],
            "examples": ["local", "ssh://loader", ["ssh://one", "ssh://two"]],
        }
    ),
]


def _null_as_empty(value: object) -> object:
    return {} if value is None else value


Emptiable = BeforeValidator(_null_as_empty)
