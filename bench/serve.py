"""``python -m bench.serve [RUNS]``: how long the list of so many runs takes, cold and warm.

The results folder is made in a temporary folder: each run has a ``run.json`` and a ledger with the
last look of a small study.
"""

from __future__ import annotations

import asyncio
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import httpx

from steelyard.web.app import application

STUDIES = 40
ROUNDS = 9
_DAY_NS = 86_400 * 10**9
_WORDS = ("faster", "slower", "undecided", "equivalent")


def make_results(folder: Path, runs: int) -> None:
    """A results folder of so many runs."""
    for number in range(runs):
        study = f"study-{number % STUDIES:02d}"
        run = folder / study / f"run-{number:05d}"
        run.mkdir(parents=True)
        facts = {
            "schema_version": 2, "tool_version": "0.1.0", "study": study,
            "study_file": "study.yaml", "study_sha256": "0" * 64, "variant": None,
            "seed": number, "created_unix_ns": 1_700_000_000 * 10**9 + number * _DAY_NS // 10,
            "command": ["run", "study.yaml"],
        }  # fmt: skip
        (run / "run.json").write_text(json.dumps(facts))
        (run / "ledger.jsonl").write_text("".join(f"{json.dumps(e)}\n" for e in _ledger(number)))


def _ledger(number: int) -> list[dict[str, object]]:
    conditions = [None, *({"load.users": users} for users in (1, 4, 16))]
    comparisons = [
        {"workload": None, "baseline": "one", "other": "two", "conditions": each,
         "word": _WORDS[number % 4], "margin_log": 0.05, "n_baseline": 8, "n_other": 8,
         "estimate_log": 0.01 * (number % 50), "low_log": -0.1, "high_log": 0.6}
        for each in conditions
    ]  # fmt: skip
    look = {"event": "interim_look", "at_unix_ns": 2, "visits_done": 16, "decided": True,
            "comparisons": comparisons, "least_visits_more": None, "most_visits_more": None,
            "open_claims": []}  # fmt: skip
    attempts = [
        {
            "event": "attempt_finished",
            "at_unix_ns": 1,
            "trial": trial,
            "attempt": 1,
            "outcome": "ok",
        }
        for trial in range(1, 49)
    ]
    return [{"event": "session_opened", "at_unix_ns": 0}, *attempts, look,
            {"event": "session_closed", "at_unix_ns": 3, "reason": "decided"}]  # fmt: skip


def _times_ms(ask: Callable[[], None], rounds: int) -> list[tuple[float, float]]:
    """Of each round the wall time and the processor time."""
    taken = []
    for _ in range(rounds):
        wall, cpu = time.perf_counter(), time.process_time()
        ask()
        taken.append((1e3 * (time.perf_counter() - wall), 1e3 * (time.process_time() - cpu)))
    return taken


def main(runs: int) -> None:
    """One line for each thing that is timed: wall time and its range, processor time."""
    with tempfile.TemporaryDirectory(prefix="steelyard-serve-") as at:
        folder = Path(at)
        make_results(folder, runs)
        app = application(folder.resolve())
        with asyncio.Runner() as runner:
            client = httpx.AsyncClient(
                transport=httpx.ASGITransport(app=app), base_url="http://127.0.0.1"
            )

            def page(address: str, *, looks: bool) -> None:
                if looks:
                    app.state.index.forget_when()
                assert runner.run(client.get(address)).status_code == 200

            rows = (
                ("first look, every run is read", "/runs", True, 1),
                ("list, each folder looked at again", "/runs", True, ROUNDS),
                ("list within the same second", "/runs", False, ROUNDS),
                ("searched, sorted by change, page 3", "/runs?q=study-1&sort=effect&page=3", True,
                 ROUNDS),
            )  # fmt: skip
            for title, address, looks, rounds in rows:
                taken = _times_ms(partial(page, address, looks=looks), rounds)
                wall, cpu = zip(*taken, strict=True)
                print(
                    f"{runs:>7,} runs  {title:<36} {statistics.median(wall):8.1f} ms"
                    f"  ({min(wall):.1f} to {max(wall):.1f}),"
                    f" processor {statistics.median(cpu):.1f} ms",
                    flush=True,
                )
    print(f"load average {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000)
