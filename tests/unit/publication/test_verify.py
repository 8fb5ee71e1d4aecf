"""A publication is verified part by part; whatever was done to it is named."""

from __future__ import annotations

import json
import os
import random
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from tests.property.mutations import mutated
from tests.unit.publication.conftest import RECORDS, listed_anew

from steelyard.errors import RecordError
from steelyard.publication.check import Check, Part, State
from steelyard.publication.differences import differences
from steelyard.publication.folder import FINDINGS, STATEMENT, is_own, listed
from steelyard.publication.statement import Statement, statement_of
from steelyard.publication.verify import verify
from steelyard.records.files.checksums import SUMS

CHEAP = (Part.FILES, Part.STATEMENT, Part.COMMITMENT, Part.ORDER, Part.RECORDS)
RECORD = f"{RECORDS}/trials/0003-1/record.json"


def one(folder: Path, part: Part, posted: str | None = None) -> Check:
    (check,) = verify(folder, posted, [part]).checks
    return check


def edited(path: Path, change: Callable[[dict[str, object]], object]) -> None:
    document = json.loads(path.read_text("utf-8"))
    change(document)
    path.write_text(json.dumps(document), encoding="utf-8")


def test_what_was_published_fits_in_every_part(made: Path) -> None:
    found = verify(made)
    assert [check.part for check in found.checks] == list(Part)
    assert {check.state for check in found.checks} == {State.OK}, found
    assert (found.failed, found.replayed) == (False, True)


@pytest.mark.parametrize("fault", ["missing", "cut", "flipped", "swapped", "emptied", "linked"])
def test_every_file_that_was_touched_is_named(published: Path, fault: str) -> None:
    names = [name for name in listed(published).files if not is_own(name)]
    assert len(names) > 40
    for name, other in zip(names, [*names[1:], names[0]], strict=True):
        path, before = published / name, (published / name).read_bytes()
        if before == (published / other).read_bytes():
            continue
        match fault:
            case "missing":
                path.unlink()
            case "cut":
                path.write_bytes(before[:-1])
            case "flipped":
                path.write_bytes(bytes([before[0] ^ 1]) + before[1:])
            case "swapped":
                path.write_bytes((published / other).read_bytes())
            case "emptied":
                path.write_bytes(b"")
            case "linked":
                path.unlink()
                path.symlink_to(published / other)
        check = one(published, Part.FILES)
        assert (check.state, check.kind) == (State.FAILED, "files_differ")
        expected = "missing" if fault in {"missing", "linked"} else "changed"
        assert check.figures[expected] == [name]
        assert check.figures["no_files"] == ([name] if fault == "linked" else [])
        path.unlink(missing_ok=True)
        path.write_bytes(before)
    assert one(published, Part.FILES).state is State.OK


def test_a_file_that_is_not_listed_is_named_and_a_signature_may_be_there(published: Path) -> None:
    (published / "report" / "more.html").write_text("more")
    assert one(published, Part.FILES).figures["unlisted"] == ["report/more.html"]
    (published / "report" / "more.html").unlink()
    (published / f"{STATEMENT}.sig").write_text("signed")
    assert one(published, Part.FILES).state is State.OK
    assert one(published, Part.STATEMENT).figures["signatures"] == [f"{STATEMENT}.sig"]


def test_a_pipe_among_the_files_is_named_and_not_read(published: Path) -> None:
    os.mkfifo(published / "report" / "pipe")
    assert one(published, Part.FILES).figures["no_files"] == ["report/pipe"]


@pytest.mark.parametrize(("text", "kind"), [("no list", "sums_damaged"), (None, "sums_missing")])
def test_without_its_digests_nothing_is_called_right(
    published: Path, text: str | None, kind: str
) -> None:
    (published / SUMS).unlink()
    if text is not None:
        (published / SUMS).write_text(text)
    assert one(published, Part.FILES).kind == kind
    assert one(published, Part.STATEMENT).state is State.FAILED


def test_a_record_that_was_changed_with_all_its_digests_does_not_give_the_findings(
    published: Path,
) -> None:
    def faster(record: dict[str, object]) -> None:
        record["responses"]["throughput"]["value"] *= 1.5  # type: ignore[index]

    edited(published / RECORD, faster)
    listed_anew(published)
    cheap = verify(published, parts=CHEAP)
    assert not cheap.failed, "who can write the files can write their digests"
    check = one(published, Part.FINDINGS)
    assert (check.state, check.kind) == (State.FAILED, "findings_differ")
    assert check.figures["fields"] > 0
    assert any("workloads" in path for path in check.figures["first"])


def test_findings_that_were_changed_with_all_their_digests_are_named_by_field(
    published: Path,
) -> None:
    text = (published / FINDINGS).read_text("utf-8")
    forged = text.replace('"word": "undecided"', '"word": "faster"', 1)
    assert forged != text
    (published / FINDINGS).write_text(forged, "utf-8")
    listed_anew(published)
    found = verify(published, parts=[Part.FILES, Part.FINDINGS, Part.REPORT])
    files, findings, report = found.checks
    assert files.state is State.OK
    assert (findings.kind, findings.figures["fields"]) == ("findings_differ", 1)
    assert report.state is State.FAILED


def test_a_page_that_says_otherwise_than_the_findings_is_named(published: Path) -> None:
    page = published / "report" / "report.md"
    page.write_text(page.read_text("utf-8").replace("undecided", "faster"), "utf-8")
    listed_anew(published)
    assert one(published, Part.REPORT).figures["files"] == ["report.md"]


def test_an_order_that_was_chosen_is_not_the_one_of_the_seed(published: Path) -> None:
    def chosen(plan: dict[str, object]) -> None:
        plan["assignment"] = plan["assignment"][::-1]  # type: ignore[index]

    edited(published / RECORDS / "plan.json", chosen)
    listed_anew(published)
    order = one(published, Part.ORDER)
    assert (order.kind, order.figures["parts"]) == ("order_differs", ["assignment"])
    commitment = one(published, Part.COMMITMENT)
    assert (commitment.kind, commitment.figures["parts"]) == ("commitment_differs", ["plan"])


def test_another_seed_does_not_open_the_commitment(published: Path) -> None:
    def another(statement: dict[str, object]) -> None:
        statement["predicate"]["commitment"]["seed"] = 8  # type: ignore[index]

    edited(published / STATEMENT, another)
    check = one(published, Part.COMMITMENT)
    assert check.figures["parts"] == ["digest", "records", "seed"]


def test_the_digest_that_was_posted_is_held_against_the_run(published: Path) -> None:
    digest = one(published, Part.COMMITMENT).figures["digest"]
    assert one(published, Part.COMMITMENT, f"sha256:{digest}").kind == "commitment_fits_posted"
    assert one(published, Part.COMMITMENT, "0" * 64).kind == "posted_differs"


def test_records_of_another_run_are_refused(published: Path) -> None:
    shutil.move(published / RECORDS, published / f"{RECORDS}-2")
    listed_states = {check.part: check.state for check in verify(published, parts=CHEAP).checks}
    assert set(listed_states.values()) == {State.FAILED}


def test_an_attempt_at_another_trial_than_planned_is_named(published: Path) -> None:
    def moved(record: dict[str, object]) -> None:
        record["visit"] = 11

    edited(published / RECORD, moved)
    listed_anew(published)
    assert one(published, Part.RECORDS).figures["trials"] == [3]


def test_records_of_a_later_version_are_named_as_such(published: Path) -> None:
    edited(published / RECORD, lambda record: record.update(schema_version=3))
    listed_anew(published)
    check = one(published, Part.RECORDS)
    assert check.kind == "records_damaged"
    assert "schema version 3" in check.figures["said"]


def test_a_statement_of_a_later_version_is_refused(published: Path) -> None:
    later = "urn:steelyard:publication:v2"
    edited(published / STATEMENT, lambda statement: statement.update(predicateType=later))
    with pytest.raises(RecordError) as refused:
        verify(published)
    assert refused.value.slug == "record-version-unknown"


@pytest.mark.parametrize("text", [None, "", "{}", "[]", '{"_type": 1}'])
def test_a_folder_that_states_nothing_is_no_publication(published: Path, text: str | None) -> None:
    (published / STATEMENT).unlink()
    if text is not None:
        (published / STATEMENT).write_text(text)
    with pytest.raises(RecordError):
        verify(published)


def test_a_mutated_statement_is_read_or_refused(made: Path) -> None:
    draw = random.Random(21)
    data = (made / STATEMENT).read_bytes()
    for _ in range(300):
        with suppress(RecordError):
            assert isinstance(statement_of(mutated(data, draw)), Statement)


def test_numbers_that_differ_are_measured_and_other_values_are_not() -> None:
    one, other = b'{"a": [1.0, 2], "b": "x", "c": 1}', b'{"a": [1.0, 4], "b": "y", "c": true}'
    found = [(each.path, each.relative) for each in differences(one, other)]
    assert found == [("$.a[1]", 0.5), ("$.b", None), ("$.c", None)]
    assert [each.path for each in differences(b"{", b"{}")] == ["$"]
