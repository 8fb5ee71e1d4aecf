"""Errors put into clean tables are found: at least nine of ten of each kind, where they stand.

``make bench-check`` shows the share of each kind over more tables.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.unit.consistency.clean_tables import SHAPES, Draft, Row

from steelyard.consistency.check import check_table
from steelyard.consistency.findings import Rule
from steelyard.consistency.reading import read_table

FEW, MANY = range(10), range(10, 30)
LEAST = 0.9
Seed = Callable[[random.Random, Draft], list[Row]]
"""Puts an error into a table and gives the rows that it changed."""


def shown(row: Row, value: float) -> Row:
    """The row with another value, of as many digits."""
    _, _, digits = row["value"].partition(".")
    row["value"] = f"{value:.{len(digits)}f}"
    return row


def scaled(row: Row, factor: float) -> Row:
    return shown(row, float(row["value"]) * factor)


def other_digit(rng: random.Random, row: Row, at: int = 1) -> Row:
    """One significant digit is another one."""
    places = [i for i, c in enumerate(row["value"]) if c.isdigit()]
    first = next(i for i in places if row["value"][i] != "0")
    place = places[places.index(first) + at]
    old = row["value"][place]
    new = rng.choice([d for d in "0123456789" if abs(int(d) - int(old)) > 2])
    row["value"] = row["value"][:place] + new + row["value"][place + 1 :]
    return row


def metric(name: str, change: Callable[[random.Random, Row], Row], **levels: str) -> Seed:
    def put(rng: random.Random, table: Draft) -> list[Row]:
        return [change(rng, rng.choice(table.where(metric=name, **levels)))]

    return put


def ordered(rng: random.Random, table: Draft) -> list[Row]:
    low = rng.choice(table.where(statistic="p90"))
    high = next(r for r in table.rows if r["statistic"] == "p99"
                and all(r[n] == low[n] for n in ("server", "concurrency", "phase")))  # fmt: skip
    return [shown(low, float(high["value"]) * 1.2), high]


def spread(rng: random.Random, table: Draft) -> list[Row]:
    row = rng.choice(table.where(statistic="sd"))
    most = next(r for r in table.rows if r["statistic"] == "max"
                and all(r[n] == row[n] for n in ("server", "concurrency", "phase")))  # fmt: skip
    return [shown(row, float(most["value"]) * 1.5)]


def total_of_phases(rng: random.Random, table: Draft) -> list[Row]:
    return [other_digit(rng, rng.choice(table.where(phase="total", statistic="mean")), at=0)]


def sign(rng: random.Random, table: Draft) -> list[Row]:
    rows = table.where(metric="time_saved", kind="cell")
    row = max(rows, key=lambda r: abs(float(r["value"])) + rng.random())
    return [scaled(row, -1)]


def copied_column(rng: random.Random, table: Draft) -> list[Row]:
    for row in (changed := table.where(profile="two", kind="cell", metric="time_without")):
        names = {n: row[n] for n in ("filesystem", "kind", "metric")}
        row["value"] = table.where(profile="one", **names)[0]["value"]
    return changed


def rounded_up(rng: random.Random, table: Draft) -> list[Row]:
    rows = table.where(metric="time_saved_percent", kind="cell")
    for row in rows:
        names = {n: row[n] for n in ("filesystem", "kind", "profile")}
        before = float(table.where(metric="time_without", **names)[0]["value"])
        saved = float(table.where(metric="time_saved", **names)[0]["value"])
        exact = 10000 * saved / before
        row["value"] = f"{-((-exact) // 1) / 100:.2f}"
    return rows


def levels_exchanged(rng: random.Random, table: Draft) -> list[Row]:
    near = rng.choice(table.where(level="L1"))
    far = table.where(**{**{n: near[n] for n in ("platform", "bits", "test")}, "level": "RAM"})[0]
    near["value"], far["value"] = far["value"], near["value"]
    return [near, far]


def level_copied(rng: random.Random, table: Draft) -> list[Row]:
    near = rng.choice(table.where(level="L1"))
    far = table.where(**{**{n: near[n] for n in ("platform", "bits", "test")}, "level": "L2"})[0]
    return [scaled(near, 1.0), shown(far, float(near["value"]) * 0.998)]


def more_failures(rng: random.Random, table: Draft) -> list[Row]:
    row = rng.choice(table.where(metric="failed_requests"))
    names = {n: row[n] for n in ("platform", "users")}
    whole = table.where(metric="total_requests", **names)[0]
    return [shown(row, float(whole["value"]) * 1.3)]


def twice(rng: random.Random, table: Draft) -> list[Row]:
    row = dict(rng.choice(table.rows))
    table.rows.append(scaled(row, 1.1))
    return [row]


def alone(rng: random.Random, table: Draft) -> list[Row]:
    row = rng.choice(table.where(phase="all"))
    table.rows = [r for r in table.rows if r is row or any(
        r[n] != row[n] for n in ("server", "concurrency"))]  # fmt: skip
    return [row]


def coarse(rng: random.Random, table: Draft) -> list[Row]:
    rows = table.where(metric="latency")
    largest = max(float(row["value"]) for row in rows)
    for row in rows:
        row["value"] = f"{max(1.0, 9 * float(row['value']) / largest):.0f}"
    return rows


def single(rng: random.Random, table: Draft) -> list[Row]:
    for row in table.rows:
        row["replications"] = "1"
    return table.rows


def not_stated(rng: random.Random, table: Draft) -> list[Row]:
    for row in table.rows:
        row["replications"] = ""
    return table.rows


def ten(_: random.Random, row: Row) -> Row:
    return scaled(row, 10)


def second_digit(rng: random.Random, row: Row) -> Row:
    return other_digit(rng, row, at=1)


def zero(_: random.Random, row: Row) -> Row:
    return shown(row, 0.0)


BEFORE = "before and after"
KINDS: dict[str, tuple[str, Seed, set[Rule]]] = {
    "quantiles out of order": ("distributions", ordered, {Rule.PERCENTILES}),
    "a deviation beyond the range": ("distributions", spread, {Rule.SPREAD}),
    "a total of phases": ("distributions", total_of_phases, {Rule.SUM, Rule.PERCENTILES}),
    "a mean of cells": (
        BEFORE,
        metric("time_with", second_digit, kind="printed_mean"),
        {Rule.MEAN, Rule.SUM, Rule.DIFFERENCE},
    ),
    "a difference": (
        BEFORE,
        metric("time_saved", lambda _, row: shown(row, float(row["value"]) + 17), kind="cell"),
        {Rule.DIFFERENCE},
    ),
    "a sign": (BEFORE, sign, {Rule.DIFFERENCE}),
    "a percentage": (
        BEFORE,
        metric(
            "time_saved_percent", lambda _, row: shown(row, float(row["value"]) + 6), kind="cell"
        ),
        {Rule.PERCENTAGE},
    ),
    "percentages rounded up": (BEFORE, rounded_up, {Rule.ROUNDING}),
    "a copied column": (BEFORE, copied_column, {Rule.REPEATED_VALUES}),
    "a sum": ("tools", metric("operations_total", second_digit), {Rule.SUM}),
    "a part beyond the whole": ("load sweep", more_failures, {Rule.PART}),
    "work": ("tools", metric("throughput", second_digit), {Rule.WORK}),
    "work of each user": ("load sweep", metric("duration", second_digit), {Rule.WORK}),
    "Little's law": (
        "load sweep",
        metric("latency", lambda _, row: scaled(row, 3)),
        {Rule.LITTLES_LAW},
    ),
    "not all of the time": (
        "tools",
        metric("request_latency_avg", lambda _, row: scaled(row, 0.02), board="one"),
        {Rule.IN_FLIGHT},
    ),
    "levels of memory exchanged": ("memory", levels_exchanged, {Rule.MEMORY_HIERARCHY}),
    "a level of memory copied": ("memory", level_copied, {Rule.MEMORY_HIERARCHY}),
    "a row twice": ("load sweep", twice, {Rule.DUPLICATE_ROW}),
    "a digit": ("even", metric("transfer_rate", second_digit), {Rule.DIGIT_SLIP}),
    "a factor of ten": ("load sweep", metric("latency_p95", ten), {Rule.FACTOR_OF_TEN}),
    "a rate of zero": ("load sweep", metric("throughput", zero), {Rule.ZERO}),
    "a zero alone": ("distributions", alone, {Rule.ZERO}),
    "too few digits": ("load sweep", coarse, {Rule.RESOLUTION}),
    "single replicates": ("memory", single, {Rule.SINGLE_REPLICATE}),
    "replicates not stated": ("memory", not_stated, {Rule.REPLICATES_NOT_STATED}),
}


def is_found(kind: str, seed: int, folder: Path) -> bool:
    """Whether a finding of the right rule stands at a changed row, or was held against it."""
    shape, put, rules = KINDS[kind]
    rng = random.Random(f"{kind} {seed}")
    table = SHAPES[shape](rng)
    changed = put(rng, table)
    lines = {at for at, row in enumerate(table.rows, start=2) if any(row is c for c in changed)}
    lines = lines or {len(table.rows) + 1}
    path = folder / "table.csv"
    path.write_text(table.text(), encoding="utf-8")
    return any(
        finding.rule in rules and lines & {p.line for p in (finding.at, *finding.others)}
        for finding in check_table(read_table(path)).findings
    )


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seeds", [FEW, pytest.param(MANY, marks=pytest.mark.extended)])
def test_nine_of_ten_errors_of_a_kind_are_found(kind: str, seeds: range, tmp_path: Path) -> None:
    found = [seed for seed in seeds if is_found(kind, seed, tmp_path)]
    assert len(found) >= LEAST * len(seeds), sorted(set(seeds) - set(found))
