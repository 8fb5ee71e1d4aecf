"""A commitment to study, plan and seed, made before the first trial.

Its digest says nothing of the seed, because of the nonce: it can be posted where a third party
dates it, and be opened when the run is published. It is the SHA-256 of these lines, so that
``sha256sum`` checks it::

    steelyard-commitment v1
    study_sha256 ...
    plan_sha256 ...
    seed ...
    nonce ...
"""

from __future__ import annotations

import hashlib
import secrets
from pathlib import Path
from typing import Literal

from pydantic import Field, ValidationError

from steelyard.errors import RecordError
from steelyard.plan.model import Frozen, Plan

COMMITMENT = "commitment.json"
_NONCE_BYTES = 32
_SHA256 = r"^[0-9a-f]{64}$"


class Commitment(Frozen):
    """What ``commitment.json`` holds: all that opens its digest; ``nonce`` is hexadecimal."""

    version: Literal[1] = 1
    study_sha256: str
    plan_sha256: str = Field(pattern=_SHA256)
    seed: int
    nonce: str = Field(pattern=_SHA256)

    @property
    def digest(self) -> str:
        """In hexadecimal, without a prefix."""
        lines = (
            "steelyard-commitment v1",
            f"study_sha256 {self.study_sha256}",
            f"plan_sha256 {self.plan_sha256}",
            f"seed {self.seed}",
            f"nonce {self.nonce}",
        )
        return hashlib.sha256("".join(f"{line}\n" for line in lines).encode()).hexdigest()

    def stored(self) -> bytes:
        """As it is kept."""
        return self.model_dump_json(indent=1).encode() + b"\n"


def commit(study_sha256: str, plan: Plan) -> Commitment:
    """A new one, with a nonce that no one can guess."""
    return Commitment(
        study_sha256=study_sha256,
        plan_sha256=hashlib.sha256(plan_bytes(plan)).hexdigest(),
        seed=plan.seed,
        nonce=secrets.token_hex(_NONCE_BYTES),
    )


def plan_bytes(plan: Plan) -> bytes:
    """``plan.json`` as it is stored."""
    return plan.model_dump_json(indent=1).encode() + b"\n"


def commitment_of(data: bytes, path: Path) -> Commitment:
    """As it was stored; ``path`` is named.

    Raises:
        RecordError: it is no commitment of this version.
    """
    try:
        return Commitment.model_validate_json(data)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"]) or "the document"
        raise RecordError(
            f"{path} is no commitment that this version reads: {place}: {first['msg']}",
            hint="it is made by `steelyard plan STUDY --commit FILE`, and never edited",
            slug="commitment-does-not-fit",
        ) from error
