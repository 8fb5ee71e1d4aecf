"""What plans, records and findings are made of: frozen, with declared fields only."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Frozen(BaseModel):
    """Base of everything that is read once and stays as it is; an undeclared field is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)
