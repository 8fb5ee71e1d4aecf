"""What a session keeps of its records in memory: what interim looks read, and nothing twice.

The whole record is on disk. A session of thousands of trials would otherwise hold the facts of its
machines, and all times of every trial, as often as it has trials.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import Any, TypeVar

from pydantic import BaseModel

from steelyard.judge.visits.readings import key_of
from steelyard.records.schema import Calibration, Measured, TrialRecord
from steelyard.records.warnings import TrialWarning

_NOT_READ: dict[str, Any] = {
    "phases_ns": {},
    "gates": (),
    "failed_operations": (),
    "instances": (),
    "start_spread_ns": None,
    "facts": {},
    "files": (),
}
_Model = TypeVar("_Model", bound=BaseModel)


class KeptRecords:
    """Makes the records of one session small; what they have in common they share."""

    def __init__(self) -> None:
        self._shared: dict[Hashable, Any] = {}
        self._fields: dict[type, set[str]] = {}

    def small(self, record: TrialRecord) -> TrialRecord:
        """The same of every field that an interim look reads; the others are empty."""
        cell = record.cell
        key = ("cell", cell.system, key_of(cell.conditions))
        responses = {name: self._measured(each) for name, each in record.responses.items()}
        return self._lean(
            record,
            **_NOT_READ,
            cell=self._once(key, lambda: cell),
            responses=responses,
            warnings=tuple(map(self._warning, record.warnings)),
            calibration=self._calibration(record.calibration),
        )

    def of(self, records: Iterable[TrialRecord]) -> list[TrialRecord]:
        """All of them; each is given back before the next is taken."""
        return [self.small(record) for record in records]

    def _measured(self, measured: Measured) -> Measured:
        missing = measured.missing
        return self._lean(
            measured,
            missing=None if missing is None else self._once(repr(missing), lambda: missing),
        )

    def _warning(self, warning: TrialWarning) -> TrialWarning:
        return self._lean(warning)

    def _calibration(self, calibration: Calibration | None) -> Calibration | None:
        return None if calibration is None else self._lean(calibration)

    def _once(self, key: Hashable, make: Callable[[], Any]) -> Any:
        found = self._shared.get(key)
        return self._shared.setdefault(key, make()) if found is None else found

    def _lean(self, model: _Model, **changed: Any) -> _Model:
        """An equal model, without a list of its own of the fields that were given."""
        kind = type(model)
        fields = self._fields.setdefault(kind, set(kind.model_fields))
        return kind.model_construct(_fields_set=fields, **(dict(model) | changed))
