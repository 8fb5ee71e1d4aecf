"""The whole gate runs only when asked for: ``pytest -m validate``."""

from __future__ import annotations

from pathlib import Path

import pytest

HERE = Path(__file__).parent


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if "validate" in config.getoption("markexpr"):
        return
    skip = pytest.mark.skip(reason="the whole gate takes minutes: pytest -m validate")
    for item in items:
        if HERE in item.path.parents and item.get_closest_marker("validate"):
            item.add_marker(skip)
