"""Real gates on this machine while load comes and goes: the live half of G28.

    python -m tests.calibration.live_gates --equal 40 --slower 20 [--minutes 30]

Each is one `steelyard gate --budget 30s` of the guide's study with windows of 300 ms: of two equal
servers, or of one that waits 10 ms before each reply and one that waits 11 ms. Beside it a process
keeps a processor busy for 0.2 to 8 s, and rests as long, at random. What came out is kept in
results/live_gates.json; nothing is left out, also not a gate that failed otherwise.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from tests.calibration.live import machine
from tests.calibration.store import RESULTS, fingerprint

KEPT = "live_gates.json"
KINDS = ("equal", "slower")
_LONGEST_S = 300
_BUSY_S = (0.2, 8.0)
_STUDY = """\
study: gate
question: Is the candidate slower than its base?
systems:
  base: {{platform: native, service: {{use: sink-http{base}}}}}
  candidate: {{platform: native, service: {{use: sink-http{candidate}}}}}
baseline: base
workload: {{use: http}}
load: {{users: 4}}
trials: {{margin: 5 %, window: 300 ms, warmup: 50 ms, reset: none, budget: {{time: 10 min}}}}
"""
_OF_KIND = {
    "equal": {"base": "", "candidate": ""},
    "slower": {"base": ", delay: 10 ms", "candidate": ", delay: 11 ms"},
}


@dataclass(frozen=True)
class LiveGate:
    """One gate. ``word`` is ``failed`` where there is no verdict; ``why`` says what it said."""

    kind: str
    made: str
    judge: str
    machine: str
    load_average: float
    exit_code: int
    word: str
    visits: int | None
    estimate_log: float | None
    took_s: float
    why: str = ""


@contextmanager
def changing_load() -> Iterator[None]:
    """A processor that is busy and idle in turn, for times that are drawn at random."""
    ended = threading.Event()

    def go_on() -> None:
        while not ended.is_set():
            busy = subprocess.Popen([sys.executable, "-c", "while True: pass"])
            ended.wait(random.uniform(*_BUSY_S))
            busy.kill()
            busy.wait()
            ended.wait(random.uniform(*_BUSY_S))

    thread = threading.Thread(target=go_on)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def gate(kind: str, folder: Path) -> LiveGate:
    """One gate, from the study file to its exit code."""
    (folder / "study.yaml").write_text(_STUDY.format(**_OF_KIND[kind]), encoding="utf-8")
    command = [sys.executable, "-m", "steelyard", "gate", ".", "--budget", "30s", "--quiet"]
    load_average, began = os.getloadavg()[0], time.monotonic()
    try:
        done = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, check=False, timeout=_LONGEST_S
        )
        code, why = done.returncode, (done.stderr.strip().splitlines() or ["nothing"])[-1]
    except subprocess.TimeoutExpired:
        code, why = -1, f"no end within {_LONGEST_S} s"
    word, visits, estimate = _found(folder / "steelyard-report" / "findings.json")
    return LiveGate(
        kind=kind,
        made=f"{datetime.now(UTC):%Y-%m-%d %H:%M}",
        judge=fingerprint("G28"),
        machine=machine(),
        load_average=round(load_average, 2),
        exit_code=code,
        word=word,
        visits=visits,
        estimate_log=estimate,
        took_s=round(time.monotonic() - began, 1),
        why=why if word == "failed" or code not in {0, 5} else "",
    )


def _found(path: Path) -> tuple[str, int | None, float | None]:
    try:
        verdict = json.loads(path.read_text(encoding="utf-8"))["workloads"][0]["verdicts"][0]
    except (OSError, ValueError, KeyError, IndexError):
        return "failed", None, None
    visits = verdict["n_baseline"] + verdict["n_other"]
    return verdict["word"], visits, verdict["estimate_log"]


def kept(folder: Path = RESULTS) -> list[LiveGate]:
    """All gates that were ever run."""
    path = folder / KEPT
    if not path.exists():
        return []
    return [LiveGate(**each) for each in json.loads(path.read_text(encoding="utf-8"))]


def keep(gates: list[LiveGate], folder: Path = RESULTS) -> None:
    """Writes them whole."""
    partial = (folder / KEPT).with_suffix(".partial")
    lines = ",\n".join(json.dumps(asdict(each), ensure_ascii=False) for each in gates)
    partial.write_text(f"[\n{lines}\n]\n", encoding="utf-8")
    partial.replace(folder / KEPT)


def _next(wanted: dict[str, int]) -> str | None:
    """The kind of which the smallest share was run; ``None`` when there are as many as wanted."""
    counts = Counter(each.kind for each in kept())
    left = [kind for kind in KINDS if counts[kind] < wanted[kind]]
    return min(left, key=lambda kind: counts[kind] / wanted[kind], default=None)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.calibration.live_gates")
    parser.add_argument("--equal", type=int, default=40)
    parser.add_argument("--slower", type=int, default=20)
    parser.add_argument("--minutes", type=float, default=math.inf, help="begin none after these")
    options = parser.parse_args()
    deadline = time.monotonic() + 60 * options.minutes
    wanted = {"equal": options.equal, "slower": options.slower}
    while time.monotonic() < deadline and (kind := _next(wanted)) is not None:
        with tempfile.TemporaryDirectory(prefix="steelyard-gate-") as folder, changing_load():
            found = gate(kind, Path(folder))
        keep([*kept(), found])
        sys.stderr.write(f"{kind}: {found.word} {found.exit_code} ({found.took_s:.0f} s)\n")


if __name__ == "__main__":
    main()
