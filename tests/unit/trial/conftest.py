"""What a load run and a sampler could have seen, small and exact."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from steelyard.engine.messages import LoadResult
from steelyard.records.counters import Counters
from steelyard.trial.observe.responses import Seen
from steelyard.trial.observe.window import WindowSamples

SECOND_NS = 1_000_000_000


def latency(count: int, **figures: float | None) -> dict[str, Any]:
    names = ("min", "mean", "max", "p50", "p90", "p95", "p99", "p999", "p9999")
    return {"count": count} | {name: figures.get(name) for name in names}


def load_document(**changes: Any) -> dict[str, Any]:
    document: dict[str, Any] = {
        "counts": {
            "intended": 200,
            "unsent": 0,
            "sent": 200,
            "ok": 200,
            "errors": 0,
            "inflight_at_stop": 0,
        },
        "errors": {},
        "rates": {"ok_per_s": 100.0},
        "latency_ns": {"response": latency(200, p50=5_000, max=90_000, mean=6_000.5)},
        "load": {
            "window_ns": 2 * SECOND_NS,
            "window_start_monotonic_ns": SECOND_NS,
            "window_end_monotonic_ns": 3 * SECOND_NS,
        },
        "cpu": {"ns_per_operation": 7_500.0, "busiest_worker_ratio": 0.2},
        "verdict": {"state": "valid", "warnings": []},
    }
    return document | changes


@pytest.fixture
def load() -> Callable[..., LoadResult]:
    return lambda **changes: LoadResult.model_validate(load_document(**changes))


@pytest.fixture
def seen() -> Callable[..., Seen]:
    def make(columns: dict[str, list[int | None]] | None = None, **changes: Any) -> Seen:
        rows = max((len(values) for values in (columns or {}).values()), default=0)
        clock: list[int | None] = [SECOND_NS * (row + 1) for row in range(rows)]
        counters = Counters({"monotonic_ns": clock, **(columns or {})})
        window = WindowSamples(counters, {"disk.store.writes": "tmpfs lies on no disk"})
        return Seen(LoadResult.model_validate(load_document(**changes)), window)

    return make
