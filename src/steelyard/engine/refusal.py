"""What an agent answers when it cannot do what it was asked."""

from __future__ import annotations

from steelyard.engine.messages import Failure


class AgentRefusal(Exception):  # noqa: N818 - a refusal is an answer, not an error of the agent
    """The agent answered that it could not do what was asked; ``failure`` says why."""

    def __init__(self, verb: str, failure: Failure) -> None:
        super().__init__(f"{verb}: {failure.message}")
        self.failure = failure
