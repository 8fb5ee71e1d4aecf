"""One comparison of 96 visits: the last look, the final interval, and a whole set of trials.

The naive look makes all looks again from the first; the naive interval tests every ratio by
itself, as the first one of its stream. Both must say the same.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from bench.judge.table import Row, in_turn

from steelyard.inference.confidence import Interval, Rejections, fixed_grid
from steelyard.inference.exact import OneSided, first_crossings, pool_of
from steelyard.inference.randomisation import PATHS, big_stick, draw
from steelyard.inference.ratio_tests import Inference
from steelyard.inference.sequential import Decision, Memory
from steelyard.inference.stream import Order, Stream
from steelyard.judge import judge_trials

VISITS, REPEATS, MARGIN_LOG, ALPHA = 96, 9, float(np.log(1.02)), 0.05
NOISE_LOG, WIDE_LOG = 0.02, 0.06
LOOK_GOAL_S, INTERVAL_GOAL_S, STUDY_GOAL_S = 0.05, 2.0, 0.6


def rows() -> list[Row]:
    """Raises if a shortcut changes an answer."""
    streams = [_stream(seed) for seed in range(REPEATS)]
    return [_look(streams), _interval(streams), _study()]


def _stream(seed: int, effect_log: float = 0.012) -> Stream:
    """Too noisy for any verdict: all looks are made, and the last is as dear as any."""
    random = np.random.default_rng(seed)
    signs = big_stick(1, VISITS, random)[:, 0]
    other = signs > 0
    values = random.normal(0, WIDE_LOG, VISITS) + effect_log * other
    order = Order(("bench", seed), tuple(range(VISITS)), tuple(other.tolist()))
    drawn = draw(seed, "big_stick", VISITS, PATHS)
    return Stream(values, other, pool_of(signs, drawn), VISITS, order)


def _beginning(stream: Stream, visits: int) -> Stream:
    order = stream.order.first(visits) if stream.order is not None else None
    return replace(
        stream,
        values=stream.values[:visits],
        other=stream.other[:visits],
        pool=stream.pool[:visits],
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
            found = Inference(side, None).sizes(MARGIN_LOG, [rate], 0.012)
            ends["alone"] += [each.present for each in found]

    times = in_turn([shared, alone], min(REPEATS, 3))
    if ends["shared"] != ends["alone"]:
        raise AssertionError("an end of the interval depends on how it was found")
    return Row(f"both intervals after visit {VISITS}", *times, INTERVAL_GOAL_S)


def _each_alone(side: Rejections, rate: float) -> None:
    """The whole grid, ratio by ratio."""
    stream = side.stream
    for shift in fixed_grid(MARGIN_LOG).tolist():
        residuals = (stream.values - shift * stream.other)[None, :]
        (look,) = first_crossings(residuals, stream.pool, [OneSided(0, 1, rate)], stream.horizon)
        side.add((shift, rate), look)


def _study() -> Row:
    """Equal systems of independent noise, judged as ``judge_trials`` does by default."""
    orders = [np.random.default_rng(seed) for seed in range(REPEATS)]
    sets = []
    for random in orders:
        names = np.where(big_stick(1, VISITS, random)[:, 0] > 0, "B", "A").tolist()
        sets.append((names, np.exp(random.normal(0, NOISE_LOG, VISITS))))

    def judged(turn: int) -> None:
        judge_trials(*sets[turn], baseline="A", seed=turn)

    (time,) = in_turn([judged], REPEATS)
    return Row(f"judge_trials on {VISITS} equal trials", time, None, STUDY_GOAL_S)
