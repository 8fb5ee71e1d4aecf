"""One comparison of 96 visits: the last look, the final interval, and a whole set of trials.

The naive look makes all looks again from the first; the naive interval tests every ratio by
itself, as the first one of its stream. Both must say the same.
"""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import numpy as np
from bench.judge.table import Row, Times, in_turn

from steelyard.inference.confidence import Interval, Rejections, fixed_grid
from steelyard.inference.exact import Pool
from steelyard.inference.randomisation import PATHS, big_stick, draw
from steelyard.inference.ratio_tests import Inference
from steelyard.inference.sequential import Decision, Memory
from steelyard.inference.stream import Order, Stream

VISITS, REPEATS, MARGIN_LOG, ALPHA = 96, 9, float(np.log(1.02)), 0.05
WIDE_LOG = 0.06
LOOK_GOAL_S, INTERVAL_GOAL_S = 0.05, 2.0
SETS = ((96, REPEATS, 0.6), (2_000, 1, 30.0))
"""Visits, how often, and the goal in seconds of processor time."""
MEMORY_GOAL_MB = 500.0


def rows() -> list[Row]:
    """Raises if a shortcut changes an answer."""
    streams = [_stream(seed) for seed in range(REPEATS)]
    return [_look(streams), _interval(streams), *(_trials(*each) for each in SETS)]


def _stream(seed: int, effect_log: float = 0.012) -> Stream:
    """Too noisy for any verdict: all looks are made, and the last is as dear as any."""
    random = np.random.default_rng(seed)
    signs = big_stick(1, VISITS, random)[:, 0]
    other = signs > 0
    values = random.normal(0, WIDE_LOG, VISITS) + effect_log * other
    order = Order(("bench", seed), tuple(range(VISITS)), tuple(other.tolist()))
    drawn = draw(seed, "big_stick", VISITS, PATHS)
    return Stream(values, other, Pool(signs, drawn), VISITS, order)


def _beginning(stream: Stream, visits: int) -> Stream:
    order = stream.order.first(visits) if stream.order is not None else None
    return replace(
        stream,
        values=stream.values[:visits],
        other=stream.other[:visits],
        pool=stream.pool.first(visits),
        order=order,
    )


def _look(streams: list[Stream]) -> Row:
    """With the looks before it made as a session makes them; what is timed is the last one."""
    said: dict[str, list[Decision]] = {"one look": [], "all looks": []}
    session = Memory()

    def one_look(turn: int) -> None:
        said["one look"].append(Inference.of(streams[turn], session).decide(MARGIN_LOG, ALPHA))

    def all_looks(turn: int) -> None:
        said["all looks"].append(Inference.of(streams[turn]).decide(MARGIN_LOG, ALPHA))

    for stream in streams:
        Inference.of(_beginning(stream, VISITS - 1), session).decide(MARGIN_LOG, ALPHA)
    times = in_turn([one_look, all_looks], REPEATS)
    if said["one look"] != said["all looks"]:
        raise AssertionError("looks in turn and all at once disagree")
    return Row(f"look after visit {VISITS}, {PATHS:,} orders", *times, LOOK_GOAL_S)


def _interval(streams: list[Stream]) -> Row:
    ends: dict[str, list[Interval]] = {"shared": [], "alone": []}
    rates = (ALPHA / 2, ALPHA)

    def shared(turn: int) -> None:
        tests = Inference.of(streams[turn])
        ends["shared"] += [each.present for each in tests.sizes(MARGIN_LOG, rates, 0.012)]

    def alone(turn: int) -> None:
        for rate in rates:
            side = Rejections(streams[turn])
            for one in (side, side.mirrored):
                _each_alone(one, rate)
            found = Inference(side).sizes(MARGIN_LOG, [rate], 0.012)
            ends["alone"] += [each.present for each in found]

    times = in_turn([shared, alone], min(REPEATS, 3))
    if ends["shared"] != ends["alone"]:
        raise AssertionError("an end of the interval depends on how it was found")
    return Row(f"both intervals after visit {VISITS}", *times, INTERVAL_GOAL_S)


def _each_alone(side: Rejections, rate: float) -> None:
    """The whole grid, ratio by ratio."""
    for shift in fixed_grid(MARGIN_LOG):
        side.looks(np.array([shift]), rate)


def _trials(visits: int, repeats: int, goal_s: float) -> Row:
    """Equal systems of independent noise, judged as ``judge_trials`` does by default."""
    runs = []
    for seed in range(repeats):
        words = [sys.executable, "-m", "bench.judge.alone", str(visits), str(seed)]
        said = subprocess.run(words, capture_output=True, text=True, check=True).stdout
        runs.append(tuple(map(float, said.split())))
    cpu_s, wall_s, memory_mb = zip(*runs, strict=True)
    return Row(
        f"judge_trials on {visits:,} equal trials",
        Times(cpu_s, wall_s),
        None,
        goal_s,
        memory_mb=max(memory_mb),
        goal_mb=MEMORY_GOAL_MB,
    )
