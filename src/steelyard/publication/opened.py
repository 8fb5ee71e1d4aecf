"""A publication as it lies in its folder."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from steelyard.errors import RecordError
from steelyard.judge.findings import RunFindings
from steelyard.publication.folder import RESULTS, STATEMENT, Listed, digest_of, listed
from steelyard.publication.statement import Statement, statement_of
from steelyard.records.archive import FACTS, Run
from steelyard.report.from_run import find

_OF_ONE_MACHINE = len(Path(RESULTS, "STUDY", "RUN", "machines", "NAME", FACTS).parts)


@dataclass(frozen=True)
class Publication:
    """What lies there, read once; ``statement`` is what it says of itself."""

    folder: Path
    statement: Statement

    @cached_property
    def listed(self) -> Listed:
        """All files and what is none."""
        return listed(self.folder)

    @cached_property
    def digests(self) -> dict[str, str]:
        """Of all files that are there, as they are."""
        return {name: digest_of(self.folder / name) for name in self.listed.files}

    @property
    def withheld(self) -> bool:
        """Whether it has no records."""
        return self.statement.predicate.records == "withheld"

    @cached_property
    def run(self) -> Run:
        """The one that the statement names.

        Raises:
            RecordError: it is not there.
        """
        found = [
            name
            for name in self.listed.files
            if name.endswith(f"/{FACTS}") and len(Path(name).parts) in {4, _OF_ONE_MACHINE}
        ]
        wanted = f"{RESULTS}/{self.statement.predicate.run}/{FACTS}"
        if found != [wanted]:
            raise RecordError(
                f"the records of {self.statement.predicate.run} are not there",
                hint="get the folder again from who published it",
                slug="not-a-publication",
            )
        return Run((self.folder / wanted).parent)

    @cached_property
    def found(self) -> RunFindings:
        """What the judge says of the records now.

        Raises:
            SteelyardError: they cannot be judged.
        """
        return find(self.run)


def opened(folder: Path) -> Publication:
    """The publication in a folder.

    Raises:
        RecordError: it is none, or one of a later version.
    """
    path = folder / STATEMENT
    if path.is_symlink() or not path.is_file():
        raise RecordError(
            f"{folder} is no publication: {STATEMENT} is missing",
            hint="name a folder that `steelyard publish` made, as a whole",
            slug="not-a-publication",
        )
    return Publication(folder, statement_of(path.read_bytes()))
