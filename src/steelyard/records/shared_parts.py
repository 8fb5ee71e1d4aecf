"""Records that say all they said and take a third of the memory: equal parts are kept once.

A report holds the records of all trials. Most of what they say of machines, threads and conditions
is the same in every one.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any, TypeVar

from pydantic import BaseModel

from steelyard.records.schema import InstanceRecord, Measured, TrialRecord

_Model = TypeVar("_Model", bound=BaseModel)
_Part = TypeVar("_Part")


def sharing(records: Iterable[TrialRecord]) -> Iterator[TrialRecord]:
    """Equal records, which have their equal parts in common; those that were given are used up."""
    parts = _Parts()
    return map(parts.record, records)


def lean(model: _Model, **changed: Any) -> _Model:
    """An equal model, without a list of its own of the fields that were given."""
    kind = type(model)
    return kind.model_construct(_fields_set=_fields_of(kind), **(dict(model) | changed))


def _light(model: _Model) -> _Model:
    """The same model, whose list of the fields that were given is that of all of its kind."""
    object.__setattr__(model, "__pydantic_fields_set__", _fields_of(type(model)))
    return model


@lru_cache
def _fields_of(kind: type[BaseModel]) -> set[str]:
    return set(kind.model_fields)


class _Parts:
    """What was met so far."""

    def __init__(self) -> None:
        self._known: dict[Hashable, Any] = {}

    def record(self, record: TrialRecord) -> TrialRecord:
        responses = _responses(record.responses, {})
        return lean(
            record,
            cell=self._once(repr(record.cell), record.cell),
            responses=responses,
            gates=tuple(self._once(each, each) for each in record.gates),
            warnings=tuple(map(_light, record.warnings)),
            calibration=record.calibration and _light(record.calibration),
            instances=tuple(self._instance(each, responses) for each in record.instances),
            facts=self._once(repr(record.facts), record.facts),
        )

    def _instance(
        self, instance: InstanceRecord, of_trial: Mapping[str, Measured]
    ) -> InstanceRecord:
        return lean(
            instance,
            clocks=tuple(map(_light, instance.clocks)),
            placements=tuple(self._once(each, each) for each in instance.placements),
            responses=_responses(instance.responses, of_trial),
        )

    def _once(self, key: Hashable, part: _Part) -> _Part:
        kept: _Part = self._known.setdefault(key, part)
        return kept


def _responses(
    responses: Mapping[str, Measured], known: Mapping[str, Measured]
) -> dict[str, Measured]:
    """Those of one instance are mostly those of its trial."""
    return {
        name: known[name] if known.get(name) == each else _light(each)
        for name, each in responses.items()
    }
