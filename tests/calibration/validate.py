"""``make validate``: simulates, keeps what came out, and writes docs/methods/validation.md.

    python -m tests.calibration.validate [--studies 20000] [--only G1 G2] [--cell TEXT]
    python -m tests.calibration.validate --minutes 30   # the emptiest goals first, until time is up
    python -m tests.calibration.validate --page         # writes the page, measures nothing

Each cell goes on where its last run on this judge ended; batches are added up one by one in
tests/calibration/results/, so that a run may be ended at any time and loses one batch at most.
One process; seeds follow from names, so the counts are the same on every machine.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from statistics import fmean

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy; see conftest.py

from tests.calibration.goals import GOALS
from tests.calibration.page import write_page
from tests.calibration.store import Store, fingerprint, judged_by
from tests.calibration.tally import FULL, Task
from tests.calibration.tasks import tasks

STUDIES = 256


def main(words: Sequence[str] | None = None) -> None:
    options = _options(words)
    if not options.page:
        minutes = float("inf") if options.minutes is None else options.minutes
        studies = options.studies or (STUDIES if options.minutes is None else FULL)
        for line in run(_wanted(options), studies, time.monotonic() + 60 * minutes):
            sys.stderr.write(line + "\n")
    sys.stdout.write(f"written: {write_page()}\n")


def run(wanted: Sequence[Task], studies: int, deadline: float) -> Iterator[str]:
    """Batch after batch to the emptiest goal, and in it to the emptiest cell, until all have so
    many studies or time is up. How empty is told by what a full cell has: some cost much more.
    """
    stores = {task.goal: Store(task.goal) for task in wanted}
    judges = [fingerprint(judged_by(task.goal, task.cell)) for task in wanted]
    run_so_far = [
        _run_so_far(task, stores, judge) for task, judge in zip(wanted, judges, strict=True)
    ]
    while time.monotonic() < deadline:
        place = _emptiest(wanted, run_so_far, studies)
        if place is None:
            return
        task = wanted[place]
        run_so_far[place] += _batch(task, stores[task.goal], judges[place])
        yield f"{task.goal}: {task.cell}: {run_so_far[place]} studies"


def _emptiest(wanted: Sequence[Task], run_so_far: Sequence[int], studies: int) -> int | None:
    """The place of the next task; ``None`` when all are full."""
    filled = [min(count / task.most, 1) for task, count in zip(wanted, run_so_far, strict=True)]
    of_goal: dict[str, list[float]] = defaultdict(list)
    for task, share in zip(wanted, filled, strict=True):
        of_goal[task.goal].append(share)
    open_places = [p for p, n in enumerate(run_so_far) if n < min(studies, wanted[p].most)]
    return min(
        open_places, key=lambda p: (fmean(of_goal[wanted[p].goal]), filled[p], p), default=None
    )


def _run_so_far(task: Task, stores: dict[str, Store], judge: str) -> int:
    found = stores[task.goal].get(task.cell)
    return 0 if found is None or found.judge != judge else found.studies


def _batch(task: Task, store: Store, judge: str) -> int:
    """Runs and keeps one more batch; how many studies it had."""
    result = store.begin(task.cell, task.about, judge)
    began = time.process_time()
    tally = task.run(result.batches, task.batch)
    result.batches += 1
    result.studies += tally.studies
    result.counts.update(tally.counts)
    result.stops.update(tally.stops)
    result.seconds += time.process_time() - began
    result.dates = sorted({*result.dates, f"{datetime.now(UTC):%Y-%m-%d}"})
    store.keep()
    return tally.studies


def _wanted(options: argparse.Namespace) -> list[Task]:
    only = set(options.only or GOALS)
    return [task for task in tasks() if task.goal in only and options.cell in task.cell]


def _options(words: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.calibration.validate")
    parser.add_argument(
        "--studies",
        type=int,
        help=f"studies of every cell: {STUDIES}, or {FULL:,} with --minutes",
    )
    parser.add_argument("--only", nargs="+", choices=list(GOALS), metavar="GOAL")
    parser.add_argument("--cell", default="", help="only cells whose name holds this text")
    parser.add_argument("--minutes", type=float, help="stop at the batch that ends after these")
    parser.add_argument("--page", action="store_true", help="write the page, measure nothing")
    return parser.parse_args(words)


if __name__ == "__main__":
    main()
