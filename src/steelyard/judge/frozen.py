"""What every finding is: frozen, and without fields that no one declared."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Frozen(BaseModel):
    """Base of the findings of every family."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)
