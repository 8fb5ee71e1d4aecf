"""All rules against a table: what ``steelyard check`` reports."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence

from steelyard.consistency.cells import Cell, Table
from steelyard.consistency.claims_file import Claim
from steelyard.consistency.findings import Finding, Rule, TableFindings
from steelyard.consistency.rules import (
    aggregates,
    claims,
    derived,
    hosts,
    littles_law,
    memory_hierarchy,
    percentiles,
    repeated,
    replicates,
    rounding,
    slips,
    work,
)

RULES: tuple[Callable[[Table], Iterator[Finding]], ...] = (
    percentiles.check,
    aggregates.check,
    derived.check,
    work.check,
    littles_law.check,
    hosts.check,
    memory_hierarchy.check,
    repeated.check,
    slips.check,
    rounding.check,
    replicates.check,
)


def check_table(
    table: Table, conclusions: Sequence[Claim] = (), ignored: Collection[Rule] = ()
) -> TableFindings:
    """Every finding of the rules that are not ``ignored``, by line."""
    found = [finding for rule in RULES for finding in rule(table)]
    of_claims = list(claims.check(conclusions))
    kept = [each for each in (*found, *of_claims) if each.rule not in ignored]
    kept.sort(key=lambda each: (each.at.line, each.at.column, each.rule))
    return TableFindings(
        table=table.name,
        values=len(table.cells),
        no_numbers=table.no_numbers,
        claims=len(conclusions),
        claims_supported=len(conclusions) - len(of_claims),
        findings=tuple(dict.fromkeys(kept)),
        alone=sum(len(each) == 1 and _is_alone(*each.values()) for each in table.groups),
        lacks_value=table.lacks_value,
    )


def _is_alone(cell: Cell) -> bool:
    """Whether its unit says nothing to rules of time, rates and work, and no row derives it."""
    has_unit = bool(cell.unit) and cell.parsed_unit is not None
    return not (has_unit or cell.is_measured or cell.is_derived)
