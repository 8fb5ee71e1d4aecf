"""What stands where a reader needs words: a kind with its figures, never a sentence."""

from __future__ import annotations

from typing import Any

from pydantic import (
    SerializationInfo,
    SerializerFunctionWrapHandler,
    model_serializer,
    model_validator,
)

from steelyard.plan.model import Frozen

ON = "on"
TEXT = "text"
"""Key of the sentence in a document, and of its writer in the context of serialisation."""


class Note(Frozen):
    """Base of every kind of note, caveat and reason, in records and in findings.

    A subclass narrows ``kind`` to one literal and declares its figures as fields, with units in
    their names. ``report/notes`` has one writer for each subclass; nothing else writes its text,
    and nothing reads a text back: a document that is read drops it.
    """

    kind: str
    on: tuple[str, ...] = ()
    """Of several machines those that it is about; none where it is about all, or there is one."""

    @model_serializer(mode="wrap")
    def _with_text(
        self, handler: SerializerFunctionWrapHandler, info: SerializationInfo
    ) -> dict[str, object]:
        document: dict[str, object] = handler(self)
        if not self.on:
            document.pop(ON, None)
        write = (info.context or {}).get(TEXT)
        return document if write is None else {**document, TEXT: write(self)}

    @model_validator(mode="before")
    @classmethod
    def _without_text(cls, given: Any) -> Any:
        if not isinstance(given, dict):
            return given
        return {key: value for key, value in given.items() if key != TEXT}
