"""A bank says the same when it is read again, and what is no bank is refused with the reason."""

from __future__ import annotations

from pathlib import Path

import pytest

from steelyard.errors import RecordError
from steelyard.traces.bank import Bank, Trial, read_bank, write_bank

BANK = Bank(
    kernel="cpu",
    unit="GFLOP/s",
    direction="higher",
    recorded="2026-11-21 19:00:00 UTC",
    load_average=("0.10", "1.05"),
    trials=(Trial(0.0, 12.5, 0.0125), Trial(0.125, 11.75, None)),
    facts={"cpu.model": "A processor: with a colon", "cpu.count": "2"},
)


@pytest.mark.parametrize("name", ["mine.csv", "mine.csv.gz"])
def test_a_bank_that_is_read_again_is_the_same(tmp_path: Path, name: str) -> None:
    write_bank(tmp_path / name, BANK)
    assert read_bank(tmp_path / name) == BANK
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_the_same_bank_is_the_same_bytes(tmp_path: Path) -> None:
    for name in ("one.csv.gz", "two.csv.gz"):
        write_bank(tmp_path / name, BANK)
    assert (tmp_path / "one.csv.gz").read_bytes() == (tmp_path / "two.csv.gz").read_bytes()


def test_what_the_kernel_does_not_tell_is_empty_and_not_zero(tmp_path: Path) -> None:
    write_bank(tmp_path / "mine.csv", BANK)
    assert (tmp_path / "mine.csv").read_text(encoding="utf-8").splitlines()[-1] == "0.125,11.75,"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("steelyard trace 1", "steelyard trace 9"),
        ("# direction: higher", "# direction: sideways"),
        ("# kernel: cpu\n", ""),
        ("11.75", "eleven"),
        ("started_s,value", "started_s,figure"),
    ],
)
def test_a_bank_that_was_edited_is_refused(tmp_path: Path, before: str, after: str) -> None:
    path = tmp_path / "mine.csv"
    write_bank(path, BANK)
    text = path.read_text(encoding="utf-8")
    assert before in text
    path.write_text(text.replace(before, after), encoding="utf-8")
    with pytest.raises(RecordError, match="no noise recording"):
        read_bank(path)


def test_a_bank_that_was_cut_short_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "mine.csv.gz"
    write_bank(path, BANK)
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(RecordError, match="no noise recording"):
        read_bank(path)


def test_a_bank_that_cannot_be_written_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(RecordError) as caught:
        write_bank(tmp_path / "not" / "there.csv", BANK)
    assert caught.value.hint is not None
