"""The agent that a controller has just sent its n-th message to is killed.

All messages of a controller to all of its agents are counted. The message is on its way: what it
asks for may be done, half done, or not begun.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from steelyard.engine.agent import Agent

KILL_AGENT = "kill -9 of the agent at a message"
_SEND = "_send"
"""What every message of every agent goes through."""
_SHOWN = 120


class Messages:
    """Counts them, and kills at number ``at``; 0 kills none. ``note`` says which message it was."""

    def __init__(self, at: int, note: Path) -> None:
        self.count = 0
        self._at = at
        self._note = note

    def install(self) -> None:
        """From now on, in this process."""
        setattr(Agent, _SEND, self._sent(getattr(Agent, _SEND)))

    def _sent(self, send: Any) -> Any:
        def sent(agent: Agent, message: dict[str, Any]) -> None:
            send(agent, message)
            self.count += 1
            if self.count == self._at:
                agent.kill(timeout_s=0)
                self._note.write_text(f"{self.count} {_words(message)}"[:_SHOWN], encoding="utf-8")

        return sent


def _words(message: dict[str, Any]) -> str:
    about = message.get("argv", message.get("path", ""))
    words = " ".join([message["verb"], *(about if isinstance(about, list) else [about])])
    return " ".join(words.split()).replace(str(Path.home()), "~")
