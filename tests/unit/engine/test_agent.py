"""The conversation with an agent, played by small scripts with fixed answers."""

from __future__ import annotations

import sys
import textwrap
import threading
import time
from collections.abc import Iterator

import pytest

import steelyard
from steelyard.engine import agent as agent_module
from steelyard.engine.agent import Agent, AgentRefusal
from steelyard.engine.messages import Clock, as_answered
from steelyard.engine.patience import Patience
from steelyard.errors import EngineError

GREETING = """
    import json, sys, time
    def answer(request, **fields):
        print(json.dumps({"id": request["id"], **fields}), flush=True)
    def requests():
        for line in sys.stdin:
            yield json.loads(line)
    talk = requests()
    hello = next(talk)
    greeting = {"kind": "hello", "protocol": 1, "version": "VERSION", "pid": 1, "boot_id": None}
    answer(hello, ok=greeting)
""".replace("VERSION", steelyard.__version__)


def script(rest: str, greeting: str = GREETING) -> list[str]:
    return [sys.executable, "-c", textwrap.dedent(greeting) + textwrap.dedent(rest)]


@pytest.fixture
def echo() -> Iterator[Agent]:
    agent = Agent(script("for r in talk: answer(r, ok={'said': r['verb']})"), Patience())
    yield agent
    agent.close()


def test_an_answer_belongs_to_its_question(echo: Agent) -> None:
    waiting = [echo.submit(f"verb{number}") for number in range(50)]
    assert [w.result(10)["said"] for w in waiting] == [f"verb{number}" for number in range(50)]


def test_answers_may_come_in_another_order() -> None:
    rest = """
    first, second = next(talk), next(talk)
    answer(second, ok={"n": 2})
    answer(first, ok={"n": 1})
    for r in talk: pass
    """
    agent = Agent(script(rest), Patience())
    one, two = agent.submit("one"), agent.submit("two")
    assert (one.result(10)["n"], two.result(10)["n"]) == (1, 2)
    agent.close()


def test_a_refusal_carries_kind_message_and_hint() -> None:
    error = {"kind": "disk_full", "message": "no space", "hint": "make some"}
    agent = Agent(script(f"for r in talk: answer(r, error={error!r})"), Patience())
    with pytest.raises(AgentRefusal) as refused:
        agent.ask("make_directory", path="/x")
    assert refused.value.failure.kind == "disk_full"
    assert refused.value.failure.hint == "make some"
    agent.close()


def test_an_agent_that_dies_answers_all_that_wait_with_its_last_words() -> None:
    rest = """
    import os
    next(talk)
    os.close(1)  # its answers end before it says why
    time.sleep(0.2)
    os.write(2, b"out of memory\\n")
    os._exit(9)
    """
    agent = Agent(script(rest), Patience())
    first = agent.submit("load")
    with pytest.raises(EngineError, match="ended unexpectedly: out of memory"):
        first.result(10)
    with pytest.raises(EngineError) as later:
        agent.ask("facts")
    assert later.value.slug == "agent-is-lost"
    agent.close()


def test_a_program_that_ends_at_once_is_reported_with_what_it_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    start = threading.Thread.start

    def start_slowly(thread: threading.Thread) -> None:
        start(thread)
        time.sleep(0.1)

    monkeypatch.setattr(threading.Thread, "start", start_slowly)
    with pytest.raises(EngineError, match="ended unexpectedly: no such image"):
        Agent(["sh", "-c", "echo no such image >&2"], Patience())


def test_an_agent_that_says_nothing_is_given_up_after_its_time() -> None:
    agent = Agent(script("for r in talk: pass"), Patience())
    with pytest.raises(EngineError, match="has not answered to `facts`"):
        agent.ask("facts", timeout_s=0.05)
    agent.close()


def test_noise_between_answers_is_passed_over() -> None:
    agent = Agent(
        script("for r in talk:\n  print('Last login: today')\n  answer(r, ok={'n': 1})"), Patience()
    )
    assert agent.ask("facts")["n"] == 1
    agent.close()


def test_an_agent_of_another_version_is_refused_and_ended() -> None:
    refusal = """
    import json, sys
    r = json.loads(sys.stdin.readline())
    e = {"kind": "protocol_mismatch", "message": "I speak 7, you speak 1", "hint": None}
    print(json.dumps({"id": r["id"], "error": e}), flush=True)
    sys.stdin.read()
    """
    with pytest.raises(EngineError, match="I speak 7") as refused:
        Agent(script(refusal, greeting=""), Patience())
    assert refused.value.slug == "engine-of-another-version"


def test_an_agent_of_another_version_that_speaks_the_same_protocol_is_refused_all_the_same() -> (
    None
):
    older = GREETING.replace(steelyard.__version__, "0.0.7")
    with pytest.raises(EngineError, match=r"0\.0\.7") as refused:
        Agent(script("for r in talk: pass", greeting=older), Patience())
    assert refused.value.slug == "engine-of-another-version"


def test_a_program_that_is_not_there_is_said_so() -> None:
    with pytest.raises(EngineError, match="cannot start /nowhere/engine"):
        Agent(["/nowhere/engine", "agent"], Patience())


def test_an_agent_that_ignores_the_end_of_its_input_is_killed() -> None:
    agent = Agent(script("for r in talk: pass\ntime.sleep(600)"), Patience())
    agent.close(timeout_s=0.2)
    with pytest.raises(EngineError):
        agent.ask("facts")


def test_a_line_without_end_ends_the_agent_and_not_the_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(agent_module, "LONGEST_LINE_BYTES", 4096)
    endless = "sys.stdin.readline()\nwhile True: sys.stdout.write('a' * 65536)\n"
    agent = Agent(script(endless), Patience())
    with pytest.raises(EngineError, match="a line of more than 4096 bytes") as caught:
        agent.ask("echo")
    assert caught.value.slug == "agent-is-lost"
    agent.close()


@pytest.mark.parametrize(
    "answer", [{}, {"monotonic_ns": "soon"}, {"received_monotonic_ns": None}, [], "text", None]
)
def test_an_answer_of_another_form_is_named(answer: object) -> None:
    with pytest.raises(EngineError, match="no Clock") as caught:
        as_answered(Clock, answer)
    assert caught.value.slug == "engine-of-another-version"
