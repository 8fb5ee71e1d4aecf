"""Gates and histories as they are simulated, and what the page says of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.calibration import streams
from tests.calibration.gating import SLOWER_LOG, Gate, gated, gates, powers
from tests.calibration.goals import Standing
from tests.calibration.live_gates import KINDS, LiveGate, keep, kept
from tests.calibration.sections_gates import gates as gates_section
from tests.calibration.sections_history import histories
from tests.calibration.store import Store
from tests.calibration.streams import Stream, streamed

from steelyard.inference.sequential import VerdictWord


def quiet(effect: float) -> Gate:
    return Gate("quiet", effect, 24, lambda rng: rng.normal(0.0, 0.01, 24))


def test_a_slower_build_fails_its_gate_and_an_equal_one_passes() -> None:
    assert gated(quiet(SLOWER_LOG), 0, 8).counts["fails"] == 8
    assert gated(quiet(0.0), 0, 8).counts["fails"] == 0


def test_each_noise_has_as_many_visits_as_its_gate_and_a_name_of_its_own() -> None:
    every = [*gates(0.0), *gates(SLOWER_LOG), *powers()]
    assert len({gate.name for gate in every}) == len(every)
    rng = np.random.default_rng(1)
    assert all(len(gate.draw(rng)) == gate.visits for gate in every)


def test_a_history_names_what_is_slower_in_every_run_and_nothing_else(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def certain(_: str, margins: int) -> tuple[VerdictWord, ...]:
        return (VerdictWord.SLOWER if margins < 0 else VerdictWord.EQUIVALENT,)

    monkeypatch.setattr(streams, "words_of", certain)
    counts = streamed(Stream("certain", 3), 0, 1).counts
    assert counts["found at once"] == counts["worse"] == counts["named"] > 0
    assert counts["false"] == 0


def test_the_page_has_a_row_for_every_noise_and_every_live_gate(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store("G28", tmp_path)
    for gate in (*gates(0.0), *gates(SLOWER_LOG), *powers()):
        about = {"noise": gate.noise, "effect": gate.effect, "visits": gate.visits}
        result = store.begin(gate.name, about, "judge")
        result.studies, result.counts["fails"] = 8, 0 if gate.effect == 0 else 8
        result.stops[gate.visits] = 8
    live = [LiveGate(kind, "", "", "", 1.0, 0, "failed", None, None, 1.0) for kind in KINDS]
    keep(live, tmp_path)
    assert kept(tmp_path) == live
    monkeypatch.setattr("tests.calibration.sections_gates.kept", lambda: live)
    told = gates_section(store)
    rows = sum(line.startswith("| ") for line in told.lines)
    assert rows == 3 + len(gates(0.0)) + len(powers()) + len(live)
    assert told.standing is Standing.OPEN


def test_histories_that_name_wrongly_more_often_than_the_rate_are_not_reached(
    tmp_path: Path,
) -> None:
    store = Store("G29", tmp_path)
    result = store.begin("one", {"noise": "one", "size": 3}, "judge")
    result.studies = 100
    result.counts.update({"with a false one": 40, "worse": 100, "found in time": 100, "runs": 1})
    assert histories(store).standing is Standing.NOT_REACHED
