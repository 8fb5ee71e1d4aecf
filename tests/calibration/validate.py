"""``make validate``: simulates, keeps what came out, and writes docs/methods/validation.md.

    python -m tests.calibration.validate [--studies 20000] [--only G1 G2] [--cell TEXT]
    python -m tests.calibration.validate --minutes 30   # the emptiest goals first, until time is up
    python -m tests.calibration.validate --cluster local:8   # or tcp://HOST:8786
    python -m tests.calibration.validate --page         # writes the page, measures nothing

Each cell goes on where its last run on this judge ended; batches are added up one by one in
tests/calibration/results/, so that a run may be ended at any time and loses one batch at most.
Seeds follow from names and batches are added up in their order, so the counts are the same in one
process and on the workers of a Dask cluster, however often one of them dies.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from statistics import fmean

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy; see conftest.py

from tests.calibration.batches import Batch, Ran, ran, ran_of
from tests.calibration.goals import GOALS
from tests.calibration.page import write_page
from tests.calibration.store import Store, fingerprint, judged_by
from tests.calibration.tally import FULL, Task
from tests.calibration.tasks import tasks

from steelyard import cluster
from steelyard.cluster import Mapped

STUDIES = 256


def main(words: Sequence[str] | None = None) -> None:
    options = _options(words)
    if not options.page:
        minutes = float("inf") if options.minutes is None else options.minutes
        studies = options.studies or (STUDIES if options.minutes is None else FULL)
        deadline = time.monotonic() + 60 * minutes
        with cluster.opened(options.cluster, ("steelyard", "tests.calibration")) as mapped:
            each = None if options.cluster is None else mapped
            for line in run(_wanted(options), studies, deadline, each):
                sys.stderr.write(line + "\n")
    sys.stdout.write(f"written: {write_page()}\n")


def run(
    wanted: Sequence[Task], studies: int, deadline: float, mapped: Mapped | None = None
) -> Iterator[str]:
    """Batch after batch to the emptiest goal, and in it to the emptiest cell, until all have so
    many studies or time is up. How empty is told by what a full cell has: some cost much more.

    ``mapped`` hands batches to other processes; a cell counts as full as those will make it.
    """
    stores = {goal: Store(goal) for goal in dict.fromkeys(task.goal for task in wanted)}
    cells = [_Cell.of(task, stores[task.goal], studies) for task in wanted]
    by_name = {(each.task.goal, each.task.cell): each for each in cells}
    while _emptiest(cells) is not None and time.monotonic() < deadline:
        asked: list[Batch] = []
        due = _due(cells, deadline, asked)
        results = (
            (ran_of(by_name[batch[:2]].task, batch.number) for batch in due)
            if mapped is None
            else mapped(ran, due)
        )
        for place, result in enumerate(results):
            cell = by_name[asked[place][:2]]
            if not cell.is_full:  # a batch before held more studies than it was to hold
                cell.keep(result)
                yield f"{cell.task.goal}: {cell.task.cell}: {cell.studies} studies"
        for each in cells:
            each.asked = 0


def _due(cells: Sequence[_Cell], deadline: float, asked: list[Batch]) -> Iterator[Batch]:
    while time.monotonic() < deadline:
        place = _emptiest(cells)
        if place is None:
            return
        batch = cells[place].next_batch()
        asked.append(batch)
        yield batch


def _emptiest(cells: Sequence[_Cell]) -> int | None:
    """The place of the next; ``None`` when all are full."""
    filled = [min(each.studies_due / each.task.most, 1) for each in cells]
    of_goal: dict[str, list[float]] = defaultdict(list)
    for each, share in zip(cells, filled, strict=True):
        of_goal[each.task.goal].append(share)
    open_places = [p for p, each in enumerate(cells) if each.studies_due < each.enough]
    return min(
        open_places,
        key=lambda p: (fmean(of_goal[cells[p].task.goal]), filled[p], p),
        default=None,
    )


@dataclass
class _Cell:
    """One task while it fills. ``asked`` are batches that were handed out and not kept yet."""

    task: Task
    store: Store
    judge: str
    enough: int
    studies: int
    batches: int
    asked: int = 0

    @classmethod
    def of(cls, task: Task, store: Store, studies: int) -> _Cell:
        judge, found = fingerprint(judged_by(task.goal, task.cell)), store.get(task.cell)
        known = found is not None and found.judge == judge
        so_far = (found.studies, found.batches) if found is not None and known else (0, 0)
        return cls(task, store, judge, min(studies, task.most), *so_far)

    @property
    def studies_due(self) -> int:
        return self.studies + self.asked * self.task.batch

    @property
    def is_full(self) -> bool:
        return self.studies >= self.enough

    def next_batch(self) -> Batch:
        batch = Batch(self.task.goal, self.task.cell, self.batches + self.asked)
        self.asked += 1
        return batch

    def keep(self, ran: Ran) -> None:
        """Adds the next batch to what is stored."""
        result, tally = self.store.begin(self.task.cell, self.task.about, self.judge), ran.tally
        result.batches += 1
        result.studies += tally.studies
        result.counts.update(tally.counts)
        result.stops.update(tally.stops)
        result.seconds += ran.seconds
        result.dates = sorted({*result.dates, f"{datetime.now(UTC):%Y-%m-%d}"})
        self.store.keep()
        self.studies, self.batches = result.studies, result.batches
        self.asked -= 1


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
    parser.add_argument(
        "--cluster", help="local:N, or the address of a Dask scheduler; without it one process"
    )
    parser.add_argument("--page", action="store_true", help="write the page, measure nothing")
    return parser.parse_args(words)


if __name__ == "__main__":
    main()
