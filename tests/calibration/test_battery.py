"""Each goal was measured on the judge of today: it decides as it did when its name was given."""

from __future__ import annotations

import pytest
from tests.calibration.battery import PARTS, digest, kept


@pytest.mark.parametrize("name", PARTS)
def test_every_part_of_the_judge_decides_as_when_it_was_validated(name: str) -> None:
    part = PARTS[name]
    judges = ", ".join([*part.goals, *(["_ENGINE"] if part.others else [])])
    assert digest(part.figures()) == kept()[name], (
        f"the figures of {name!r} have changed: give the judges of {judges} in store.py new names, "
        "then run python -m tests.calibration.battery"
    )


def test_no_digest_is_kept_of_a_part_that_is_gone() -> None:
    assert set(kept()) == set(PARTS)


def test_digests_ignore_the_last_bits_and_nothing_more() -> None:
    assert digest([0.1 + 0.2, -0.0]) == digest([0.3, 0.0])
    assert digest([0.300000002]) != digest([0.3])
    assert digest(["1"]) != digest([None])
