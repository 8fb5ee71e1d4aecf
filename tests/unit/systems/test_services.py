"""A service starts with the words of its catalogue file."""

from __future__ import annotations

from typing import Any

import pytest

from steelyard.engine.messages import ProcessState
from steelyard.hosts.failures import SystemFailure
from steelyard.study import catalogue
from steelyard.study.lookup import service_of
from steelyard.study.model import ServiceSpec
from steelyard.systems.services import command_line, counters
from steelyard.systems.services.values import values_for


def words(use: str, **settings: Any) -> list[str]:
    spec = ServiceSpec(use=use, settings=settings)
    given = {"folder": "/trial", "data": "/trial/data", "address": "127.0.0.1"}
    return command_line(spec, values_for(catalogue.service(use), spec, given))


def test_the_sink_listens_on_any_port_unless_one_is_asked_for() -> None:
    assert "127.0.0.1:0" in words("sink-smtp")
    assert "127.0.0.1:2525" in words("sink-smtp", port=2525)


def test_a_word_of_the_study_becomes_a_word_of_the_command_line() -> None:
    line = words("sink-smtp", store="maildir", sync="each message")
    assert line[line.index("--sync") + 1] == "each-message"
    assert line[line.index("--folder") + 1] == "/trial/data"


@pytest.mark.parametrize(("delay_s", "word"), [(0.0015, "0.001500000s"), (2, "2.000000000s")])
def test_durations_reach_the_engine_exactly(delay_s: float, word: str) -> None:
    line = words("sink-http", delay=delay_s)
    assert line[line.index("--delay") + 1] == word


def test_a_setting_that_is_not_set_adds_no_option() -> None:
    assert "--threads" not in words("sink-http", threads=None)


def ended(stdout_tail: str) -> ProcessState:
    return ProcessState(
        running=False,
        exit_code=0,
        signal=None,
        user_ns=None,
        system_ns=None,
        max_rss_bytes=None,
        stderr_tail="",
        stdout_tail=stdout_tail,
    )


def test_what_a_service_counted_is_the_last_line_it_wrote() -> None:
    assert counters(ended('noise\n{"ok": 7}\n')) == {"ok": 7}


@pytest.mark.parametrize("said", ["", "bye", "[1]", "7"])
def test_a_service_that_counts_nothing_has_no_counters(said: str) -> None:
    assert counters(ended(said)) == {}


def test_a_size_stands_in_the_unit_that_a_file_asks_for() -> None:
    text = """\
summary: A server.
speaks: [http]
settings:
  body: {kind: size, default: 1 KiB, meaning: "size"}
  port: {kind: port, meaning: "port"}
command: [server, "{body:KiB}k"]
listeners: {http: port}
ready: listening
"""
    spec = ServiceSpec(use="own", settings={"body": 4096}, text=text)
    entry = service_of(spec)
    assert command_line(spec, values_for(entry, spec, {})) == ["server", "4k"]
    odd = ServiceSpec(use="own", settings={"body": 1000}, text=text)
    with pytest.raises(SystemFailure, match="not a whole number of KiB"):
        command_line(odd, values_for(entry, odd, {}))
