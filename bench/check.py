"""How many seeded errors ``steelyard check`` finds, and how many findings clean tables have.

python -m bench.check [TABLES]
"""

from __future__ import annotations

import random
import sys
import tempfile
from pathlib import Path

from tests.unit.consistency.clean_tables import SHAPES
from tests.unit.consistency.test_seeded_errors import KINDS, is_found

from steelyard.consistency.check import check_table
from steelyard.consistency.reading import read_table

_FIRST = 10_000
"""Seeds that no test uses."""


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 50
    seeds = range(_FIRST, _FIRST + count)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        print("seeded error                   found")
        for kind in KINDS:
            found = sum(is_found(kind, seed, folder) for seed in seeds)
            print(f"{kind:<30} {found:>4} of {count}")
        print("\nclean tables                findings  tables with one")
        for shape in SHAPES:
            found_in = [_findings(shape, seed, folder) for seed in seeds]
            hit = sum(map(bool, found_in))
            print(f"{shape:<28} {sum(found_in):>7} {hit:>8} of {count}")


def _findings(shape: str, seed: int, folder: Path) -> int:
    path = folder / "table.csv"
    rng = random.Random(f"{shape} {seed}")  # noqa: S311 - tables, no secrets
    path.write_text(SHAPES[shape](rng).text(), encoding="utf-8")
    return len(check_table(read_table(path)).findings)


if __name__ == "__main__":
    main()
