"""What several instances gave becomes the responses of one trial."""

from __future__ import annotations

import pytest

from steelyard.records.schema import Measured
from steelyard.study.catalogue import responses
from steelyard.trial.collecting import of_all_instances


def measured(value: float | None, missing: str | None = None) -> Measured:
    return Measured(value=value, unit="x", missing=missing)


@pytest.mark.parametrize(
    ("response", "joined"),
    [
        ("throughput", 60.0),
        ("throughput.least", 10.0),
        ("response.p99", 30.0),
        ("service.cpu", 60.0),
        ("service.cpu_per_operation", 20.0),
        ("host.cpu", 30.0),
    ],
)
def test_throughput_adds_up_and_the_worst_response_time_counts(
    response: str, joined: float
) -> None:
    instances = [{response: measured(value)} for value in (20.0, 10.0, 30.0)]
    assert of_all_instances({response: "x"}, instances, responses())[response].value == joined


def test_one_instance_speaks_for_itself() -> None:
    alone = {"throughput": measured(7.0)}
    assert of_all_instances({"throughput": "x"}, [alone], responses()) == alone


def test_what_one_instance_lacks_is_missing_of_all_with_its_number_and_reason() -> None:
    instances = [
        {"response.p99": measured(5.0)},
        {"response.p99": measured(None, "fewer than the 1,000 samples")},
    ]
    joined = of_all_instances({"response.p99": "ns"}, instances, responses())["response.p99"]
    assert joined.value is None
    assert joined.missing == "instance 2: fewer than the 1,000 samples"
