"""``statement.json``: a Statement of in-toto's attestation framework, version 1.

https://github.com/in-toto/attestation/blob/main/spec/v1/statement.md. It is signed by other
programs (``ssh-keygen -Y sign``, ``cosign``).
"""

from __future__ import annotations

from pathlib import Path
from typing import Final, Literal

from pydantic import ConfigDict, Field, ValidationError

from steelyard.errors import RecordError
from steelyard.plan.model import Frozen
from steelyard.publication.folder import STATEMENT
from steelyard.records.commitment import Commitment
from steelyard.records.files.documents import document_of

STATEMENT_TYPE: Final = "https://in-toto.io/Statement/v1"
_PREDICATES = "urn:steelyard:publication:v"
PREDICATE_TYPE: Final = "urn:steelyard:publication:v1"


class Digest(Frozen):
    """Of a file, in hexadecimal."""

    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")


class Subject(Frozen):
    """A file of the folder."""

    name: str
    digest: Digest


class Predicate(Frozen):
    """What is stated of the subjects.

    ``records_sha256`` is the digest of the list of all records, published or ``withheld``;
    ``commitment`` is absent of a run that was made without, ``commitment_sha256`` is its digest.
    """

    study: str
    run: str
    study_sha256: str
    seed: int
    measured_by: str
    judged_by: str
    attempts: int
    records: Literal["published", "withheld"]
    records_sha256: str
    commitment_sha256: str | None
    commitment: Commitment | None


class Statement(Frozen):
    """All of it."""

    model_config = ConfigDict(populate_by_name=True, frozen=True, extra="forbid")

    type: Literal["https://in-toto.io/Statement/v1"] = Field(STATEMENT_TYPE, alias="_type")
    subject: tuple[Subject, ...]
    predicate_type: Literal["urn:steelyard:publication:v1"] = Field(
        PREDICATE_TYPE, alias="predicateType"
    )
    predicate: Predicate

    def stored(self) -> bytes:
        """As it is kept."""
        return self.model_dump_json(indent=1, by_alias=True).encode() + b"\n"


def statement_of(data: bytes) -> Statement:
    """As it was stored.

    Raises:
        RecordError: it is of a later version, or no such statement.
    """
    try:
        return Statement.model_validate_json(data)
    except ValidationError as error:
        first = error.errors()[0]
        what = f"{'.'.join(map(str, first['loc'])) or 'the document'}: {first['msg']}"
        found = document_of(data, Path(STATEMENT)).get("predicateType")
    if isinstance(found, str) and found.startswith(_PREDICATES) and found != PREDICATE_TYPE:
        raise RecordError(
            f"{STATEMENT} is a {found}; this steelyard reads {PREDICATE_TYPE}",
            hint="verify it with a later steelyard",
            slug="record-version-unknown",
        )
    raise RecordError(
        f"{STATEMENT} is no statement of a publication: {what}",
        hint="get the folder again from who published it",
        slug="not-a-publication",
    )
