"""A fault at some of the steps of a whole run; ``make torture`` tries all of them."""

from __future__ import annotations

from pathlib import Path

import pytest
from bench.torture.case import Case
from bench.torture.controller import Controllers
from bench.torture.faults import KILL, LASTING, SHORT
from bench.torture.platforms import PLATFORMS

(NATIVE,) = [platform for platform in PLATFORMS if platform.name == "native"]
FULL = next(iter(LASTING))
SELECTION = [(KILL, 45), (SHORT, 30), (FULL, 52)]


@pytest.fixture(scope="module")
def controllers() -> Controllers:
    return Controllers()


@pytest.mark.parametrize(
    ("fault", "step"),
    [SELECTION[0], *(pytest.param(*each, marks=pytest.mark.extended) for each in SELECTION[1:])],
)
def test_a_run_that_meets_a_fault_is_whole_after_resume_and_the_machine_as_before(
    controllers: Controllers, tmp_path: Path, fault: str, step: int
) -> None:
    case = Case(controllers, tmp_path / "case", NATIVE)
    result = case.at_step(fault, step)
    case.close()
    assert result.met
    assert result.wrong == {}
