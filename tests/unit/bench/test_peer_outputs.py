"""What peers print is read as they mean it, or refused; it is never taken for nothing."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from bench.engine import outputs
from bench.engine.outputs import Counted
from bench.engine.process import Unmeasurable

CASES = Path(__file__).parents[2] / "cases" / "bench"
RECORDED = [
    (outputs.wrk, "wrk.txt", Counted(17621, 17197.23)),
    (outputs.ab, "ab.txt", Counted(35081, 35072.69)),
    (outputs.h2load, "h2load.txt", Counted(40343, 40343.0)),
    (outputs.oha, "oha.json", Counted(20992, 20992 / 1.002032403)),
    (outputs.iperf3, "iperf3-tcp.json", Counted(1453588480, 1453588480 / 1.00724)),
    (outputs.iperf3, "iperf3-udp.json", Counted(60663, 60663 / 1.000471)),
]
READERS: list[Callable[[str], object]] = [
    outputs.wrk,
    outputs.ab,
    outputs.h2load,
    outputs.oha,
    outputs.least,
    outputs.curl,
    outputs.iperf3,
    outputs.ftp_small,
]


def recorded(name: str) -> str:
    return (CASES / name).read_text(encoding="utf-8")


@pytest.mark.parametrize(("read", "name", "counted"), RECORDED)
def test_a_recorded_output_is_read(
    read: Callable[[str], Counted], name: str, counted: Counted
) -> None:
    found = read(recorded(name))
    assert found.operations == counted.operations
    assert found.per_s == pytest.approx(counted.per_s)


@pytest.mark.parametrize("read", READERS)
@pytest.mark.parametrize("text", ["", "{}", "Segmentation fault", "[]", '{"end": {"streams": []}}'])
def test_an_output_that_is_not_parsed_is_an_error(read: Callable[[str], object], text: str) -> None:
    with pytest.raises(Unmeasurable, match="cannot be parsed"):
        read(text)


def test_requests_that_failed_are_no_figure() -> None:
    with pytest.raises(Unmeasurable, match="ab met failures"):
        outputs.ab(recorded("ab.txt").replace("Failed requests:        0", "Failed requests: 3"))
    with pytest.raises(Unmeasurable, match="h2load met failures"):
        outputs.h2load(recorded("h2load.txt").replace("0 errored", "5 errored"))
    with pytest.raises(Unmeasurable, match="wrk met errors"):
        outputs.wrk(recorded("wrk.txt") + "  Non-2xx or 3xx responses: 17621\n")


def test_no_operation_at_all_is_no_figure() -> None:
    nothing = recorded("wrk.txt").replace("17621 requests", "0 requests")
    with pytest.raises(Unmeasurable, match="cannot be parsed"):
        outputs.wrk(nothing)


def test_datagrams_that_were_lost_are_not_counted() -> None:
    end = json.loads(recorded("iperf3-udp.json"))["end"]
    assert end["sum"]["lost_packets"] > 0
    assert outputs.iperf3(recorded("iperf3-udp.json")).operations < end["sum"]["packets"]


def test_our_own_peers_are_read_to_the_letter() -> None:
    assert outputs.least("300 requests in 1.500000 s\n") == Counted(300, 200)
    assert outputs.curl("bytes 1000 seconds 0.5\n") == Counted(1000, 2000)
    told = outputs.ftp_small("10 files in 2.000000 s, 0.250000 s of CPU before\n")
    assert told == (Counted(10, 5), 0.25)


def test_the_log_of_dovecot_tells_messages_of_sessions_and_of_cut_ones() -> None:
    log = recorded("dovecot.log")
    assert outputs.pop3_messages(log) == 21
    assert outputs.imap_messages(log) == 4423
