"""How sure equal time makes: visits with a reset against short ones of systems that stay up.

Runs one study of two equal web servers in several forms, interleaved, each for the same time.
Prints for each the standard error of the ratio between the two, and the time that 1 % would take:
both come from the records alone. A benchmark, not a test: figures of one machine at one time.
"""

from __future__ import annotations

import math
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from steelyard.records.archive import Run, open_run
from steelyard.records.schema import Outcome

ROOT = Path(__file__).parents[1]
FORMS = {
    "reset service, warm-up 1 s, window 2 s": "window: 2 s, warmup: 1 s, reset: service",
    "reset service, warm-up 50 ms, window 200 ms": "window: 200 ms, warmup: 50 ms, reset: service",
    "no reset, warm-up 50 ms, window 300 ms": "window: 300 ms, warmup: 50 ms, reset: none",
    "no reset, warm-up 50 ms, window 200 ms": "window: 200 ms, warmup: 50 ms, reset: none",
    "no reset, warm-up 20 ms, window 100 ms": "window: 100 ms, warmup: 20 ms, reset: none",
}
STUDY = """\
study: visits
question: Do two equal web servers look equal?
systems:
  one: {{platform: native, service: {{use: sink-http}}}}
  two: {{platform: native, service: {{use: sink-http}}}}
workload: {{use: http}}
load: {{users: 4}}
generator: {{calibrate: false}}
responses: {{throughput: {{primary: true}}}}
trials: {{margin: 0.1 %, {form}, seed: {seed}, budget: {{time: {seconds} s}}}}
"""


def main() -> None:
    """``python -m bench.visits ROUNDS SECONDS``."""
    rounds, seconds = int(sys.argv[1]), int(sys.argv[2])
    found: dict[str, list[tuple[int, float, float]]] = {name: [] for name in FORMS}
    for seed in range(1, rounds + 1):
        for name, form in FORMS.items():
            with tempfile.TemporaryDirectory(dir=ROOT) as folder:
                text = STUDY.format(form=form, seed=seed, seconds=seconds)
                (Path(folder) / "study.yaml").write_text(text, encoding="utf-8")
                found[name].append(certainty(_run(Path(folder))))
    for name, each in found.items():
        visits = [n for n, _, _ in each]
        errors = [error for _, error, _ in each]
        needed_s = [took_s * (error / 0.01) ** 2 for _, error, took_s in each]
        print(
            f"{name:46} visits {min(visits)} to {max(visits)}, standard error "
            f"{statistics.median(errors):.2%} ({min(errors):.2%} to {max(errors):.2%}), "
            f"1 % in {statistics.median(needed_s):.1f} s"
        )


def certainty(run: Run) -> tuple[int, float, float]:
    """Visits, the standard error of the logarithm of the ratio, and their time in seconds."""
    good = [record for record in run.records() if record.outcome is Outcome.OK]
    arms: dict[str, list[float]] = {}
    for record in good:
        value = record.responses["throughput"].value
        arms.setdefault(record.cell.system, []).append(math.log(value or math.nan))
    error = math.sqrt(sum(statistics.variance(arm) / len(arm) for arm in arms.values()))
    took_ns = good[-1].finished_unix_ns - good[0].started_unix_ns
    return len(good), error, took_ns / 1e9


def _run(folder: Path) -> Run:
    command = [sys.executable, "-m", "steelyard", "run", str(folder), "--format", "md"]
    subprocess.run(
        [*command, "--results", str(folder / "results")],
        check=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    return open_run(folder / "results" / "visits")


if __name__ == "__main__":
    main()
