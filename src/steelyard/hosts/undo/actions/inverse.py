"""What every inverse can do, and how it says that it could not."""

from __future__ import annotations

from typing import Any, ClassVar, Protocol

from steelyard.engine.agent import AgentRefusal
from steelyard.engine.messages import Failure
from steelyard.hosts.host import Host


class Inverse(Protocol):
    """A frozen dataclass of plain values; ``str`` says in words what :meth:`apply` does."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def kind(self) -> str:
        """Its name in the table, which is stored with it."""

    def apply(self, host: Host) -> None:
        """Takes the change back; does nothing when that was done, or when it was never made.

        Raises:
            AgentRefusal: the machine refuses, or what is there now is not ours.
            EngineError: the machine cannot be asked.
        """


def refused(message: str, hint: str | None = None) -> AgentRefusal:
    """The machine was asked and did not do it: the inverse stays pending."""
    return AgentRefusal("undo", Failure(kind="system", message=message, hint=hint))
