"""Whole studies of two equal systems through the real tool on this machine: G7 and G8.

    python -m tests.calibration.live --studies 60 [--minutes 30]

Until so many were run on this machine, counting those of earlier runs, or time is up. Each study
is one `steelyard run` with an order of its own: two sinks of the same settings, half of them over
HTTP and half mail to disk, about half a minute. What came out is kept in results/live.json; nothing
is left out, also not a study that failed. Consecutive pairs of one kind are the same study twice.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import secrets
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tests.calibration.store import RESULTS, fingerprint

KEPT = "live.json"
KINDS = ("http", "mail")
_LONGEST_S = 600
_STUDY = """\
study: equals
question: Are two equal sinks told apart?
systems:
  one: {{platform: native, service: {service}}}
  two: {{platform: native, service: {service}}}
workload: {workload}
load: {{users: [2]}}
responses: {{throughput: {{primary: true}}}}
gates: {{errors: none}}
generator: {{calibrate: false}}
trials:
  margin: 5 %
  window: 200 ms
  warmup: 50 ms
  reset: service
  budget: {{trials: 40 per cell}}
"""
_OF_KIND = {
    "http": {"service": "{use: sink-http}", "workload": "{use: http}"},
    "mail": {
        "service": "{use: sink-smtp, store: maildir, sync: each message}",
        "workload": "{use: smtp, body: 4 KiB, recipients: 3}",
    },
}


@dataclass(frozen=True)
class Live:
    """One study. ``word`` is ``failed`` when the tool gave no verdict; ``why`` says what it did."""

    kind: str
    made: str
    judge: str
    machine: str
    load_average: float
    seed: int
    word: str
    visits: int | None
    estimate_log: float | None
    took_s: float
    why: str = ""


def run(kind: str, folder: Path) -> Live:
    """One study, from the study file to its verdict."""
    (folder / "study.yaml").write_text(_STUDY.format(**_OF_KIND[kind]), encoding="utf-8")
    seed, began = secrets.randbelow(2**31) + 1, time.monotonic()
    command = [sys.executable, "-m", "steelyard", "run", ".", "--json", "--seed", str(seed)]
    load_average = os.getloadavg()[0]
    try:
        done = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, check=False, timeout=_LONGEST_S
        )
        word, visits, estimate, why = _told(done)
    except subprocess.TimeoutExpired:
        word, visits, estimate, why = "failed", None, None, f"no end within {_LONGEST_S} s"
    return Live(
        kind=kind,
        made=f"{datetime.now(UTC):%Y-%m-%d %H:%M}",
        judge=fingerprint("G7"),
        machine=machine(),
        load_average=round(load_average, 2),
        seed=seed,
        word=word,
        visits=visits,
        estimate_log=estimate,
        took_s=round(time.monotonic() - began, 1),
        why=why,
    )


def _told(
    done: subprocess.CompletedProcess[str],
) -> tuple[str, int | None, float | None, str]:
    try:
        verdict: dict[str, Any] = json.loads(done.stdout)["workloads"][0]["verdicts"][0]
    except (ValueError, KeyError, IndexError):
        last = (done.stderr.strip().splitlines() or ["nothing"])[-1]
        return "failed", None, None, f"exit code {done.returncode}, {last}"
    visits = verdict["n_baseline"] + verdict["n_other"]
    return verdict["word"], visits, verdict["estimate_log"], ""


def machine() -> str:
    """What this machine is called on the page."""
    return f"{_processor()}, {os.cpu_count()} processors, Linux {platform.release()}"


def _processor() -> str:
    for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.machine()


def kept(folder: Path = RESULTS) -> list[Live]:
    """All studies that were ever run."""
    path = folder / KEPT
    if not path.exists():
        return []
    return [Live(**each) for each in json.loads(path.read_text(encoding="utf-8"))]


def keep(studies: list[Live], folder: Path = RESULTS) -> None:
    """Writes them whole."""
    folder.mkdir(exist_ok=True)
    partial = (folder / KEPT).with_suffix(".partial")
    lines = ",\n".join(json.dumps(asdict(each), ensure_ascii=False) for each in studies)
    partial.write_text(f"[\n{lines}\n]\n", encoding="utf-8")
    partial.replace(folder / KEPT)


def pairs_of(studies: list[Live]) -> Iterator[tuple[Live, Live]]:
    """The same study twice, in a row, on one machine."""
    places = dict.fromkeys((each.kind, each.machine) for each in studies)
    for place in places:
        own = [each for each in studies if (each.kind, each.machine) == place]
        yield from zip(own[::2], own[1::2], strict=False)


def next_kind(studies: list[Live], here: str) -> str:
    """Of the kinds the one with the fewest studies on this machine."""
    counts = Counter(each.kind for each in studies if each.machine == here)
    return min(KINDS, key=lambda kind: counts[kind])


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.calibration.live")
    parser.add_argument("--studies", type=int, default=60, help="in all, on this machine")
    parser.add_argument("--minutes", type=float, default=math.inf, help="begin none after these")
    options = parser.parse_args()
    deadline, here = time.monotonic() + 60 * options.minutes, machine()
    while time.monotonic() < deadline:
        studies = kept()
        if sum(each.machine == here for each in studies) >= options.studies:
            return
        with tempfile.TemporaryDirectory(prefix="steelyard-live-") as folder:
            found = run(next_kind(studies, here), Path(folder))
        keep([*kept(), found])
        sys.stderr.write(f"{found.kind}: {found.word} {found.why} ({found.took_s:.0f} s)\n")


if __name__ == "__main__":
    main()
