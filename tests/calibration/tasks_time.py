"""What validation simulates of studies during which something changes: G23 to G25, G28 and G29."""

from __future__ import annotations

from collections.abc import Iterator

from tests.calibration.changing import CHANGES, SHAPES, Changing, followed
from tests.calibration.gating import SLOWER_LOG, Gate, gated, gates, powers
from tests.calibration.own_parts import PARTS, SDS, OwnPart, felt_by_one
from tests.calibration.spans import CASES as SPAN_CASES
from tests.calibration.spans import Spanned, spanned
from tests.calibration.streams import STREAMS, Stream, streamed
from tests.calibration.tally import BATCH, Tally, Task
from tests.calibration.withdrawing import CASES, Warned, withdrawn


def times() -> Iterator[Task]:
    """Cells of G23 to G25, G28 and G29."""
    for shape in SHAPES:
        yield _changing(shape)
    for part in PARTS:
        for sd in SDS:
            yield _own_part(OwnPart(part, sd))
    for spanned_case in SPAN_CASES:
        yield _spanned(spanned_case)
    for case in CASES:
        yield _withdrawn(case)
    for gate in (*gates(0.0), *gates(SLOWER_LOG), *powers()):
        yield _gate(gate)
    for stream in STREAMS:
        yield _stream(stream)


def _changing(shape: str) -> Task:
    def run(batch: int, studies: int) -> Tally:
        return followed(Changing(shape), batch, studies)

    return Task("G23", shape, {"changes": shape in CHANGES}, run, most=4_000)


def _own_part(case: OwnPart) -> Task:
    about = {"part": case.part, "sd": case.sd}
    return Task("G24", case.name, about, lambda batch, studies: felt_by_one(case, batch, studies))


def _spanned(case: Spanned) -> Task:
    def run(batch: int, studies: int) -> Tally:
        return spanned(case, batch, studies)

    return Task("G24", case.name, {"span": True}, run, most=4_000)


def _withdrawn(case: Warned) -> Task:
    about = {"warned": case.warned, "invalid": case.invalid}

    def run(batch: int, studies: int) -> Tally:
        return withdrawn(case, batch, studies)

    return Task("G25", case.name, about, run, most=4_000, batch=BATCH // 4)


def _gate(gate: Gate) -> Task:
    about = {"noise": gate.noise, "effect": gate.effect, "visits": gate.visits}

    def run(batch: int, studies: int) -> Tally:
        return gated(gate, batch, studies)

    return Task("G28", gate.name, about, run, most=4_000, batch=BATCH // 4)


def _stream(stream: Stream) -> Task:
    about = {"noise": stream.noise, "size": stream.size}

    def run(batch: int, studies: int) -> Tally:
        return streamed(stream, batch, studies)

    return Task("G29", stream.name, about, run, most=4_000)
