"""What a trial costs the controller as a run grows: processor time and memory, by blocks.

A short real run gives one record of each condition. Then a session goes through a whole plan
with attempts that take no time and give such a record, with other noise: progress, records on disk,
ledger, interim looks and what is shown are those of a run. A benchmark, not a test.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).parents[1]
MEMORY = Path("/dev/shm")  # noqa: S108 - the disk is not what is measured
BLOCK = 250
FEWEST_CONDITIONS = 5
MOST_IN_CONDITION = 1_000
"""Trials of a condition: a plan holds at most 1,000 visits."""
FEWEST = 6
STUDY = """\
study: growth
question: Does a trial cost the controller the same however many there were before?
systems:
  one: {{platform: native, service: {{use: sink-http}}}}
  two: {{platform: native, service: {{use: sink-http}}}}
workload: {{use: http}}
load: {{users: {users}}}
generator: {{calibrate: false}}
trials:
  {{margin: 0.1 %, window: 100 ms, warmup: 0 s, reset: none, budget: {{trials: {trials} per cell}}}}
"""
NOISE_LOG = 0.02


def main() -> None:
    """Prints a row for each block, and how much a trial grows over the whole run."""
    trials = int(sys.argv[1]) if len(sys.argv) > 1 else 5_000
    with tempfile.TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else ROOT) as folder:
        lines = [json.loads(line) for line in _measured(Path(folder), trials)]
    blocks = [lines[n : n + BLOCK] for n in range(0, len(lines) - BLOCK + 1, BLOCK)]
    print("      trials  CPU ms/trial  wall ms/trial   RSS MiB  KiB/trial")
    rows = [
        _row(before[-1], block)
        for before, block in zip([lines[:1], *blocks[:-1]], blocks, strict=True)
    ]
    for block, row in zip(blocks, rows, strict=True):
        last, cpu, wall, rss, each = block[-1], *row
        print(f"{last['trials']:12}{cpu:14.2f}{wall:15.2f}{rss:10.1f}{each:11.1f}")
    for name, values in (
        ("CPU time of a trial", [row[0] for row in rows[1:]]),
        ("memory", [row[2] for row in rows[1:]]),
    ):
        grown, half = _growth_percent(values)
        print(f"{name}: {grown:+.1f} % (95 % interval ±{half:.1f}) over the run")


def _row(before: dict[str, float], block: list[dict[str, float]]) -> tuple[float, ...]:
    last, count = block[-1], block[-1]["trials"] - before["trials"]
    rss = last["rss_bytes"]
    return (
        1000 * (last["cpu_s"] - before["cpu_s"]) / count,
        1000 * (last["wall_s"] - before["wall_s"]) / count,
        rss / 2**20,
        (rss - before["rss_bytes"]) / count / 1024,
    )


def _growth_percent(values: list[float]) -> tuple[float, float]:
    """From the first block to the last by least squares, share of the mean; half an interval."""
    found = np.array(values)
    place = np.linspace(-0.5, 0.5, len(found))
    slope = float(place @ found / (place @ place))
    rest = found - found.mean() - slope * place
    error = float(np.sqrt(rest @ rest / (len(found) - 2) / (place @ place)))
    return 100 * slope / found.mean(), 100 * 1.96 * error / found.mean()


def _measured(folder: Path, trials: int) -> Iterator[str]:
    study = folder / "study.yaml"
    conditions = max(FEWEST_CONDITIONS, -(-trials // MOST_IN_CONDITION))
    users = list(range(1, conditions + 1))
    study.write_text(STUDY.format(trials=FEWEST, users=users), encoding="utf-8")
    command = [sys.executable, "-m", "steelyard", "run", str(study), "--results", str(folder)]
    alone = os.environ | {"STEELYARD_LEASE": str(folder / "lease")}
    quiet = [*command, "--quiet", "--format", "md"]
    subprocess.run(quiet, check=True, stdout=subprocess.DEVNULL, env=alone)
    each = trials // (2 * conditions)
    study.write_text(STUDY.format(trials=each, users=users), encoding="utf-8")
    child = [sys.executable, "-P", __file__, "--child", str(folder)]  # `queue.py` is beside it
    one_thread = os.environ | {"OPENBLAS_NUM_THREADS": "1"}  # as the command loads numpy
    with subprocess.Popen(child, stdout=subprocess.PIPE, text=True, env=one_thread) as process:
        assert process.stdout is not None
        yield from process.stdout


def _child(folder: Path) -> None:
    """The session; a line of JSON on stdout after each attempt."""
    from steelyard.cli.console import Telling  # noqa: PLC0415
    from steelyard.cli.planning.plan import plan_study  # noqa: PLC0415
    from steelyard.cli.session.display import Display  # noqa: PLC0415
    from steelyard.cli.session.new_run import new_run  # noqa: PLC0415 - of the process that is measured
    from steelyard.plan.model import PlannedTrial  # noqa: PLC0415
    from steelyard.records.archive import open_run  # noqa: PLC0415
    from steelyard.records.ledger import Ledger  # noqa: PLC0415
    from steelyard.records.schema import TrialRecord  # noqa: PLC0415
    from steelyard.trial import session as sessions  # noqa: PLC0415
    from steelyard.trial.attempt.attempt import AttemptResult  # noqa: PLC0415
    from steelyard.trial.session_state.context import SessionContext  # noqa: PLC0415
    from steelyard.trial.session_state.interrupt import Interrupt  # noqa: PLC0415

    path = folder / "study.yaml"
    real = open_run(folder / "growth").records()
    by_conditions: dict[str, Any] = {
        repr(r.cell.conditions): json.loads(r.model_dump_json()) for r in real if r.outcome == "ok"
    }
    """Of either system, so that they are equal and no verdict ends the run."""
    noise = np.random.default_rng(1)

    def attempt(_session: object, trial: PlannedTrial, number: int) -> AttemptResult:
        document = deepcopy(by_conditions[repr(trial.cell.conditions)])
        document["cell"] = trial.cell.model_dump()
        factor = float(np.exp(NOISE_LOG * noise.standard_normal()))
        for measured in document["responses"].values():
            if measured["value"] is not None:
                measured["value"] *= factor
        now = time.time_ns()
        document |= {"trial": trial.trial, "attempt": number, "visit": trial.visit}
        document |= {"started_unix_ns": now, "finished_unix_ns": now + 100_000_000}
        record = TrialRecord.model_validate_json(json.dumps(document))
        return AttemptResult(record, documents={}, samples={})

    class Watcher(Display):
        done = 0

        def attempt_ends(self, record: TrialRecord) -> None:
            super().attempt_ends(record)
            self.done += 1
            print(json.dumps({"trials": self.done, **_used()}), flush=True)

    class Session(SessionContext):
        def hold_machines(self, waits: object = None) -> None:
            """There are none."""

    sessions.conduct = attempt
    study, plan = plan_study(path, None, 1, None)
    run = new_run(path, study, plan, folder / "child")
    Telling.quiet = True
    watcher = Watcher(study)
    with Ledger(run.ledger_path, watcher.recorded) as ledger:
        session = Session(study, plan, run, ledger, Interrupt())
        watcher.starts(plan, 0)
        for _ in sessions.Session(session, watcher)._through_the_plan():  # noqa: SLF001
            pass


def _used() -> dict[str, float]:
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return {
        "cpu_s": time.process_time(),
        "wall_s": time.monotonic(),
        "rss_bytes": pages * os.sysconf("SC_PAGE_SIZE"),
    }


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        _child(Path(sys.argv[2]))
    else:
        main()
