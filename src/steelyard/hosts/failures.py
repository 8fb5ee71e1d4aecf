"""What can go wrong with a platform: a kind, and who can act on it."""

from __future__ import annotations

from steelyard.study.platform.entry import FAILURE_KINDS, FailureKind

__all__ = ["FAILURE_KINDS", "OPERATORS", "FailureKind", "SystemFailure"]

OPERATORS: frozenset[FailureKind] = frozenset(
    {
        "image_missing",
        "image_unusable",
        "tool_missing",
        "no_rights",
        "no_space",
        "name_taken",
        "not_supported",
        "host_key",
        "engine_unfit",
    }
)
"""Trying again cannot help before somebody has done something: these end the session."""


class SystemFailure(Exception):  # noqa: N818 - becomes a record or a HostError, never printed
    """A platform could not do it. ``last_words`` is the end of a console or of stderr."""

    def __init__(
        self, kind: FailureKind, message: str, hint: str | None = None, *, last_words: str = ""
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.hint = hint
        self.last_words = last_words

    @property
    def for_operator(self) -> bool:
        """Whether somebody has to act before another try makes sense."""
        return self.kind in OPERATORS
