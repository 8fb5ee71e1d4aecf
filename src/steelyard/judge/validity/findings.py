"""What the machines of the systems are, and what differs between them besides what is compared."""

from __future__ import annotations

from typing import Literal, get_args

from steelyard.plan.model import Frozen

FactSubject = Literal[
    "memory",
    "processors",
    "accelerator",
    "kernel",
    "disk",
    "network",
    "versions",
    "other",
    "identity",
]
FACT_SUBJECTS: tuple[FactSubject, ...] = get_args(FactSubject)
"""Those that explain most first; facts of identity explain nothing."""


class DifferenceFinding(Frozen):
    """One fact that differs between two compared systems (the confounder audit).

    ``declared``: the study file says so, or it follows from what it says. ``accepted`` is the
    reason for which the study accepts it.
    """

    fact: str
    values: dict[str, str | None]
    subject: FactSubject = "other"
    declared: bool
    accepted: str | None = None

    @property
    def is_confounder(self) -> bool:
        """Whether it may explain a difference that is put down to what is compared."""
        return not self.declared and self.accepted is None and self.subject != "identity"


class MachineFinding(Frozen):
    """What a machine of these systems is: ``system``, ``host``, ``generator``, by fact.

    ``on`` is the name of the one it is, of several machines of a study.
    """

    machine: str
    on: str | None = None
    systems: tuple[str, ...]
    facts: dict[str, str]
