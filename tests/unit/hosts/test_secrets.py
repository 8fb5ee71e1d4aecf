"""Secrets are read where they are needed, and leave nothing in what is recorded."""

from __future__ import annotations

from pathlib import Path

import pytest

from steelyard.errors import HostError
from steelyard.hosts.secrets import (
    NOT_RECORDED,
    missing_secrets,
    refuse_wrong_references,
    secret_of,
    with_secrets,
    without_secrets,
)
from steelyard.study.read import read_study_bytes

WORDS = "correct horse"


def test_each_way_to_refer_to_a_secret_reads_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "secret").write_text(f"{WORDS}\n")
    monkeypatch.setenv("TEST_SECRET", WORDS)
    for reference in (
        "${env:TEST_SECRET}",
        f"${{file:{tmp_path}/secret}}",
        f"${{command:cat {tmp_path}/secret}}",
    ):
        assert secret_of(reference) == WORDS
    assert secret_of("${env:TEST_SECRET}{n}") == WORDS + "{n}"


@pytest.mark.parametrize("written", ["password{n}", "", "$HOME", "${HOME}", "{env:HOME}"])
def test_what_is_no_reference_is_the_password_itself(written: str) -> None:
    assert secret_of(written) == written


@pytest.mark.parametrize(
    "reference",
    ["${env:NOT_THERE_7}", "${file:/not/there}", "${command:false}", "${command:/not/there}"],
)
def test_a_secret_that_cannot_be_read_is_for_the_operator(reference: str) -> None:
    with pytest.raises(HostError) as failed:
        secret_of(reference)
    assert failed.value.slug == "secret-cannot-be-read"
    assert reference in failed.value.message


@pytest.mark.parametrize("reference", ["${vault:x}", "${env:}", "${env:HOME", "a${ENV:HOME}b"])
def test_what_looks_like_a_reference_is_no_password(reference: str) -> None:
    with pytest.raises(HostError) as failed:
        secret_of(reference)
    assert failed.value.slug == "secret-cannot-be-read"


STUDY = """\
study: login
question: q?
systems:
  one: {platform: native, service: {use: sink-imap}}
  two: {platform: native, service: {use: sink-imap}}
workload: {use: imap, user: "user{n}"%s}
load: {users: 1}
trials: {margin: 2 %%}
%s
"""


@pytest.mark.parametrize(
    ("setting", "more", "missing"),
    [
        (', password: "${env:NOT_THERE_7}"', "", 1),
        (', password: [x, "${env:NOT_THERE_7}", "${env:NOT_THERE_8}"]', "", 2),
        ("", 'factors: {workload.password: [x, "${env:NOT_THERE_7}"]}', 1),
        (
            "",
            'factors: {workload.password: [x, "${env:NOT_THERE_7}"]}\ncompare: workload.password',
            1,
        ),
        (', password: "password{n}"', "", 0),
    ],
)
def test_every_password_that_a_trial_may_have_is_read_before_the_first(
    setting: str, more: str, missing: int
) -> None:
    study = read_study_bytes((STUDY % (setting, more)).encode(), Path("study.yaml"))
    assert len(list(missing_secrets(study))) == missing


def test_a_reference_of_no_known_kind_is_refused_without_reading_one_that_is_not_here() -> None:
    def planned(password: str) -> None:
        written = STUDY % (f', password: "{password}"', "")
        refuse_wrong_references(read_study_bytes(written.encode(), Path("study.yaml")))

    planned("${env:NOT_THERE_7}")
    with pytest.raises(HostError, match="vault"):
        planned("${vault:x}")


def test_a_command_that_fails_is_not_quoted(tmp_path: Path) -> None:
    with pytest.raises(HostError) as failed:
        secret_of(f"${{command:sh -c 'echo {WORDS[:7]} >&2; exit 3'}}")
    assert WORDS[:7] not in failed.value.message.partition("cannot be read")[2]


def test_a_job_gets_it_and_a_record_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_SECRET_2", WORDS)
    job = {"parts": [{"login": {"user": "u", "password": "${env:TEST_SECRET_2}"}}], "users": 2}
    sent = with_secrets(job)
    assert sent["parts"] == [{"login": {"user": "u", "password": WORDS}}]
    kept = without_secrets({"load": {"job": sent}})
    assert kept["load"]["job"]["parts"] == [{"login": {"user": "u", "password": NOT_RECORDED}}]
