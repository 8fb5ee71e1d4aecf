"""Of all operations of a load, those that failed are the slowest: they never ended."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.unit.records.test_histogram import SERVICE
from tests.unit.trial.conftest import latency

from steelyard.records.histogram import read_buckets
from steelyard.records.missing import FailedBeyond, TooFewTimes
from steelyard.records.schema import Measured
from steelyard.trial.observe.responses import Seen, measure_responses

OK = 100
"""Operations in the distribution."""
ENGINE_P90, LARGEST = 7, 243_100_931


def measured(name: str, seen: Callable[..., Seen], errors: int, inflight: int = 0) -> Measured:
    good = latency(OK, p90=ENGINE_P90, max=LARGEST) | {"hdr_v2_b64": SERVICE}
    counts = {
        "intended": OK + errors + inflight,
        "unsent": 0,
        "sent": OK + errors + inflight,
        "ok": OK,
        "errors": errors,
        "inflight_at_stop": inflight,
    }
    of = seen(counts=counts, latency_ns={"response": good, "service": good, "lateness": good})
    return measure_responses({name: "ns"}, of)[name]


def of_rank(rank: int) -> float:
    """The time of the good operation of this rank, by its bucket."""
    ends = [end for (_, end), n in sorted(read_buckets(SERVICE).items()) for _ in range(n)]
    return min(ends[rank - 1] - 1, LARGEST)


def test_without_a_failure_the_percentile_is_that_of_the_engine(seen: Callable[..., Seen]) -> None:
    assert measured("response.p90", seen, errors=0).value == ENGINE_P90


@pytest.mark.parametrize(("errors", "rank"), [(1, 91), (5, 95), (10, 99)])
def test_few_failures_move_a_percentile_to_a_slower_operation(
    seen: Callable[..., Seen], errors: int, rank: int
) -> None:
    """The ninetieth of a hundred is the ninety-fifth where five more have failed."""
    got = measured("response.p90", seen, errors)
    assert (got.value, got.infinite) == (of_rank(rank), False)
    assert of_rank(95) > of_rank(90)


def test_a_percentile_into_which_failures_reach_is_no_number(seen: Callable[..., Seen]) -> None:
    got = measured("response.p90", seen, errors=12)
    assert (got.value, got.infinite) == (None, True)
    assert isinstance(got.missing, FailedBeyond)
    assert got.missing.failed_share == pytest.approx(12 / 112)


def test_operations_under_way_at_the_end_make_no_failure_a_good_one(
    seen: Callable[..., Seen],
) -> None:
    """Twelve of 130 are less than a tenth, and of the 112 that ended more than that."""
    got = measured("response.p90", seen, errors=12, inflight=18)
    assert (got.value, got.infinite) == (None, True)


def test_service_times_follow_the_same_rule_and_lateness_does_not(
    seen: Callable[..., Seen],
) -> None:
    assert measured("service_time.p90", seen, errors=5).value == of_rank(95)
    assert measured("lateness.p90", seen, errors=5).value == ENGINE_P90


def test_a_percentile_still_needs_ten_operations_above_it(seen: Callable[..., Seen]) -> None:
    assert measured("response.p95", seen, errors=2).missing == TooFewTimes(figure="p95", needed=200)
