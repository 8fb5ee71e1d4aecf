"""Fewer simulated orders than a study has: as valid, and quick enough for every test run."""

from __future__ import annotations

import pytest

from steelyard.judge import families, series


@pytest.fixture(autouse=True)
def fewer_paths(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(families, "PATHS", 2_000)
    monkeypatch.setattr(families, "EXPLORATORY_PATHS", 1_000)
    monkeypatch.setattr(series, "PATHS", 2_000)
