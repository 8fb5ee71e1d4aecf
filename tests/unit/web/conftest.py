"""A results folder with real records, and somebody who asks its pages."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.applications import Starlette

from steelyard.web.app import application
from steelyard.web.worker import Worker

KEPT = Path(__file__).parents[2] / "records" / "v2"
STUDY = "durable-mail"
RUN = "2026-11-23T19-36-28Z"
KEY = f"{STUDY}/{RUN}"
TOKEN = "correct-horse-battery"  # noqa: S105 - of tests alone
LOOK = {
    "event": "interim_look", "at_unix_ns": 5, "visits_done": 12, "decided": False,
    "least_visits_more": 2, "most_visits_more": 6, "open_claims": ["keeps-up"],
    "comparisons": [
        {"workload": None, "baseline": "fast", "other": "durable", "conditions": None,
         "word": "slower", "margin_log": 0.05, "n_baseline": 6, "n_other": 6,
         "estimate_log": -0.5, "low_log": -0.7, "high_log": -0.3}
    ],
}  # fmt: skip


def add_run(results: Path, key: str, *, events: list[dict[str, Any]] | None = None,
            **facts: Any) -> Path:  # fmt: skip
    """A copy of the kept run; ``events`` stand for its ledger, ``facts`` for those of run.json."""
    run = results / key
    shutil.copytree(KEPT, run)
    document = json.loads((run / "run.json").read_text("utf-8"))
    (run / "run.json").write_text(json.dumps({**document, **facts}), encoding="utf-8")
    if events is not None:
        (run / "ledger.jsonl").write_text("".join(f"{json.dumps(e)}\n" for e in events), "utf-8")
    return run


class Reader:
    """Asks an application, on one event loop, as a browser on this machine does."""

    def __init__(self, app: Starlette, runner: asyncio.Runner) -> None:
        self.app = app
        self._runner = runner
        self._client = httpx.AsyncClient(
            transport=httpx.ASGITransport(app=app), base_url="http://127.0.0.1:8080"
        )

    def ask(self, path: str, method: str = "GET", **headers: str) -> httpx.Response:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return self._runner.run(self._client.request(method, path, headers=named))

    def ask_until_made(self, path: str) -> httpx.Response:
        """Asks again while it is being made."""
        while (answer := self.ask(path)).status_code == 202:
            pass
        return answer

    def close(self) -> None:
        self._runner.run(self._client.aclose())


@pytest.fixture(scope="session")
def runner() -> Iterator[asyncio.Runner]:
    with asyncio.Runner() as shared:
        yield shared


@pytest.fixture(scope="session")
def worker() -> Iterator[Worker]:
    """One process for all tests: what it needs takes seconds to import."""
    shared = Worker()
    yield shared
    shared.close()


@pytest.fixture
def results(tmp_path: Path) -> Path:
    folder = tmp_path / "results"
    add_run(folder, KEY)
    return folder.resolve()


@pytest.fixture
def reader(results: Path, runner: asyncio.Runner, worker: Worker) -> Iterator[Reader]:
    app = application(results)
    app.state.worker = worker
    asking = Reader(app, runner)
    yield asking
    asking.close()


@pytest.fixture
def reader_with_token(results: Path, runner: asyncio.Runner) -> Iterator[Reader]:
    asking = Reader(application(results, TOKEN, ["bench.example"]), runner)
    yield asking
    asking.close()
