"""What a guest moves passes through its host; one that moves less has cached or not counted it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from steelyard.consistency.cells import Cell, Levels, Table
from steelyard.consistency.findings import Finding, Rule
from steelyard.consistency.making import found
from steelyard.consistency.quantities import DATA_RATE, LOADS, words

_HOST = {"host", "hypervisor", "dom0"}
_SAMPLING = 1.1
"""Samples of two machines are not of the same seconds."""


def check(table: Table) -> Iterator[Finding]:
    for column in table.factors:
        levels = {cell.level(column) for cell in table.measured}
        hosts = {level for level in levels if words(level) & _HOST}
        if hosts and hosts != levels:
            yield from _pairs(table, column, hosts)


def _pairs(table: Table, column: str, hosts: set[str]) -> Iterator[Finding]:
    """Once for each metric and system, whatever the load."""
    cells = [c for c in table.measured if c.parsed_unit and c.parsed_unit.dimension == DATA_RATE]
    of_host = {cell.key(column): cell for cell in cells if cell.level(column) in hosts}
    loads = [name for name in table.factors if name.lower() in LOADS]
    rows: dict[Levels, list[tuple[Cell, Cell]]] = defaultdict(list)
    for cell in cells:
        host = of_host.get(cell.key(column))
        if host is not None and host is not cell:
            rows[cell.key(column, *loads)].append((host, cell))
    for pairs in rows.values():
        less = [(h, g) for h, g in pairs if h.base.high * _SAMPLING < g.base.low]
        if less:
            host, guest = max(less, key=lambda pair: pair[1].number.value / pair[0].number.value)
            yield found(
                Rule.GUEST_EXCEEDS_HOST, host, low=guest.number.value, others=[guest],
                count=len(less), of=len(pairs),
            )  # fmt: skip
