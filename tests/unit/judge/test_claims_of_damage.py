"""Claims that a system is without damage or errors, and what is said of damaged disks first."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.unit.judge.quick import judge_study
from tests.unit.judge.studies import a_study, measured, noisy

from steelyard.judge.analyses.claims.findings import ClaimWord
from steelyard.judge.findings import RunFindings
from steelyard.plan.make import make_plan
from steelyard.records.disk_checks import ContentChanged, DiskCheck
from steelyard.records.events import DisksChecked, Event
from steelyard.records.schema import FailedOperations, Outcome, TrialRecord
from steelyard.report.sentences.headline import headline
from steelyard.report.sentences.trust import State, trust_lines
from steelyard.study.model import ClaimSpec

CLEAN = DiskCheck(instance=1, disk="data", device="/dev/loop0", checked=("filesystem", "files"))
LOST = ContentChanged(files=1, names=("mail",), test_file=False)
DAMAGED = CLEAN.model_copy(update={"damage": (LOST,)})
UNCHECKED = DiskCheck(instance=1, disk="data", device="/dev/loop0", not_checked={"files": "why"})
REFUSED = FailedOperations(phase="connect", error="refused", count=3)
Change = Callable[[TrialRecord], dict[str, object]]


def findings(
    change: Change, events: tuple[Event, ...] = (), kind: str = "no_worse_than"
) -> RunFindings:
    """Of a claim that ``b``, which is as fast as ``a``, is harmless; the last record changed."""
    claim = ClaimSpec.model_validate(
        {"id": "it", "kind": kind, "subject": "b", "other": "a", "without": ["damage", "errors"]}
    )
    study = a_study(("a", "b"), (1,), 20, claims=(claim,), margin_ratio=0.05)
    plan = make_plan(study, 3)
    records = measured(plan, noisy({"a": 1.0, "b": 1.0}))
    last = max(r.trial for r in records if r.cell.system == "b")
    kept = [r.model_copy(update=change(r)) if r.trial == last else r for r in records]
    checked = [r.model_copy(update={"disk_checks": r.disk_checks or (CLEAN,)}) for r in kept]
    return judge_study(study, plan, checked, run="r", events=events)


def word_and_notes(found: RunFindings) -> tuple[ClaimWord, list[str]]:
    claim = found.workloads[0].claims[0]
    return claim.word, [note.kind for note in claim.parts[0].notes]


def test_a_claim_of_no_harm_holds_where_all_disks_were_clean() -> None:
    found = findings(lambda _: {})
    assert word_and_notes(found) == (ClaimWord.SUPPORTED, [])
    assert [each.system for each in found.disks] == ["a", "b"]
    assert sum(each.checks for each in found.disks) == len(found.attempts)
    assert not any(each.damaged or each.unchecked for each in found.disks)
    assert headline(found).badge != "damage"


@pytest.mark.parametrize(
    ("change", "kind", "word"),
    [
        ({"disk_checks": (DAMAGED,), "outcome": Outcome.DAMAGED}, "disks_damaged", "contradicted"),
        ({"disk_checks": (UNCHECKED,)}, "disks_not_checked", "not_judged"),
        ({"failed_operations": (REFUSED,)}, "errors_seen", "contradicted"),
        ({"outcome": Outcome.SERVICE_DIED}, "errors_seen", "contradicted"),
    ],
)
def test_what_a_subject_should_be_without_decides_whatever_its_ratio_is(
    change: dict[str, object], kind: str, word: str
) -> None:
    assert word_and_notes(findings(lambda _: change)) == (word, [kind])


def test_an_invalid_attempt_is_no_error() -> None:
    found = findings(lambda _: {"outcome": Outcome.INVALID})
    assert word_and_notes(found)[1] != ["errors_seen"]


def test_damage_comes_before_every_verdict_and_makes_failures_bad() -> None:
    found = findings(lambda _: {"disk_checks": (DAMAGED,), "outcome": Outcome.DAMAGED})
    (damaged,) = (each for each in found.disks if each.damaged)
    assert damaged.system == "b"
    assert damaged.damaged[0].damage == (LOST,)
    assert headline(found).badge == "damage"
    states = {line.title: line.state for line in trust_lines(found)}
    assert states["Failures"] is State.BAD


def test_damage_to_a_system_that_stayed_up_contradicts_the_claim_as_well() -> None:
    event = DisksChecked(system="b", disk_checks=(DAMAGED,))
    found = findings(lambda _: {}, (event,))
    assert word_and_notes(found) == (ClaimWord.CONTRADICTED, ["disks_damaged"])
    (disk,) = found.disks[1].damaged
    assert (disk.trial, disk.attempt) == (None, None)
