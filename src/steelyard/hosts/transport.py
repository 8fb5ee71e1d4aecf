"""Ways to open a pipe to an agent. A platform is little more than one of these."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from steelyard.engine.agent import Agent
from steelyard.engine.locate import check_version, find_engine
from steelyard.engine.patience import Patience

Way = Callable[[Sequence[str]], list[str]]
"""From words to be run on a machine to words that, run by the controller, run them there with
stdin and stdout joined. Ways nest: a container on a machine behind ``ssh`` is the container's way
within that of the machine.
"""


def here(argv: Sequence[str]) -> list[str]:
    """The way to the controller's own machine: none."""
    return list(argv)


def open_local_pipe(patience: Patience | None = None) -> Agent:
    """An agent on this machine.

    Raises:
        EngineError: the engine is missing or of another version.
    """
    engine = find_engine()
    check_version(engine)
    return Agent([str(engine), "agent"], patience or Patience())
