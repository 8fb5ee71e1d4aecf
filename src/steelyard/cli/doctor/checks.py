"""One thing that ``steelyard doctor`` looked at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Grade = Literal["good", "note", "bad"]


@dataclass(frozen=True)
class Check:
    """One thing looked at; ``advice`` says what to do unless it is good."""

    name: str
    grade: Grade
    seen: str
    advice: str | None = None
