"""A run is published whole or not at all, and never with a secret."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest
from tests.unit.publication.conftest import RUN, recorded, with_sums
from typer.testing import CliRunner, Result

from steelyard.cli.main import app
from steelyard.errors import HostError, RecordError
from steelyard.publication.check import Part, State
from steelyard.publication.folder import FINDINGS, listed
from steelyard.publication.publish import publish
from steelyard.publication.secret_texts import SecretKind, secrets_in
from steelyard.publication.verify import verify
from steelyard.records.archive import Run
from steelyard.records.commitment import COMMITMENT
from steelyard.records.compaction import compact
from steelyard.records.ledger import Ledger

KEY = "-----BEGIN OPENSSH PRIVATE KEY-----"


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return recorded(tmp_path / "own")


def steelyard(*words: str | Path) -> Result:
    return CliRunner().invoke(app, [*map(str, words)], env={"NO_COLOR": "1"})


def test_the_command_ends_with_0_and_says_every_part(made: Path, tmp_path: Path) -> None:
    done = steelyard("verify", made, "--json")
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert (found["run"], found["replayed"], found["failed"]) == (RUN, True, False)
    assert len(found["checks"]) == 7


def test_what_does_not_fit_ends_the_command_with_6(published: Path) -> None:
    (published / "report" / "report.csv").write_text("")
    done = steelyard("verify", published)
    assert done.exit_code == 6
    assert "report/report.csv" in done.stdout


def test_no_publication_ends_the_command_with_3(tmp_path: Path) -> None:
    assert steelyard("verify", tmp_path).exit_code == 3


def test_without_records_no_machine_is_named_and_the_judge_is_not_replayed(
    run: Run, tmp_path: Path
) -> None:
    to = tmp_path / "anonymous"
    done = steelyard("publish", run.path, "--to", to, "--anonymous")
    assert done.exit_code == 0, done.output
    assert {name.split("/")[0] for name in listed(to).files} == {
        "SHA256SUMS", "report", "statement.json",
    }  # fmt: skip
    verified = steelyard("verify", to, "--json")
    assert verified.exit_code == 3
    states = {check["part"]: check["state"] for check in json.loads(verified.stdout)["checks"]}
    assert states == {
        "files": "ok", "statement": "ok", "commitment": "ok", "order": "not_checked",
        "records": "not_checked", "findings": "not_checked", "report": "ok",
    }  # fmt: skip


def test_a_packed_run_is_published_packed_and_verified(run: Run, tmp_path: Path) -> None:
    compact(run)
    publish(run, tmp_path / "out")
    assert any(name.endswith(".parquet") for name in listed(tmp_path / "out").files)
    found = verify(tmp_path / "out", parts=[part for part in Part if part is not Part.REPORT])
    assert {check.state for check in found.checks} == {State.OK}


def test_the_digest_of_the_commitment_is_that_of_five_lines(run: Run) -> None:
    made = run.commitment()
    assert made is not None
    text = (
        f"steelyard-commitment v1\nstudy_sha256 {made.study_sha256}\n"
        f"plan_sha256 {made.plan_sha256}\nseed {made.seed}\nnonce {made.nonce}\n"
    )
    assert made.digest == hashlib.sha256(text.encode()).hexdigest()


def test_a_commitment_that_was_edited_is_damage(run: Run) -> None:
    path = run.path / COMMITMENT
    path.write_text(path.read_text("utf-8").replace('"seed": 7', '"seed": 8'))
    with pytest.raises(RecordError) as refused:
        run.commitment()
    assert refused.value.slug == "record-is-damaged"


@pytest.mark.parametrize(
    ("name", "text", "kind"),
    [
        ("trials/0001-1/stdout.txt", KEY, "private_key"),
        ("stdout.txt", "token ghp_" + "a1B2" * 9, "token_of_github"),
        ("stdout.txt", "AKIA" + "ABCD2345" * 2, "access_key_of_aws"),
        ("stdout.txt", "glpat-" + "x1" * 10, "token_of_gitlab"),
        ("stdout.txt", "GET https://me:hunter2@example.org/", "password_in_url"),
        ("study.yaml", "workload: {use: imap, user: me, password: hunter2}", "password_in_study"),
        ("study.yaml", "  password: 'hunter2'", "password_in_study"),
    ],
)
def test_a_secret_is_found_by_its_kind(name: str, text: str, kind: str) -> None:
    found = list(secrets_in(Path(name), f"a\nb\n{text}\n".encode()))
    assert [(each.line, each.kind) for each in found] == [(3, kind)]


@pytest.mark.parametrize(
    "text",
    [
        "password: ${env:IMAP}",
        'password: "${file:~/.imap}"',
        "password: password{n}",
        "# password: as the service",
        "https://example.org/a:b@c",
        "ssh://root@hypervisor",
        "password:",
    ],
)
def test_a_reference_to_a_secret_is_none(text: str) -> None:
    assert not list(secrets_in(Path("study.yaml"), text.encode()))


def test_nothing_is_published_with_a_secret_unless_it_is_none(run: Run, tmp_path: Path) -> None:
    (run.path / "notes").mkdir()
    (run.path / "notes" / "conclusion.md").write_text(KEY)
    with pytest.raises(RecordError) as refused:
        publish(run, tmp_path / "out")
    assert refused.value.slug == "cannot-be-published"
    assert "notes/conclusion.md:1 (private_key)" in refused.value.message
    assert list(tmp_path.iterdir()) == [tmp_path / "own"], "nothing is left"
    publish(run, tmp_path / "out", allowed=[SecretKind.PRIVATE_KEY])
    assert (tmp_path / "out" / FINDINGS).is_file()


def test_a_secret_is_found_in_what_is_packed(run: Run, tmp_path: Path) -> None:
    attempt = run.path / "trials" / "0004-1"
    (attempt / "stdout.txt").write_text(f"key:\n{KEY}\n")
    with_sums(attempt)
    compact(run)
    with pytest.raises(RecordError) as refused:
        publish(run, tmp_path / "out")
    assert "0001.parquet/0004-1/stdout.txt:2 (private_key)" in refused.value.message


def test_a_link_in_the_folder_of_a_run_is_not_followed(run: Run, tmp_path: Path) -> None:
    (run.path / "trials" / "0001-1" / "more.txt").symlink_to("/etc/hostname")
    with pytest.raises(RecordError) as refused:
        publish(run, tmp_path / "out")
    assert "more.txt" in refused.value.message


def test_a_run_that_is_being_measured_is_not_published(run: Run, tmp_path: Path) -> None:
    with Ledger(run.ledger_path), pytest.raises(RecordError) as refused:
        publish(run, tmp_path / "out")
    assert refused.value.slug == "run-is-in-use"


def test_a_publication_is_never_overwritten(run: Run, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    with pytest.raises(HostError) as refused:
        publish(run, tmp_path / "out")
    assert refused.value.slug == "file-exists"
