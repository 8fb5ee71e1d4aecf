"""What a latency probe saw becomes responses of its own, with the reasons for what is missing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from tests.unit.trial.conftest import latency, load_document

from steelyard.engine.messages import LoadResult
from steelyard.records.missing import Quoted, Reason, TooFewTimes, TurnedAway
from steelyard.records.schema import Measured
from steelyard.trial.observe.collect import probe_warnings, without_unsent
from steelyard.trial.observe.responses import Seen, measure_responses

Make = Callable[..., Seen]
TIMES = {
    "response": latency(50, p50=8_000, mean=9_000.0, max=70_000),
    "phase.connect": latency(50, p50=1_000),
}


def probed(seen: Make, **changes: object) -> Seen:
    document = load_document(latency_ns=TIMES) | changes
    return replace(seen(), probe=LoadResult.model_validate(document))


def measured(name: str, seen: Seen) -> Measured:
    return measure_responses({name: "ns"}, seen)[name]


def test_the_times_of_a_probe_are_its_own_and_not_those_of_the_load(seen: Make) -> None:
    assert measured("probe.p50", probed(seen)).value == 8_000
    assert measured("response.p50", probed(seen)).value == 5_000
    assert measured("probe.phase.connect.p50", probed(seen)).value == 1_000


def test_too_few_probes_for_a_percentile_are_a_reason_and_no_figure(seen: Make) -> None:
    got = measured("probe.p90", probed(seen))
    assert got.value is None
    assert got.missing == TooFewTimes(figure="p90", needed=100)


def test_a_probe_that_failed_more_often_than_a_percentile_allows_is_beyond_all(seen: Make) -> None:
    counts = {"intended": 50, "unsent": 0, "sent": 50, "ok": 20, "errors": 30}
    got = measured("probe.p50", probed(seen, counts=counts | {"inflight_at_stop": 0}))
    assert (got.value, got.infinite) == (None, True)


def test_errors_of_the_probe_are_a_share_of_what_it_was_to_send(seen: Make) -> None:
    counts = {"intended": 50, "unsent": 0, "sent": 50, "ok": 45, "errors": 5}
    got = measured("probe.errors", probed(seen, counts=counts | {"inflight_at_stop": 0}))
    assert (got.value, got.of, got.unit) == (pytest.approx(0.1), 50, "ratio")


def test_a_probe_that_was_refused_says_so_instead_of_a_latency(seen: Make) -> None:
    refused = Quoted(kind="probe_refused", said="no connection: conn_refused")
    got = measured("probe.p50", replace(seen(), probe_missing=refused))
    assert (got.value, got.missing) == (None, refused)


def test_warnings_of_a_probe_name_it_and_never_void_the_trial() -> None:
    warnings = [
        {"state": "invalid", "kind": "too_few_samples", "ok": 0, "needed": 20},
        {"state": "suspect", "kind": "cancelled"},
    ]
    verdict = {"state": "invalid", "warnings": warnings}
    probe = LoadResult.model_validate(load_document(verdict=verdict))
    by_the_clock = probe_warnings(probe, open_ended=False)
    assert {each.state for each in by_the_clock} == {"suspect"}
    assert [each.kind for each in by_the_clock] == ["probe_suspect", "probe_suspect"]
    (only,) = probe_warnings(probe, open_ended=True)
    assert only.figures == {"warning": "too_few_samples", "ok": 0, "needed": 20}


def test_the_time_of_a_run_is_that_of_a_number_of_operations_only(seen: Make) -> None:
    window = load_document()["load"]
    counted = seen(load=window | {"job": {"duration_ns": None, "operations": 200}})
    assert measure_responses({"run_time": "s"}, counted)["run_time"].value == 2.0
    timed = seen(load=window | {"job": {"duration_ns": 2_000_000_000}})
    assert measure_responses({"run_time": "s"}, timed)["run_time"].value is None


def test_refused_and_timed_out_operations_are_distinguished(seen: Make) -> None:
    errors = {"connect": {"conn_refused": 4, "conn_timeout": 2}, "150": {"ftp_4xx": 10}}
    counts = {"intended": 200, "unsent": 0, "sent": 200, "ok": 184, "errors": 16}
    got = seen(errors=errors, counts=counts | {"inflight_at_stop": 0})
    assert measured("errors.refused", got).value == pytest.approx(14 / 200)
    assert measured("errors.timed_out", got).value == pytest.approx(2 / 200)


@pytest.mark.parametrize("where", ["ramp_errors", "connection_errors"])
def test_clients_turned_away_without_an_operation_leave_no_share_of_zero(
    seen: Make, where: str
) -> None:
    got = measured("errors.refused", seen(**{where: {"banner": {"ftp_4xx": 10}}}))
    assert got.value is None
    assert got.missing == TurnedAway(times=10)
    broken = seen(**{where: {"banner": {"peer_closed_early": 10}}})
    assert measured("errors.refused", broken).value == 0


def test_syns_sent_again_are_counted_at_the_end_that_was_sampled(seen: Make) -> None:
    got = seen({"tcp.syn_retransmits": [7, 9, 12]})
    assert measured("tcp.syn_retransmits", got).value == 5
    missing = measured("generator.syn_retransmits", got).missing
    assert missing == Reason(kind="generator_not_sampled")


def test_a_probe_that_ends_with_its_load_has_not_failed_what_was_due_just_then(seen: Make) -> None:
    counts = {"intended": 51, "unsent": 1, "sent": 50, "ok": 50, "errors": 0}
    ended = probed(seen, counts=counts | {"inflight_at_stop": 0})
    assert ended.probe is not None
    got = measured("probe.errors", replace(ended, probe=without_unsent(ended.probe)))
    assert (got.value, got.of) == (0.0, 50)
