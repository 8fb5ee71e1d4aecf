"""The conversation with QEMU's monitor, against one that says what a test wants."""

from __future__ import annotations

import json
from typing import Any

import pytest

from steelyard.hosts.failures import SystemFailure
from steelyard.systems.qemu.qmp import Qmp

GREETING = {"QMP": {"version": {"qemu": {"major": 7, "minor": 2, "micro": 1}}, "capabilities": []}}


class Monitor:
    """Answers each order with the next of ``answers``; a list comes as several messages."""

    def __init__(self, *answers: Any, greeting: Any = GREETING) -> None:
        self.answers = list(answers)
        self.orders: list[dict[str, Any]] = []
        self.lines = [greeting if isinstance(greeting, str) else json.dumps(greeting)]

    def send(self, line: str) -> None:
        order = json.loads(line)
        self.orders.append(order)
        if order["execute"] == "qmp_capabilities":
            answers: list[Any] = [{"return": {}}]
        else:
            answers = self.answers.pop(0) if self.answers else []
        for answer in answers:
            message = answer if "event" in answer else {**answer, "id": order["id"]}
            self.lines.append(json.dumps(message))

    def receive(self, *, until_s: float) -> str:
        if not self.lines:
            raise SystemFailure("timed_out", f"nothing came until {until_s}")
        return self.lines.pop(0)

    def close(self) -> None:
        self.lines.clear()


def test_an_order_is_answered_and_the_version_told() -> None:
    monitor = Monitor([{"return": {"status": "running"}}])
    qmp = Qmp(monitor)
    assert qmp.version == "7.2.1"
    assert qmp.execute("query-status") == {"status": "running"}
    assert [order["execute"] for order in monitor.orders] == ["qmp_capabilities", "query-status"]


def test_events_that_come_before_an_answer_are_kept_until_they_are_asked_for() -> None:
    deleted = {"event": "DEVICE_DELETED", "data": {"device": "disk-1", "path": "/x"}}
    other = {"event": "DEVICE_DELETED", "data": {"path": "/y"}}
    qmp = Qmp(Monitor([other, deleted, {"return": {}}]))
    qmp.execute("device_del", {"id": "disk-1"})
    assert qmp.await_event("DEVICE_DELETED", timeout_s=1, device="disk-1")["path"] == "/x"
    with pytest.raises(SystemFailure, match="nothing came"):
        qmp.await_event("DEVICE_DELETED", timeout_s=1, device="disk-1")


def test_a_refusal_is_reported_in_qemus_own_words() -> None:
    error = {"error": {"class": "GenericError", "desc": "Device 'x' not found"}}
    with pytest.raises(SystemFailure, match=r"refuses device_del: Device 'x' not found"):
        Qmp(Monitor([error])).execute("device_del", {"id": "x"})


def test_a_late_answer_to_another_order_is_not_taken_for_this_one() -> None:
    monitor = Monitor([{"return": "right"}])
    qmp = Qmp(monitor)
    monitor.lines.append(json.dumps({"return": "late", "id": 999}))
    assert qmp.execute("query-status") == "right"


def test_it_is_asked_again_until_the_answer_is_the_one_waited_for() -> None:
    monitor = Monitor([{"return": {"status": "active"}}], [{"return": {"status": "completed"}}])
    ended = Qmp(monitor).poll(
        "query-migrate", lambda told: told["status"] == "completed", timeout_s=5
    )
    assert ended == {"status": "completed"}


@pytest.mark.parametrize("greeting", ["Escape character is '^]'.", {"hello": 1}])
def test_what_does_not_greet_as_qmp_does_is_no_monitor(greeting: Any) -> None:
    with pytest.raises(SystemFailure) as refused:
        Qmp(Monitor(greeting=greeting))
    assert refused.value.kind == "tool_failed"
