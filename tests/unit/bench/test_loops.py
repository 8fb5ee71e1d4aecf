"""The minimal clients of a ring are truthful: the server has answered as often as they say."""

from __future__ import annotations

import shutil

import pytest
from bench.compiled import built
from bench.engine.loops import contests
from bench.engine.outputs import least
from bench.engine.process import Unmeasurable, charged
from bench.engine.steelyard import counting_sink


@pytest.mark.skipif(shutil.which("cc") is None, reason="there is no compiler of C")
@pytest.mark.parametrize("name", ["uring_client", "uring_connect_client"])
def test_a_client_of_a_ring_counts_what_the_server_has_answered(name: str) -> None:
    connections = 8
    with counting_sink("http") as (address, counters):
        try:
            done = charged([str(built(name)), address.rsplit(":", 1)[1], str(connections), "0.3"])
        except Unmeasurable as error:
            if "io_uring_setup" not in str(error):
                raise
            pytest.skip("this kernel, or a filter of system calls, forbids io_uring")
    counted = least(done.output).operations
    # The first request of all learns the length of a reply; the last ones are under way at the end.
    assert counted <= counters["ok"] <= counted + 1 + connections


def test_every_contest_of_the_loops_has_a_minimal_client_of_epoll_and_a_name_of_its_own() -> None:
    found = contests()
    assert len({one.name for one in found}) == len(found)
    assert all(one.least is not None for one in found)
