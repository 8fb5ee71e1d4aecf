"""A session that goes on is not stuck, however long it takes on a busy machine."""

from __future__ import annotations

from pathlib import Path

import pytest
from bench.torture import case as cases
from bench.torture.case import Case
from bench.torture.controller import LONGEST_S, STUDIES


class Session:
    """Ends after so many seconds, and writes a line to its ledger every so many."""

    def __init__(self, ledger: Path, takes_s: float, writes_every_s: float) -> None:
        self.exitcode: int | None = None
        self.now_s = 0.0
        self._ledger, self._takes_s, self._every_s = ledger, takes_s, writes_every_s

    def join(self, timeout: float = 0.0) -> None:
        before, self.now_s = self.now_s, self.now_s + timeout
        if self.now_s // self._every_s > before // self._every_s:
            with self._ledger.open("a") as file:
                file.write("{}\n")
        if self.now_s >= self._takes_s:
            self.exitcode = 0

    def kill(self) -> None:
        self.exitcode = -9


@pytest.mark.parametrize(
    ("takes_s", "writes_every_s", "code"),
    [(4 * LONGEST_S, LONGEST_S / 2, 0), (4 * LONGEST_S, 3 * LONGEST_S, 124), (5.0, LONGEST_S, 0)],
)
def test_only_a_session_that_writes_nothing_is_stuck(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    takes_s: float,
    writes_every_s: float,
    code: int,
) -> None:
    run = tmp_path / STUDIES / "torture" / "run"
    run.mkdir(parents=True)
    session = Session(run / "ledger.jsonl", takes_s, writes_every_s)
    monkeypatch.setattr(cases.time, "monotonic", lambda: session.now_s)
    one = object.__new__(Case)
    one.folder = tmp_path
    assert one._ended(session) == code
