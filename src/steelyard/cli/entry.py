"""Where the command starts. ``load``, ``sink`` and ``kernel`` go straight to the engine.

Who wants the engine alone waits for nothing else; the commands load what they need
(``loading.py``).
"""

from __future__ import annotations

import atexit
import gc
import signal
import sys
from types import FrameType
from typing import NoReturn

from steelyard.cli import engine
from steelyard.cli.characters import replace_lacking
from steelyard.cli.ending import exit_code


def _hang_up(_number: int, _frame: FrameType | None) -> NoReturn:
    from steelyard.trial.session_state.terminal import leave_terminal

    leave_terminal()
    raise KeyboardInterrupt


def main() -> None:
    """Runs the command line and ends the process with a documented exit code."""
    # Asked to end by a supervisor, a command ends as it does with Ctrl-C: it cleans up.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    if signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:  # as `nohup` sets it
        signal.signal(signal.SIGHUP, _hang_up)
    replace_lacking(sys.argv)
    mode, arguments = sys.argv[1:2], sys.argv[2:]
    if mode in (["load"], ["sink"], ["kernel"]):
        sys.exit(exit_code(lambda: engine.become(mode[0], arguments)))
    # What starting makes is kept, and what is left at the end goes with the process: looking for
    # garbage in it takes a fifth of a plan's time. A command that runs collects (loading.py).
    gc.disable()
    atexit.register(gc.freeze)
    from steelyard.cli.main import app

    app()
