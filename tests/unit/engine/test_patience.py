"""Long waits end when the user asks; who cleans up afterwards waits as ever."""

from __future__ import annotations

import threading
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from typing import Any

import pytest

from steelyard.engine.patience import Patience, PatienceLost

NEVER_S = 3600.0


def answered(document: dict[str, Any]) -> Future[dict[str, Any]]:
    answer: Future[dict[str, Any]] = Future()
    answer.set_result(document)
    return answer


def test_an_answer_that_is_there_is_given() -> None:
    assert Patience().wait(answered({"a": 1}), 0) == {"a": 1}


def test_an_answer_that_does_not_come_is_reported_after_its_time() -> None:
    patience = Patience()
    with pytest.raises(FutureTimeoutError):
        patience.wait(Future(), 0.01)
    assert not patience.cut


def test_a_wait_under_way_in_another_thread_ends() -> None:
    patience = Patience()
    ended: list[str] = []

    def wait() -> None:
        try:
            patience.wait(Future(), NEVER_S)
        except PatienceLost as lost:
            ended.append(lost.failure.kind)

    thread = threading.Thread(target=wait)
    thread.start()
    patience.lose()
    thread.join(60)
    assert ended == ["cancelled"]
    assert patience.cut


def test_each_thread_is_interrupted_once_so_that_it_can_clean_up() -> None:
    patience = Patience()
    patience.lose()
    with pytest.raises(PatienceLost):
        patience.wait(Future(), NEVER_S)
    assert patience.wait(answered({}), NEVER_S) == {}


def test_no_one_tries_another_time() -> None:
    patience = Patience()
    patience.lose()
    for _ in range(2):
        with pytest.raises(PatienceLost):
            patience.pause(NEVER_S)


def test_patience_comes_back_for_what_is_undone() -> None:
    patience = Patience()
    patience.lose()
    patience.regain()
    assert patience.wait(answered({"a": 1}), NEVER_S) == {"a": 1}
    patience.pause(0)
    assert not patience.cut
