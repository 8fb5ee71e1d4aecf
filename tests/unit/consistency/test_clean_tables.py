"""A table without a mistake has no finding, in the long form and with a column a quantity."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from tests.unit.consistency.clean_tables import SHAPES, load_sweep

from steelyard.consistency.check import check_table
from steelyard.consistency.reading import read_table

FEW, MANY = range(6), range(6, 66)


def findings(folder: Path, text: str) -> list[str]:
    path = folder / "table.csv"
    path.write_text(text, encoding="utf-8")
    table = read_table(path)
    assert len(table.cells) > 15
    return [f"{each.rule} {each.at}" for each in check_table(table).findings]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("seeds", [FEW, pytest.param(MANY, marks=pytest.mark.extended)])
def test_a_clean_table_has_no_finding(shape: str, seeds: range, tmp_path: Path) -> None:
    for seed in seeds:
        text = SHAPES[shape](random.Random(f"{shape} {seed}")).text()
        assert not findings(tmp_path, text), seed


@pytest.mark.parametrize("seed", FEW)
def test_a_clean_table_of_one_row_a_measurement_has_none(seed: int, tmp_path: Path) -> None:
    rows: dict[tuple[str, str], dict[str, str]] = {}
    for row in load_sweep(random.Random(seed)).rows:
        name = {"req/s": "throughput (req/s)", "s": "duration_s"}.get(row["unit"])
        name = name or (f"{row['metric']}_ms" if row["unit"] == "ms" else row["metric"])
        rows.setdefault((row["platform"], row["users"]), {})[name] = row["value"]
    names = [*next(iter(rows.values()))]
    lines = [",".join([*key, *row.values()]) for key, row in rows.items()]
    assert not findings(tmp_path, "\n".join([",".join(["platform", "users", *names]), *lines]))
