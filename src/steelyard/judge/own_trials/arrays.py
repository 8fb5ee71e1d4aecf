"""Lists and arrays that a caller gives, entry by entry, as plain Python values."""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Real
from typing import TypeVar

import numpy as np

from steelyard import units
from steelyard.judge.own_trials.rows import TrialRows, TrialsError
from steelyard.study.model import Level

Entry = TypeVar("Entry")


def rows_of(
    system: Iterable[object],
    response: Iterable[object],
    *,
    load: Iterable[Level] | None,
    visit: Iterable[int] | None,
    block: Iterable[int] | None,
    covariate: Iterable[object] | None,
) -> TrialRows:
    """The trials of ``judge_trials``.

    Raises:
        TrialsError: a list is none, or one of its entries makes no sense.
    """
    return TrialRows(
        system=names(system, "system"),
        response=numbers(response, "response"),
        load=None if load is None else entries(load, "load"),
        visit=None if visit is None else entries(visit, "visit"),
        block=None if block is None else entries(block, "block"),
        covariate=None if covariate is None else numbers(covariate, "covariate"),
    )


def entries(values: Iterable[Entry], name: str) -> list[Entry]:
    """One entry for each trial, of numpy's kinds those of Python.

    Raises:
        TrialsError: ``values`` cannot be gone through, or has more than one dimension.
    """
    hint = "give one entry for each trial, in a list or an array of one dimension"
    try:
        found = [each.item() if isinstance(each, np.generic) else each for each in values]
    except TypeError as error:
        message = f"`{name}` is no list but {type(values).__name__}"
        raise TrialsError(message, hint, argument=name) from error
    if any(isinstance(each, list | tuple | dict | set | np.ndarray) for each in found):
        message = f"`{name}` has more than one dimension"
        raise TrialsError(message, hint, argument=name)
    return found


def names(values: Iterable[object], name: str) -> list[str]:
    """Names of systems: of numbers, as they are written."""
    return [str(each) for each in entries(values, name)]


def numbers(values: Iterable[object], name: str) -> list[float]:
    """Numbers of 64 bits.

    Raises:
        TrialsError: one is none; the message names its trial.
    """
    return [_number(each, name, row) for row, each in enumerate(entries(values, name), start=1)]


def _number(value: object, name: str, row: int) -> float:
    problem = f"is not a number but {type(value).__name__}"
    try:
        if not isinstance(value, str | bytes):
            return float(value)  # type: ignore[arg-type]
    except OverflowError:
        problem = "is too large for a number of 64 bits"
    except (TypeError, ValueError):
        pass
    hint = "give one number for each trial"
    raise TrialsError(f"trial {row}: the {name} {problem}", hint, row=row, column=name)


def share(written: float | str, argument: str) -> float:
    """A share as a number, ``0.02``, or as a study writes it, ``2 %``.

    Raises:
        TrialsError: it is neither.
    """
    hint = "0.02 is 2 %, and so is the text `2 %`"
    try:
        if isinstance(written, str):
            return float(units.parse(written, "share"))
    except units.UnitError as error:
        raise TrialsError(f"`{argument}`: {error.message}", hint, argument=argument) from error
    if isinstance(written, bool) or not isinstance(written, Real):
        message = f"`{argument}` is no number but {type(written).__name__}"
        raise TrialsError(message, hint, argument=argument)
    return float(written)


def whole(value: object, argument: str) -> int:
    """A whole number of any kind.

    Raises:
        TrialsError: it is none.
    """
    if isinstance(value, Real) and not isinstance(value, bool) and float(value).is_integer():
        return int(float(value))
    raise TrialsError(f"`{argument}` is {value!r}", "give a whole number", argument=argument)
