"""Which nodes can take a run: each refusal has a kind, before anything is queued."""

from __future__ import annotations

import pytest
from tests.unit.queue.test_answers import NODES

from steelyard.errors import HostError
from steelyard.queue.answers import architectures_in, nodes_in
from steelyard.queue.eligibility import (
    eligible,
    nodes_of_machines,
    refuse_other_clock,
    refuse_other_kinds,
)
from steelyard.records.submission import Placement

ALL = nodes_in(NODES)
HOUR_S = 3600


@pytest.mark.parametrize(
    ("placement", "names"),
    [
        (Placement(), ["n1", "n3"]),
        (Placement(constraint="xeon"), ["n3"]),
        (Placement(constraint="xeon|epyc"), ["n1", "n3"]),
        (Placement(gres="board:1", nodes=("n3",)), ["n3"]),
    ],
)
def test_nodes_that_can_take_it_are_found(placement: Placement, names: list[str]) -> None:
    assert [node.name for node in eligible(placement, HOUR_S, ALL)] == names


@pytest.mark.parametrize(
    ("placement", "said"),
    [
        (Placement(nodes=("n4",)), "bad | board"),
        (Placement(nodes=("n1", "n9")), "n9"),
        (Placement(constraint="arm64"), "no node"),
        (Placement(gres="gpu:1"), "no node"),
        (Placement(partition="night"), "night"),
        (Placement(partition="short"), "1 h"),
    ],
)
def test_what_no_node_can_take_is_refused_with_what_to_do(placement: Placement, said: str) -> None:
    with pytest.raises(HostError) as refused:
        eligible(placement, HOUR_S, ALL)
    assert refused.value.slug == "node-cannot-take-run"
    assert said in refused.value.message
    assert refused.value.hint


def test_machines_are_nodes_by_name_or_by_the_only_one_of_an_address() -> None:
    other = nodes_in(NODES.splitlines()[0].replace("n1|localhost|127.0.0.1", "b1|board|10.0.0.7"))
    addresses = ["ssh://n3", "ssh://root@board", "ssh://10.0.0.7"]
    assert nodes_of_machines(addresses, [*ALL, *other]) == ("n3", "b1", "b1")


@pytest.mark.parametrize("address", ["ssh://away", "ssh://localhost"])
def test_a_machine_that_is_no_node_or_several_is_refused(address: str) -> None:
    with pytest.raises(HostError) as refused:
        nodes_of_machines([address], ALL)
    assert refused.value.slug == "node-cannot-take-run"


def test_machines_of_two_kinds_are_refused_and_those_of_one_are_not() -> None:
    refuse_other_kinds([node for node in ALL if node.features == {"xeon"}])
    with pytest.raises(HostError) as refused:
        refuse_other_kinds(ALL)
    assert refused.value.slug == "machines-of-another-kind"


def test_machines_that_differ_in_their_architecture_alone_are_of_two_kinds() -> None:
    line = NODES.splitlines()[0]
    two = f"{line}\n{line.replace('n1|', 'n2|', 1)}\n"
    shown = (
        "NodeName=n1 Arch=x86_64 CoresPerSocket=1 CPUTot=2 OS=Linux 6.1.0 \n"
        "NodeName=n2 Arch=aarch64 CoresPerSocket=1 CPUTot=2 OS=Linux 6.1.0 \n"
        "NodeName=n3 CoresPerSocket=1 State=DOWN+NOT_RESPONDING \n"
    )
    known = architectures_in(shown)
    assert known == {"n1": "x86_64", "n2": "aarch64"}
    refuse_other_kinds(nodes_in(two))
    with pytest.raises(HostError, match="architecture aarch64") as refused:
        refuse_other_kinds(nodes_in(two, known))
    assert refused.value.slug == "machines-of-another-kind"


@pytest.mark.parametrize(("own_s", "queue_s"), [(1000.0, 1030.0), (1000.0, None)])
def test_a_clock_within_a_minute_or_that_is_not_known_is_accepted(
    own_s: float, queue_s: float | None
) -> None:
    refuse_other_clock(own_s, queue_s)


@pytest.mark.parametrize("queue_s", [700.0, 1300.0])
def test_a_clock_that_is_minutes_off_is_refused(queue_s: float) -> None:
    with pytest.raises(HostError) as refused:
        refuse_other_clock(1000.0, queue_s)
    assert refused.value.slug == "clocks-differ"
    assert "5 min" in refused.value.message
