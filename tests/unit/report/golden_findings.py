"""RunFindings that were accepted as golden documents, and series that fit them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl

from steelyard.judge.findings import RunFindings

FOLDER = Path(__file__).parents[2] / "golden" / "report"
CASES = ("decided", "mixed", "failed", "huge", "plain", "three", "nothing", "screened")


def golden(case: str) -> RunFindings:
    """One golden document; the overwrite switch of the golden tests renews it."""
    return RunFindings.model_validate_json((FOLDER / case / "findings.json").read_text("utf-8"))


def sampled(findings: RunFindings, rows: int = 21) -> dict[str, pl.DataFrame]:
    """Counters of every good attempt: a busy service, a disk, no steal counter at all."""
    return {
        f"{a.trial:04d}-{a.attempt}": _frame(a.trial, rows)
        for a in findings.attempts
        if a.outcome == "ok"
    }


def _frame(seed: int, rows: int) -> pl.DataFrame:
    random = np.random.default_rng(seed)
    cpu_ns = np.cumsum(random.integers(10_000_000, 90_000_000, rows))
    written = np.cumsum(random.integers(0, 4_000_000, rows))
    columns = {
        "monotonic_ns": np.cumsum(random.integers(99_000_000, 101_000_000, rows)),
        "process.service.cpu_ns": cpu_ns,
        "process.service.rss_bytes": random.integers(10_000_000, 12_000_000, rows),
        "disk.store.write_bytes": written,
        "disk.store.flushes": written // 4096,
    }
    nothing = pl.Series("cpu.steal_ns", [None] * rows, dtype=pl.UInt64)
    return pl.DataFrame({name: values.tolist() for name, values in columns.items()}).with_columns(
        nothing
    )
