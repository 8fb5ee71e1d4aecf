"""What the judge emits where a reader needs words: a kind with its figures, never a sentence."""

from __future__ import annotations

from steelyard.judge.frozen import Frozen


class Note(Frozen):
    """Base of every kind of note, caveat and reason.

    A subclass narrows ``kind`` to one literal and declares its figures as fields, with units in
    their names. ``report/notes`` has one writer for each subclass; nothing else writes its text,
    and nothing reads a text back.
    """

    kind: str
