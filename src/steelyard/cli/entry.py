"""Where the command starts. ``load`` and ``sink`` go straight to the engine.

The laboratory (statistics, charts, tables) takes a second or two to import; who wants the engine
alone does not wait for it.
"""

from __future__ import annotations

import sys

from steelyard.cli import engine
from steelyard.cli.ending import exit_code


def main() -> None:
    """Runs the command line and ends the process with a documented exit code."""
    mode, arguments = sys.argv[1:2], sys.argv[2:]
    if mode in (["load"], ["sink"]):
        sys.exit(exit_code(lambda: engine.become(mode[0], arguments)))
    from steelyard.cli.main import app  # noqa: PLC0415 - see above

    app()
