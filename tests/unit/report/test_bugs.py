"""The list of bugs: an item for each problem of the findings, and none where nothing is wrong."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.golden.report_findings import changed
from tests.unit.report.golden_findings import golden

from steelyard.inference.sequential import VerdictWord
from steelyard.judge.analyses.claims.findings import ClaimWord
from steelyard.judge.findings import RunFindings, StopFinding
from steelyard.judge.kinds.caveats import CleanupIncomplete
from steelyard.judge.validity.findings import MachineFinding
from steelyard.records.schema import Outcome
from steelyard.report.formats.bugs import DATA, MARKDOWN, bugs_files


def bugs(run: RunFindings) -> list[dict[str, Any]]:
    found = json.loads(bugs_files(run)[DATA])
    assert isinstance(found, list)
    return found


def of_kind(run: RunFindings, kind: str) -> list[dict[str, Any]]:
    return [each for each in bugs(run) if each["kind"] == kind]


@pytest.mark.parametrize("case", ["plain", "mixed", "nothing"])
def test_nothing_wrong_is_an_empty_list(case: str) -> None:
    run = golden(case)
    words = {verdict.word for verdict in run.workloads[0].verdicts if not verdict.exploratory}
    assert not words & {VerdictWord.SLOWER, VerdictWord.TRADE_OFF}
    assert bugs(run) == []
    assert bugs_files(run)[MARKDOWN] == ""


def test_a_slower_system_is_one_item_with_the_size_at_every_condition() -> None:
    run = golden("decided")
    (item,) = bugs(run)
    slower = [v for v in run.workloads[0].verdicts if v.response == "throughput"]
    assert all(each.word is VerdictWord.SLOWER for each in slower)
    assert (item["kind"], item["system"], item["against"]) == ("slower", "durable", "fast")
    assert len(item["effects"]) == len(item["said"]) == len(slower) > 1
    assert item["effects"][0]["conditions"] is None
    for effect in item["effects"]:
        assert effect["low"] < effect["ratio"] < effect["high"] < 1
        assert effect["visits"] > 0


def test_what_is_traded_away_is_an_item_of_its_own() -> None:
    kinds = [item["kind"] for item in bugs(golden("trade-off"))]
    assert "trade_off" in kinds
    assert "operations_failed" in kinds


def test_a_study_with_claims_is_held_to_these_alone() -> None:
    run = golden("claims")
    found = bugs(run)
    broken = [c for c in run.workloads[0].claims if c.word is ClaimWord.CONTRADICTED]
    assert [item["kind"] for item in found] == ["contradicted"] * len(broken) != []
    assert all(claim.id in item["title"] for claim, item in zip(broken, found, strict=True))
    assert found[0]["effects"][0]["ratio"] < 0.95


def test_attempts_that_failed_are_counted_by_system_and_way_to_fail() -> None:
    run = golden("failed")
    found = {each["title"].split(" in ")[0]: each for each in of_kind(run, "attempts_failed")}
    for outcome in (Outcome.SERVICE_DIED, Outcome.DISK_FULL):
        failed = [a for a in run.attempts if a.outcome == outcome]
        item = found[f"durable: {outcome.replace('_', ' ')}"]
        assert f"in {len(failed)} of" in item["title"]
        assert any(str(failed[0].message) in line for line in item["said"])


def test_damage_is_a_kind_of_its_own() -> None:
    run = golden("failed")
    attempts = tuple(
        each.model_copy(update={"outcome": Outcome.DAMAGED})
        if each.outcome == Outcome.DISK_FULL
        else each
        for each in run.attempts
    )
    (item,) = of_kind(run.model_copy(update={"attempts": attempts}), "damaged")
    assert item["system"] == "durable"


@pytest.mark.parametrize("outcome", [Outcome.INVALID, Outcome.INTERRUPTED, Outcome.CONTROLLER_LOST])
def test_an_attempt_that_says_nothing_of_a_system_is_no_bug(outcome: Outcome) -> None:
    run = golden("failed")
    attempts = tuple(
        each if each.outcome == Outcome.OK else each.model_copy(update={"outcome": outcome})
        for each in run.attempts
    )
    assert of_kind(run, "attempts_failed")
    assert of_kind(run.model_copy(update={"attempts": attempts}), "attempts_failed") == []


def test_what_was_left_on_the_machines_is_an_item_without_a_system() -> None:
    left = CleanupIncomplete(count=3, pending=1, differences=())
    (item,) = bugs(golden("plain").model_copy(update={"caveats": (left,)}))
    assert (item["kind"], item["system"]) == ("not_restored", None)


def test_an_item_says_where_how_to_repeat_it_and_what_differs() -> None:
    run = golden("failed")
    machine = MachineFinding(
        machine="system", systems=("durable",), facts={"kernel.release": "6.1.0-test"}
    )
    run = run.model_copy(update={"machines": (machine,)})
    for item in bugs(run):
        body = item["body"]
        assert "6.1.0-test" in body
        assert run.study_sha256 in body
        assert f"--seed {run.seed} --variant {run.variant}" in body
        assert "mq-deadline" in body
        assert body in bugs_files(run)[MARKDOWN]  # type: ignore[operator]


def test_a_fact_that_is_the_same_on_both_systems_is_left_out() -> None:
    run = golden("three")
    (item,) = bugs(run)
    pair = {item["system"], item["against"]}
    alike = [d for d in run.differences if len({d.values.get(s) for s in pair}) == 1]
    assert all(each.fact not in item["body"] for each in alike)


def test_what_was_imported_has_no_command_to_repeat_it() -> None:
    run = golden("decided")
    stop = StopFinding(
        reason="imported", visits_done=12, visits_planned=12, trials_done=36, attempts_failed=0,
        spent_s=1.0,
    )  # fmt: skip
    assert "steelyard run" in bugs(run)[0]["body"]
    assert "steelyard run" not in bugs(changed(run, stop=stop))[0]["body"]
