"""Where the command starts. ``load``, ``sink`` and ``kernel`` go straight to the engine.

The laboratory (statistics, charts, tables) takes a second or two to import; who wants the engine
alone does not wait for it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

from steelyard.cli import engine
from steelyard.cli.ending import exit_code

_BLAS_THREADS = "OPENBLAS_NUM_THREADS"


def main() -> None:
    """Runs the command line and ends the process with a documented exit code."""
    mode, arguments = sys.argv[1:2], sys.argv[2:]
    if mode in (["load"], ["sink"], ["kernel"]):
        sys.exit(exit_code(lambda: engine.become(mode[0], arguments)))
    _load_laboratory()()


def _load_laboratory() -> Callable[[], None]:
    """The commands, with numpy on one thread: its pool would disturb what is measured.

    The word to numpy is taken back at once, so that no service under test inherits it.
    """
    before = os.environ.get(_BLAS_THREADS)
    os.environ[_BLAS_THREADS] = "1"
    from steelyard.cli.main import app  # noqa: PLC0415 - see above

    if before is None:
        del os.environ[_BLAS_THREADS]
    else:
        os.environ[_BLAS_THREADS] = before
    return app
