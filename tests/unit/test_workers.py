"""What holds in every process that runs tests side by side with others."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


@pytest.mark.skipif("PYTEST_XDIST_WORKER" not in os.environ, reason="runs in no worker")
def test_a_worker_starts_with_one_thread_of_linear_algebra() -> None:
    at_the_start = Path("/proc/self/environ").read_bytes().split(b"\0")
    assert any(each.startswith(b"OPENBLAS_NUM_THREADS=") for each in at_the_start)
