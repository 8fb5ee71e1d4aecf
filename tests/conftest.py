"""No test is timed, also not by Hypothesis: machines that run the suite may be busy."""

from __future__ import annotations

import os
import signal
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from steelyard.hosts import lease

settings.register_profile(
    "untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True
)
settings.load_profile("untimed")

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
"""Workers inherit it as they start: pytest-randomly loads numpy before any conftest. Products
are too small here to be shared, and threads that wait for each other take five times the time."""

os.environ[lease.VARIABLE] = f"{tempfile.gettempdir()}/steelyard-tests-{os.getpid()}.lease"
"""Tests run side by side, and beside whatever else is measured on the machine."""

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A shell starts what it leaves in the background so, and what tests interrupt would inherit it.
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_unconfigure() -> None:
    Path(os.environ[lease.VARIABLE]).unlink(missing_ok=True)


HERE = Path(__file__).parent
LONGEST_FIRST = (
    "platforms/test_images",
    "platforms/test_study_on_machines",
    "platforms/",
    "integration/",
    "calibration/",
)
"""Paths of tests that take seconds to minutes; all others together take less than these."""
IN_EVERY_RUN = "test_contract.py"
"""Of the tests of platforms; the others have the marker ``extended``."""


@pytest.hookimpl(tryfirst=True)  # before tests are chosen by their markers
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begins with the long tests, so that no worker ends with one while others wait.

    Within each path the order stays as it was drawn.
    """
    for item in items:
        if item.path.parent == HERE / "platforms" and item.path.name != IN_EVERY_RUN:
            item.add_marker(pytest.mark.extended)
    items.sort(key=_place)


def _place(item: pytest.Item) -> int:
    path = item.path.relative_to(HERE).as_posix() if item.path.is_relative_to(HERE) else ""
    places = [place for place, begin in enumerate(LONGEST_FIRST) if path.startswith(begin)]
    return min(places, default=len(LONGEST_FIRST))
