"""The whole gate runs only when asked for: ``pytest -m validate``.

One thread of linear algebra per process: the products here are too small to share, and threads
that wait for each other on a busy machine make a run several times longer. Must be set before
numpy is loaded.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

HERE = Path(__file__).parent


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if "validate" in config.getoption("markexpr"):
        return
    skip = pytest.mark.skip(reason="the whole gate takes minutes: pytest -m validate")
    for item in items:
        if HERE in item.path.parents and item.get_closest_marker("validate"):
            item.add_marker(skip)
