"""``make validate``: simulates, keeps what came out, and writes docs/methods/validation.md.

    python -m tests.calibration.validate [--studies 20000] [--only G1 G2] [--cell TEXT]
    python -m tests.calibration.validate --page      # writes the page, measures nothing

Each cell goes on where its last run on this judge ended until it has ``--studies``; results are
added up in tests/calibration/results/. With ``--minutes`` it stops at the first batch that ends
after them. One process; seeds follow from names, so the counts are the same on every machine.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy; see conftest.py

from tests.calibration.goals import GOALS
from tests.calibration.page import write_page
from tests.calibration.store import Store, fingerprint
from tests.calibration.tally import Task
from tests.calibration.tasks import BATCH, tasks

STUDIES = 256


def main(words: Sequence[str] | None = None) -> None:
    options = _options(words)
    if not options.page:
        deadline = time.monotonic() + 60 * options.minutes
        for line in run(_wanted(options), options.studies, deadline):
            sys.stderr.write(line + "\n")
    sys.stdout.write(f"written: {write_page()}\n")


def run(wanted: Sequence[Task], studies: int, deadline: float) -> Iterator[str]:
    """Adds to every cell until it is full or time is up; a line for each that was added to."""
    for task in wanted:
        store = Store(task.goal)
        result = store.begin(task.cell, task.about, fingerprint(task.goal))
        wanted_here = min(studies, task.most or studies)
        if result.studies >= wanted_here:
            continue
        began, before = time.process_time(), result.studies
        while result.studies < wanted_here and time.monotonic() < deadline:
            count = min(BATCH, wanted_here - result.studies)
            tally = task.run(result.batches, count)
            result.batches += 1
            result.studies += tally.studies
            result.counts.update(tally.counts)
            result.stops.update(tally.stops)
        if result.studies == before:
            return
        result.seconds += time.process_time() - began
        today = f"{datetime.now(UTC):%Y-%m-%d}"
        result.dates = sorted({*result.dates, today})
        store.keep()
        yield f"{task.goal}: {task.cell}: {result.studies} studies, {result.seconds:.0f} s"


def _wanted(options: argparse.Namespace) -> list[Task]:
    only = set(options.only or GOALS)
    return [task for task in tasks() if task.goal in only and options.cell in task.cell]


def _options(words: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.calibration.validate")
    parser.add_argument("--studies", type=int, default=STUDIES, help="studies of every cell")
    parser.add_argument("--only", nargs="+", choices=list(GOALS), metavar="GOAL")
    parser.add_argument("--cell", default="", help="only cells whose name holds this text")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="stop after these")
    parser.add_argument("--page", action="store_true", help="write the page, measure nothing")
    return parser.parse_args(words)


if __name__ == "__main__":
    main()
