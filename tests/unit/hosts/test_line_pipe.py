"""A conversation in lines with a program."""

from __future__ import annotations

import time

import pytest

from steelyard.hosts.failures import SystemFailure
from steelyard.hosts.line_pipe import LinePipe


def test_lines_go_there_and_come_back() -> None:
    pipe = LinePipe(["cat"])
    pipe.send("first")
    pipe.send("second")
    until_s = time.monotonic() + 20
    assert [pipe.receive(until_s=until_s) for _ in range(2)] == ["first\n", "second\n"]
    pipe.close()


def test_a_far_end_that_is_gone_is_reported_each_time() -> None:
    pipe = LinePipe(["true"])
    for _ in range(2):
        with pytest.raises(SystemFailure) as lost:
            pipe.receive(until_s=time.monotonic() + 20)
        assert lost.value.kind == "unreachable"
    pipe.send("into the void")
    pipe.close()


def test_waiting_has_an_end() -> None:
    pipe = LinePipe(["cat"])
    with pytest.raises(SystemFailure) as late:
        pipe.receive(until_s=time.monotonic())
    assert late.value.kind == "timed_out"
    pipe.close()


def test_a_program_that_is_not_there_is_named() -> None:
    with pytest.raises(SystemFailure, match="/nowhere/program"):
        LinePipe(["/nowhere/program"])
