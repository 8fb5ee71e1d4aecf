"""What Slurm 22.05 of Debian 12 printed, word for word, as types."""

from __future__ import annotations

import pytest

from steelyard.queue.answers import (
    QueueState,
    accounted_in,
    clock_in,
    jobs_in,
    nodes_in,
    seconds_of,
)

NODES = """\
n1|localhost|127.0.0.1|all*|up|infinite|idle|2|1|2|1|1|epyc|board:1|none
n1|localhost|127.0.0.1|short|up|1:00|idle|2|1|2|1|1|epyc|board:1|none
n3|localhost|127.0.0.1|all*|up|infinite|allocated|2|1|2|1|1|xeon|board:1|none
n4|localhost|127.0.0.1|all*|up|infinite|drained|2|1|2|1|1|xeon|board:1|bad | board
"""
JOBS = """\
11|PENDING||None|(null)
10|PENDING||ReqNodeNotAvail, UnavailableNodes:n4|steelyard:c
9|RUNNING|n1|None|steelyard:a/b
8|FAILED|n1|JobLaunchFailure|steelyard:d
"""
CONFIG = """\
Configuration data as of 2026-11-26T16:32:45
AccountingStorageBackupHost = (null)
KillWait                = 30 sec
"""


def test_a_node_is_usable_or_says_why_not_and_has_a_kind() -> None:
    one, short, busy, drained = nodes_in(NODES)
    assert (one.name, one.partition, one.is_default, one.limit_s) == ("n1", "all", True, None)
    assert (short.partition, short.is_default, short.limit_s) == ("short", False, 60)
    assert (one.usable, busy.usable, drained.usable) == (True, True, False)
    assert (one.why, drained.why) == (None, "bad | board")
    assert (one.features, one.gres) == ({"epyc"}, {"board"})
    assert one.kind == short.kind != busy.kind == drained.kind


@pytest.mark.parametrize(
    "state", ["idle*", "down*", "drng", "draining", "maint", "fail", "unknown"]
)
def test_a_node_that_does_not_answer_or_is_kept_for_repair_is_not_usable(state: str) -> None:
    (node,) = nodes_in(NODES.splitlines()[0].replace("|idle|", f"|{state}|"))
    assert (node.usable, node.word) == (False, state)


@pytest.mark.parametrize("state", ["idle", "mixed", "idle~", "allocated+", "planned"])
def test_a_node_that_is_free_later_is_usable(state: str) -> None:
    (node,) = nodes_in(NODES.splitlines()[0].replace("|idle|", f"|{state}|"))
    assert node.usable


def test_jobs_of_others_are_left_out_and_reasons_hold_commas() -> None:
    waits, runs, failed = jobs_in(JOBS)
    assert (waits.number, waits.state, waits.comment) == (10, "pending", "steelyard:c")
    assert waits.reason == "ReqNodeNotAvail, UnavailableNodes:n4"
    assert (runs.state, runs.nodes, runs.reason) == ("running", "n1", None)
    assert (failed.state, failed.word, failed.reason) == ("failed", "FAILED", "JobLaunchFailure")


@pytest.mark.parametrize(
    ("word", "state"),
    [
        ("COMPLETING", "running"),
        ("COMPLETED", "ended"),
        ("CANCELLED by 1000", "cancelled"),
        ("NODE_FAIL", "failed"),
        ("TIMEOUT", "failed"),
        ("A_STATE_OF_LATER", "unknown"),
    ],
)
def test_accounting_has_each_state(word: str, state: QueueState) -> None:
    (job,) = accounted_in(f"7|{word}|n2\n7.batch|{word}|n2\n")
    assert (job.number, job.state, job.nodes) == (7, state, "n2")


@pytest.mark.parametrize(
    ("limit", "seconds"),
    [("1:00", 60), ("2:00:00", 7200), ("1-00:30:00", 88200), ("infinite", None), ("n/a", None)],
)
def test_times_are_read_as_slurm_writes_them(limit: str, seconds: int | None) -> None:
    assert seconds_of(limit) == seconds


def test_the_clock_of_the_controller_is_read() -> None:
    assert clock_in(CONFIG) == 1795710765.0
    assert clock_in("Configuration data as of N/A\n") is None
    assert clock_in("") is None


@pytest.mark.parametrize("wrong", ["", "\n\n", "n1|idle", "sinfo: error: x", "9|RUNNING|n1"])
def test_lines_of_another_form_are_left_out(wrong: str) -> None:
    assert nodes_in(wrong) == jobs_in(wrong) == []
    assert accounted_in(wrong.replace("9|", "x|")) == []
