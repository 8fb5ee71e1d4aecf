"""What is damaged or hostile is read or refused: no reader of bytes fails in another way.

``STEELYARD_FUZZ_S=600 pytest tests/property/test_mutated_bytes.py`` gives each reader so many
seconds of a processor instead of a fixed number of inputs. An input that fails goes into
``tests/cases/mutated/READER/``, and is tried with every run.
"""

from __future__ import annotations

import os
import random
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.property.mutations import mutated
from tests.property.readers import Reader, readers

FOUND = Path(__file__).parents[1] / "cases" / "mutated"
READERS = readers()
FUZZ_S = float(os.environ.get("STEELYARD_FUZZ_S", "0"))
INPUTS = 30
ENOUGH_S = 2.0
"""Of a processor: some seeds are long."""


def attempt(reader: Reader, data: bytes, folder: Path) -> None:
    try:
        reader.read(data, folder)
    except reader.refuses:
        return


def inputs(name: str, reader: Reader) -> Iterator[bytes]:
    seeds = [path.read_bytes() for path in reader.seeds]
    draw = random.Random(f"{name} {FUZZ_S}")
    until_s = time.process_time() + (FUZZ_S or ENOUGH_S)
    tried = 0
    while time.process_time() < until_s and (FUZZ_S or tried < INPUTS):
        yield mutated(draw.choice(seeds), draw)
        tried += 1


@pytest.mark.parametrize("name", READERS)
def test_mutated_bytes_are_read_or_refused(name: str, tmp_path: Path) -> None:
    failed: dict[str, Path] = {}
    for number, data in enumerate(inputs(name, READERS[name])):
        try:
            attempt(READERS[name], data, tmp_path)
        except Exception as error:  # noqa: BLE001 - each is kept, and all fail the test
            kept = tmp_path / f"failed-{number}"
            kept.write_bytes(data)
            failed.setdefault(f"{type(error).__name__}: {str(error)[:80]}", kept)
    assert failed == {}


@pytest.mark.parametrize(
    "path", sorted(FOUND.glob("*/*")), ids=lambda path: f"{path.parent.name}-{path.name}"
)
def test_what_once_failed_is_read_or_refused(path: Path, tmp_path: Path) -> None:
    attempt(READERS[path.parent.name], path.read_bytes(), tmp_path)
