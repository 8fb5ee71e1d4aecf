"""What several instances gave becomes the responses of one trial."""

from __future__ import annotations

import pytest

from steelyard.records.missing import Missing, OfInstance, TooFewTimes
from steelyard.records.schema import Measured
from steelyard.study.declared.responses import responses
from steelyard.trial.observe.collect import Common, of_all_instances


def measured(value: float | None, missing: Missing | None = None) -> Measured:
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
        {"response.p99": measured(None, TooFewTimes(figure="p99", needed=1000))},
    ]
    joined = of_all_instances({"response.p99": "ns"}, instances, responses())["response.p99"]
    assert joined.value is None
    assert joined.missing == OfInstance(instance=2, missing=TooFewTimes(figure="p99", needed=1000))


def summed(response: str, common: list[Common], *values: float) -> float | None:
    instances = [{response: measured(value)} for value in values]
    return of_all_instances({response: "x"}, instances, responses(), common)[response].value


def test_two_containers_see_the_processors_of_their_one_kernel_which_count_once() -> None:
    one = Common("boot", ("boot", None))
    assert summed("system.cpu", [one, one], 1.9, 2.1) == pytest.approx(2.0)
    assert summed("throughput", [one, one], 10.0, 20.0) == 30.0
    assert summed("host.instance_cpu", [one, one], 0.5, 0.5) == 1.0


def test_two_guests_have_processors_of_their_own() -> None:
    assert summed("system.cpu", [Common("a"), Common("b")], 1.0, 0.5) == 1.5
    assert summed("system.cpu", [Common(), Common()], 1.0, 0.5) == 1.5, "unknown is not the same"


def test_a_disk_counts_once_for_all_whose_files_lie_on_it() -> None:
    same, other = Common("boot", ("boot", None)), Common("boot", ("boot", "/dev/loop7"))
    assert summed("disk.writes", [same, same, other], 40.0, 40.0, 5.0) == 45.0
