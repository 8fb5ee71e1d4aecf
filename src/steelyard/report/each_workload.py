"""A report on several workloads: the same sentences and tables for each, what is common once."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from steelyard.judge.findings import Findings
from steelyard.report.tables.responses import Table

NO_GRAND_MEAN = (
    "Each workload is judged by itself and has its part of the error rate; no mean is taken over "
    "workloads, whose units have nothing in common."
)


def each_of(findings: Findings) -> tuple[Findings, ...]:
    """The findings of every workload; of a single one, the findings themselves."""
    return findings.workloads or (findings,)


def told(findings: Findings, lines_of: Callable[[Findings], Iterable[str]]) -> list[str]:
    """The lines of every workload after its name; what is said of all of them, once."""
    own = each_of(findings)
    if len(own) == 1 and own[0].workload is None:
        return list(lines_of(own[0]))
    lines = [(each.workload, list(lines_of(each))) for each in own]
    shared = [line for line in lines[0][1] if all(line in of_one for _, of_one in lines)]
    apart = [f"{name}: {line}" for name, of_one in lines for line in of_one if line not in shared]
    return [*shared, *apart] if len(own) > 1 else [*lines[0][1]]


def tables(findings: Findings, table_of: Callable[[Findings], Table]) -> list[Table]:
    """One table for each workload that has rows of it, named after it where there are several."""
    found = []
    for each in each_of(findings):
        table = table_of(each)
        if table.rows:
            found.append(named(table, each))
    return found


def named(table: Table, findings: Findings) -> Table:
    """The table under the name of its workload, if it is one of several."""
    return replace(table, caption=titled(table.caption, findings))


def titled(text: str, findings: Findings) -> str:
    """A heading, behind the name of the workload if it is one of several."""
    return text if findings.workload is None else f"{findings.workload}: {text}"
