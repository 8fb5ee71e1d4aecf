"""What a session keeps of its records in memory: what interim looks read, and nothing twice.

The whole record is on disk. A session of thousands of trials would otherwise hold the facts of its
machines, and all times of every trial, as often as it has trials.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from steelyard.judge.visits.attempts import key_of
from steelyard.records.schema import Calibration, Measured, TrialRecord
from steelyard.records.shared_parts import lean
from steelyard.records.warnings import Bottleneck, TrialWarning

_NOT_READ: dict[str, Any] = {
    "phases_ns": {},
    "gates": (),
    "failed_operations": (),
    "instances": (),
    "start_spread_ns": None,
    "events": (),
    "disk_checks": (),
    "facts": {},
    "files": (),
}
_FIGURES_READ = frozenset({"cpu_ratio", "steal_ratio", "taken_cores", "waited_cores"})
_NUMBERS = ("value", "of", "within")
_Kept = TypeVar("_Kept")


class KeptResponses(Mapping[str, Measured]):
    """The numbers of one record; what else is said of each response it shares with other records.

    ``alike`` are the responses without numbers, in the order of ``numbers``: a value, or with
    ``of`` and ``within`` where there is one of these.
    """

    __slots__ = ("_alike", "_numbers")

    def __init__(
        self,
        alike: Mapping[str, Measured],
        numbers: Sequence[float | tuple[float | None, ...] | None],
    ) -> None:
        self._alike = alike
        self._numbers = numbers

    def __getitem__(self, name: str) -> Measured:
        alike = self._alike[name]
        numbers = self._numbers[list(self._alike).index(name)]
        of_all = numbers if isinstance(numbers, tuple) else (numbers, None, None)
        return lean(alike, **dict(zip(_NUMBERS, of_all, strict=True)))

    def __iter__(self) -> Iterator[str]:
        return iter(self._alike)

    def __len__(self) -> int:
        return len(self._alike)


class KeptRecords:
    """Makes the records of one session small; what they have in common they share."""

    def __init__(self) -> None:
        self._shared: dict[Hashable, Any] = {}

    def small(self, record: TrialRecord) -> TrialRecord:
        """The same of every field that an interim look reads; the others are empty."""
        cell = record.cell
        key = ("cell", cell.system, key_of(cell.conditions))
        return lean(
            record,
            **_NOT_READ,
            cell=self._once(key, lambda: cell),
            responses=self._responses(record.responses),
            warnings=tuple(map(self._warning, record.warnings)),
            bottleneck=self._bottleneck(record.bottleneck),
            calibration=self._calibration(record.calibration),
        )

    def of(self, records: Iterable[TrialRecord]) -> list[TrialRecord]:
        """All of them; each is given back before the next is taken."""
        return [self.small(record) for record in records]

    def _responses(self, responses: Mapping[str, Measured]) -> KeptResponses:
        alike = {
            name: lean(measured, **dict.fromkeys(_NUMBERS)) for name, measured in responses.items()
        }
        numbers = (tuple(getattr(m, name) for name in _NUMBERS) for m in responses.values())
        return KeptResponses(
            self._once(repr(alike), lambda: alike),
            tuple(each[0] if each[1:] == (None, None) else each for each in numbers),
        )

    def _warning(self, warning: TrialWarning) -> TrialWarning:
        figures = {name: each for name, each in warning.figures.items() if name in _FIGURES_READ}
        kept = lean(warning, figures=figures)
        return kept if figures else self._once((warning.kind, warning.state), lambda: kept)

    def _bottleneck(self, bottleneck: Bottleneck | None) -> Bottleneck | None:
        """A look reads whether there was one."""
        if bottleneck is None:
            return None
        kept = Bottleneck(resource=bottleneck.resource, share=None)
        return self._once(("bottleneck", kept.resource), lambda: kept)

    def _calibration(self, calibration: Calibration | None) -> Calibration | None:
        if calibration is None:
            return None
        kept = lean(calibration)
        return kept if kept.ratio is not None else self._once(repr(kept), lambda: kept)

    def _once(self, key: Hashable, make: Callable[[], _Kept]) -> _Kept:
        if key not in self._shared:
            self._shared[key] = make()
        kept: _Kept = self._shared[key]
        return kept
