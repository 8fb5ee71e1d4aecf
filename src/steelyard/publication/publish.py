"""A run into the folder of a publication, whole or not at all."""

from __future__ import annotations

import shutil
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from steelyard.errors import HostError, RecordError
from steelyard.judge.findings import RunFindings
from steelyard.publication.folder import (
    FORMS,
    REPORT,
    RESULTS,
    STATEMENT,
    digest_of,
    listed,
    records_sha256,
    sums_bytes,
)
from steelyard.publication.secret_texts import SecretFound, SecretKind, secrets_in
from steelyard.publication.statement import Digest, Predicate, Statement, Subject
from steelyard.records.archive import MACHINES, Run
from steelyard.records.deletion import SCRATCH, held
from steelyard.records.files.checksums import SUMS
from steelyard.records.files.durable import NEW, folder_appears, write_file
from steelyard.records.files.packed import PACKED, read_all_packed
from steelyard.records.submission import FOLDER as QUEUE
from steelyard.report.anonymous import anonymous_of
from steelyard.report.formats.registry import write_report
from steelyard.report.from_run import find

_NOT_PUBLISHED = {REPORT, SCRATCH, QUEUE}
_MOST_NAMED = 10


@dataclass(frozen=True)
class Published:
    """What was made. ``commitment`` is its digest, ``None`` of a run that was made without."""

    folder: Path
    files: int
    bytes: int
    commitment: str | None
    sums_sha256: str


def publish(
    run: Run, folder: Path, *, allowed: Collection[SecretKind] = (), records: bool = True
) -> Published:
    """Makes the folder of a publication.

    Args:
        allowed: kinds of secrets that are none here.
        records: without them, findings and report are made anonymous, and the judge cannot be
            replayed by who reads them.

    Raises:
        HostError: the folder is there already, or cannot be written.
        RecordError: the run is being written, damaged, or holds a secret.
    """
    with held(run):
        run = Run(run.path.resolve())
        findings = find(run)
        try:
            with folder_appears(folder.absolute()) as new:
                return _filled(new, folder, run, findings, allowed, records=records)
        except FileExistsError as error:
            raise HostError(
                f"{folder} is there already",
                hint="name a folder that is not: a publication is never changed",
                slug="file-exists",
            ) from error
        except OSError as error:
            raise HostError(
                f"cannot write {folder}: {error.strerror}",
                hint="name a folder in one that you may write to, on a disk with room",
                slug="cannot-write",
            ) from error


def _filled(
    new: Path,
    folder: Path,
    run: Run,
    findings: RunFindings,
    allowed: Collection[SecretKind],
    *,
    records: bool,
) -> Published:
    _copy(run, new / RESULTS / run.key)
    if run.of_machines is not None:  # by which it is known for the run of one of several
        shutil.copyfile(run.of_machines / MACHINES, new / RESULTS / run.key / "../.." / MACHINES)
    shown = findings if records else anonymous_of(findings, run.records())
    write_report(shown, new / REPORT, FORMS, beside_records=False)
    names = listed(new).files
    digests = {name: digest_of(new / name) for name in names}
    of_records = records_sha256(digests)
    if not records:
        shutil.rmtree(new / RESULTS)
        digests = {name: value for name, value in digests.items() if (new / name).exists()}
    _refuse_secrets(new, digests, allowed)
    write_file(new / SUMS, sums_bytes(digests))
    stated = _predicate(run, findings, of_records, records=records)
    subjects = [SUMS, *(name for name in digests if name.startswith(f"{REPORT}/"))]
    write_file(new / STATEMENT, _statement(new, subjects, stated).stored())
    for name in (SUMS, STATEMENT):
        (new / name).chmod((new / REPORT).stat().st_mode & 0o666)
    return Published(
        folder=folder,
        files=len(digests) + 2,
        bytes=sum((new / name).stat().st_size for name in listed(new).files),
        commitment=stated.commitment_sha256,
        sums_sha256=digest_of(new / SUMS),
    )


def _predicate(run: Run, findings: RunFindings, of_records: str, *, records: bool) -> Predicate:
    made, facts = run.commitment(), run.facts()
    return Predicate(
        study=facts.study,
        run=findings.run,
        study_sha256=facts.study_sha256,
        seed=facts.seed,
        measured_by=findings.measured_by or facts.tool_version,
        judged_by=findings.tool_version,
        attempts=len(findings.attempts),
        records="published" if records else "withheld",
        records_sha256=of_records,
        commitment_sha256=made and made.digest,
        commitment=made,
    )


def _statement(new: Path, names: Iterable[str], stated: Predicate) -> Statement:
    subjects = (Subject(name=name, digest=Digest(sha256=digest_of(new / name))) for name in names)
    return Statement(subject=tuple(subjects), predicate=stated)


def _copy(run: Run, to: Path) -> None:
    """Plain files only; what a crash left unfinished is none of the run.

    Raises:
        RecordError: something in the folder is no file that belongs to a run.
    """
    found = listed(run.path)
    for name in found.others:
        raise RecordError(
            f"{run.path / name} is a link or a device",
            hint="a run that steelyard recorded has none: move it elsewhere",
            slug="cannot-be-published",
        )
    for name in found.files:
        parts = Path(name).parts
        if parts[0] in _NOT_PUBLISHED or any(part.startswith(NEW) for part in parts):
            continue
        (to / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(run.path / name, to / name)


def _refuse_secrets(new: Path, names: Collection[str], allowed: Collection[SecretKind]) -> None:
    found = [
        each
        for name in names
        for place, data in _texts(new, name)
        for each in secrets_in(place, data)
        if each.kind not in allowed
    ]
    if found:
        places = [_named(each) for each in found[:_MOST_NAMED]]
        more = f" and {len(found) - _MOST_NAMED} more" if len(found) > _MOST_NAMED else ""
        raise RecordError(
            f"nothing was published: secrets are in {', '.join(places)}{more}",
            hint="raw output can be deleted (`steelyard runs delete`); a password that a study "
            "writes out is for a new run with ${env:NAME}; --allow KIND if it is no secret",
            slug="cannot-be-published",
        )


def _texts(new: Path, name: str) -> Iterator[tuple[Path, bytes]]:
    """A file, or the files that are packed in it: compressed, they show no pattern."""
    path = new / name
    if path.parent.name != PACKED or path.suffix != ".parquet":
        yield Path(name), path.read_bytes()
        return
    for key, files in read_all_packed(path).items():
        for inner, data in files.items():
            yield Path(name, key, inner), data


def _named(found: SecretFound) -> str:
    return f"{found.path}:{found.line} ({found.kind})"
