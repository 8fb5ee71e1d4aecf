"""A machine as it is: a rehearsal changes nothing, so no question has a second answer."""

from __future__ import annotations

import json
from typing import Any

from steelyard.engine.agent import ANSWER_TIMEOUT_S, Agent, AgentRefusal


class Looks:
    """Asks the agent of a machine, and keeps what it answers."""

    def __init__(self, agent: Agent) -> None:
        self._agent = agent
        self._known: dict[str, Any] = {}

    def ask(
        self, verb: str, *, timeout_s: float = ANSWER_TIMEOUT_S, long: bool = False, **fields: Any
    ) -> Any:
        """As :meth:`Agent.ask`; a refusal is kept as well."""
        question = json.dumps([verb, fields], sort_keys=True)
        if question not in self._known:
            try:
                told = self._agent.ask(verb, timeout_s=timeout_s, long=long, **fields)
            except AgentRefusal as refusal:
                told = refusal
            self._known[question] = told
        answer = self._known[question]
        if isinstance(answer, AgentRefusal):
            raise answer
        return answer
