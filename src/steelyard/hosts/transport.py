"""Ways to open a pipe to an agent. A platform is little more than one of these."""

from __future__ import annotations

from steelyard.engine.agent import Agent
from steelyard.engine.locate import check_version, find_engine


def open_local_pipe() -> Agent:
    """An agent on this machine.

    Raises:
        EngineError: the engine is missing or of another version.
    """
    engine = find_engine()
    check_version(engine)
    return Agent([str(engine), "agent"])
