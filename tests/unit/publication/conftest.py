"""A run as this version records it, and its publication, made once for all tests."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path

import pytest

from steelyard.publication.folder import RESULTS, STATEMENT, is_own, listed, records_sha256
from steelyard.publication.publish import publish
from steelyard.publication.statement import STATEMENT_TYPE
from steelyard.records.archive import Run, open_run
from steelyard.records.commitment import COMMITMENT, commit, plan_bytes
from steelyard.records.files.checksums import SUMS

KEPT = Path(__file__).parents[2] / "records" / "v2"
RUN = "durable-mail/2026-11-23T19-36-28Z"
RECORDS = f"{RESULTS}/{RUN}"


def with_sums(folder: Path) -> None:
    """``SHA256SUMS`` of a folder as it is."""
    files = sorted(path for path in folder.iterdir() if path.is_file() and path.name != SUMS)
    kept = {path.name: path.read_bytes() for path in files}
    kept.pop("ledger.jsonl", None)
    lines = [f"{hashlib.sha256(data).hexdigest()}  {name}\n" for name, data in kept.items()]
    (folder / SUMS).write_text("".join(lines))


def recorded(results: Path) -> Run:
    """The kept run with all that a run of today has besides."""
    folder = results / RUN
    shutil.copytree(KEPT, folder)
    run = open_run(folder)
    (folder / "plan.json").write_bytes(plan_bytes(run.planned()))
    made = commit(run.facts().study_sha256, run.planned())
    (folder / COMMITMENT).write_bytes(made.stored())
    for each in (folder, *(folder / "trials").iterdir()):
        with_sums(each)
    return run


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("publication")
    publish(recorded(folder / "own"), folder / "published")
    return folder / "published"


@pytest.fixture
def published(made: Path, tmp_path: Path) -> Path:
    """A copy that may be changed."""
    return Path(shutil.copytree(made, tmp_path / "published"))


def listed_anew(folder: Path) -> None:
    """All digests made again, as who may write the files can do it."""
    for each in (folder / RECORDS, *(folder / RECORDS / "trials").iterdir()):
        with_sums(each)
    names = [name for name in listed(folder).files if not is_own(name)]
    digests = {n: hashlib.sha256((folder / n).read_bytes()).hexdigest() for n in names}
    (folder / SUMS).write_text("".join(f"{digests[n]}  {n}\n" for n in names))
    statement = json.loads((folder / STATEMENT).read_text("utf-8"))
    assert statement["_type"] == STATEMENT_TYPE
    for subject in statement["subject"]:
        data = (folder / subject["name"]).read_bytes()
        subject["digest"]["sha256"] = hashlib.sha256(data).hexdigest()
    statement["predicate"]["records_sha256"] = records_sha256(digests)
    (folder / STATEMENT).write_text(json.dumps(statement))
