"""Ctrl-C is acted on at once while waiting, and noted everywhere else."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import suppress

import pytest

from steelyard.engine.patience import PatienceLost
from steelyard.hosts.failures import SystemFailure
from steelyard.trial.session_state.interrupt import Interrupt


def test_a_signal_outside_of_waiting_is_only_noted() -> None:
    interrupt = Interrupt()
    with interrupt.installed():
        os.kill(os.getpid(), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGTERM)
    assert interrupt.asked


def test_a_noted_signal_ends_the_next_wait_at_once() -> None:
    interrupt = Interrupt()
    with interrupt.installed():
        os.kill(os.getpid(), signal.SIGINT)
        with pytest.raises(KeyboardInterrupt), interrupt.waiting():
            pytest.fail("the wait was entered")


def test_a_signal_ends_a_wait_and_a_second_one_does_not_tear_what_follows() -> None:
    interrupt = Interrupt()
    with interrupt.installed():
        with pytest.raises(KeyboardInterrupt), interrupt.waiting():
            os.kill(os.getpid(), signal.SIGINT)
            pytest.fail("the wait went on")
        os.kill(os.getpid(), signal.SIGINT)
    assert interrupt.asked


def test_the_handlers_of_before_are_back_afterwards() -> None:
    before = signal.getsignal(signal.SIGINT)
    with Interrupt().installed():
        assert signal.getsignal(signal.SIGINT) != before
    assert signal.getsignal(signal.SIGINT) == before


def test_without_a_session_ctrl_c_ends_the_program_as_ever() -> None:
    code = (
        "import os, signal\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job ignores it\n"
        "from steelyard.trial.session_state.interrupt import Interrupt\n"
        "with Interrupt().installed():\n    pass\n"
        "os.kill(os.getpid(), signal.SIGINT)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    assert b"KeyboardInterrupt" in done.stderr


def test_a_failure_that_comes_of_an_ended_wait_is_the_interruption() -> None:
    interrupt = Interrupt()
    with interrupt.installed(), pytest.raises(KeyboardInterrupt), interrupt.cutting():
        os.kill(os.getpid(), signal.SIGTERM)
        try:
            interrupt.patience.pause(60)
        except PatienceLost as lost:
            raise SystemFailure("tool_failed", "it ended badly") from lost


def test_a_failure_of_its_own_stays_one_when_the_user_asks_at_that_moment() -> None:
    interrupt = Interrupt()
    with interrupt.installed(), pytest.raises(SystemFailure), interrupt.cutting():
        os.kill(os.getpid(), signal.SIGTERM)
        raise SystemFailure("tool_failed", "it ended badly")


def test_an_ended_wait_that_somebody_took_for_an_answer_is_the_interruption() -> None:
    interrupt = Interrupt()
    with interrupt.installed(), pytest.raises(KeyboardInterrupt), interrupt.cutting():
        os.kill(os.getpid(), signal.SIGTERM)
        with suppress(PatienceLost):
            interrupt.patience.pause(60)


def test_undoing_is_waited_for_although_the_user_has_asked() -> None:
    interrupt = Interrupt()
    with interrupt.installed():
        os.kill(os.getpid(), signal.SIGTERM)
        interrupt.patience.pause(0)
        os.kill(os.getpid(), signal.SIGTERM)
        interrupt.patience.pause(0)
    assert interrupt.hurried


def test_the_waits_of_another_session_go_on() -> None:
    interrupt, another = Interrupt(), Interrupt()
    with interrupt.installed(), suppress(KeyboardInterrupt), interrupt.cutting():
        os.kill(os.getpid(), signal.SIGTERM)
        another.patience.pause(0)
        with pytest.raises(PatienceLost):
            interrupt.patience.pause(60)


def test_every_signal_is_reported_with_its_count() -> None:
    told: list[int] = []
    with Interrupt(told.append).installed():
        os.kill(os.getpid(), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGTERM)
    assert told == [1, 2]


def test_a_lost_terminal_is_a_signal_like_the_others() -> None:
    code = (
        "import os, signal, pty, sys\n"
        "from steelyard.trial.session_state.interrupt import Interrupt\n"
        "signal.signal(signal.SIGHUP, signal.SIG_DFL)\n"  # also where `nohup` runs this
        "_, terminal = pty.openpty()\n"
        "os.dup2(terminal, 2)\n"
        "interrupt = Interrupt()\n"
        "with interrupt.installed():\n    os.kill(os.getpid(), signal.SIGHUP)\n"
        "print(interrupt.asked, os.isatty(2))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert done.stdout == b"True False\n"


def test_a_hang_up_that_is_ignored_stays_ignored() -> None:
    code = (
        "import os, signal\n"
        "from steelyard.trial.session_state.interrupt import Interrupt\n"
        "signal.signal(signal.SIGHUP, signal.SIG_IGN)\n"
        "interrupt = Interrupt()\n"
        "with interrupt.installed():\n    os.kill(os.getpid(), signal.SIGHUP)\n"
        "print(interrupt.asked)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert done.stdout == b"False\n"
