"""From the text that a meter answered to the number that it tells. Pure."""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass

from steelyard.study.declared.json_path import as_text, values_at
from steelyard.study.declared.placeholders import Value as Filling
from steelyard.study.declared.placeholders import fill
from steelyard.study.meter.entry import COUNTED, UNITS, Found, Meter
from steelyard.systems.meters.reading import MOST_SAID, Problem


class AnswerError(Exception):
    """An answer that tells no number that could be used; ``said`` are its words."""

    def __init__(self, problem: Problem, said: str) -> None:
        super().__init__(f"{problem}: {said}")
        self.problem = problem
        self.said = said[:MOST_SAID]


@dataclass(frozen=True)
class AnswerForm:
    """How answers of one meter are read; ``scale`` makes watts or joules of its numbers."""

    value: Found
    scale: float
    step: float
    counts: bool
    unit_told: Found | None
    word: str
    moment: Found | None

    def read(self, text: str) -> tuple[float, str | None]:
        """The value in watts or joules, and the moment that the meter tells.

        Raises:
            AnswerError: there is no such number in it.
        """
        value = self.scale * _number(said := _find(self.value, text))
        if value < 0:
            raise AnswerError("negative", said)
        if self.unit_told is not None:
            told = _find(self.unit_told, text)
            if told != self.word:
                raise AnswerError("other_unit", told)
        moment = None if self.moment is None else _find(self.moment, text)
        return value, moment


def form_of(entry: Meter, values: dict[str, Filling]) -> AnswerForm:
    """The form of a meter with these settings."""
    unit = fill(entry.value.unit, values)
    factor = float(fill(str(entry.value.factor), values))
    one = UNITS[unit]
    told = entry.unit_told
    return AnswerForm(
        value=_placed(entry.value, values),
        scale=factor * one,
        step=float(fill(str(entry.value.resolution), values)) * one,
        counts=unit in COUNTED,
        unit_told=None if told is None else _placed(told, values),
        word="" if told is None else told.word,
        moment=None if entry.moment is None else _placed(entry.moment, values),
    )


def _placed(found: Found, values: dict[str, Filling]) -> Found:
    at = None if found.at is None else fill(found.at, values)
    return Found(at=at, pattern=found.pattern)


def _number(word: str) -> float:
    try:
        number = float(word)
    except ValueError:
        raise AnswerError("unreadable", word) from None
    if not math.isfinite(number):
        raise AnswerError("unreadable", word)
    return number


def _find(found: Found, text: str) -> str:
    if found.pattern is not None:
        match = re.search(found.pattern, text)
        if match is None:
            raise AnswerError("unreadable", text.strip())
        return str(match[1])
    try:
        values = values_at(json.loads(text), found.at or "")
    except (ValueError, RecursionError, LookupError) as error:
        raise AnswerError("unreadable", text.strip()) from error
    if len(values) != 1 or isinstance(values[0], dict | list | bool) or values[0] is None:
        raise AnswerError("unreadable", json.dumps(values))
    return as_text(values[0])
