"""``python -m bench.cluster``: batches of validation by a Dask cluster, and in one process.

Both sides run the same batches, in pairs of blocks whose order is drawn; a start of workers is not
counted. What they counted has to be the same.
"""

from __future__ import annotations

import argparse
import math
import os
import random
import time
from collections.abc import Sequence

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy, as validation does

from tests.calibration.batches import Batch, Ran, ran
from tests.calibration.tasks import tasks

from steelyard import cluster
from steelyard.cluster import Mapped
from steelyard.judge import judge_trials

ONE, MANY = "one process", "cluster"


def main() -> None:
    """A line for each pair of blocks, then the ratio of all with its interval."""
    words = argparse.ArgumentParser(prog="python -m bench.cluster")
    words.add_argument("--cluster", default="local:2", help="local:N, or a scheduler's address")
    words.add_argument("--batches", type=int, default=5_000)
    words.add_argument("--pairs", type=int, default=10)
    words.add_argument("--goal", default="G9", help="whose first cell is run")
    asked = words.parse_args()
    cell = next(task.cell for task in tasks() if task.goal == asked.goal)
    size = asked.batches // asked.pairs
    print(
        f"{asked.goal}: {cell}; {asked.pairs} pairs of {size} batches, {os.cpu_count()} processors"
    )
    draw = random.Random(1)  # noqa: S311 - the order of a benchmark
    rates: list[tuple[str, float]] = []
    with (
        cluster.opened(None) as here,
        cluster.opened(asked.cluster, ("steelyard", "tests.calibration")) as there,
    ):
        sides = {ONE: here, MANY: there}
        for mapped in sides.values():
            _block(mapped, [Batch(asked.goal, cell, number) for number in range(8)])
        for pair in range(asked.pairs):
            block = [Batch(asked.goal, cell, pair * size + number) for number in range(size)]
            found = {name: _block(sides[name], block) for name in draw.sample([*sides], len(sides))}
            if found[ONE][1] != found[MANY][1]:
                raise SystemExit(f"pair {pair + 1}: the two sides counted differently")
            rates += [(name, size / wall_s) for name, (wall_s, _, _) in found.items()]
            _print(pair + 1, found)
    _judge(rates)


def _block(mapped: Mapped, block: Sequence[Batch]) -> tuple[float, list[object], float]:
    """Wall time, what was counted, and the processor time of the batches themselves."""
    begin = time.monotonic()
    done: list[Ran] = list(mapped(ran, block))
    wall_s = time.monotonic() - begin
    return wall_s, [each.tally for each in done], sum(each.seconds for each in done)


def _print(pair: int, found: dict[str, tuple[float, list[object], float]]) -> None:
    load = os.getloadavg()[0]
    (one_s, _, one_cpu_s), (many_s, _, many_cpu_s) = found[ONE], found[MANY]
    print(
        f"{pair:3d}  one process {one_s:7.2f} s ({one_cpu_s:6.2f} s of CPU)  "
        f"cluster {many_s:7.2f} s ({many_cpu_s:6.2f})  {one_s / many_s:.2f} times  load {load:.1f}",
        flush=True,
    )


def _judge(rates: Sequence[tuple[str, float]]) -> None:
    verdict = judge_trials(
        [name for name, _ in rates], [rate for _, rate in rates],
        baseline=ONE, design="pairs", budget=len(rates),
    ).of(MANY)  # fmt: skip
    logs = (verdict.estimate_log, verdict.low_log, verdict.high_log)
    estimate, low, high = ("open" if log is None else f"{math.exp(log):.2f}" for log in logs)
    print(f"batches a second: {estimate} times those of one process, 95 % interval {low} to {high}")


if __name__ == "__main__":
    main()
