"""When a finding agrees with what was published, when it does not, and when it leaves it open."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from bench.published.conclusions import Ask, Conclusion, Held, Outcome, held

from steelyard.judge.findings import RunFindings
from steelyard.report.from_run import stored

EXAMPLES = Path(__file__).parents[3] / "docs" / "examples"
ASK = Ask("drivers", variant="small", response="throughput", other="e1000")
CONCLUSION = Conclusion("S2", "A card is better", asks=(ASK,), agrees=frozenset({"faster"}))
MAIL = Ask("mail", variant="small", response="throughput", other="container")
ALIKE = Conclusion("S1", "They are alike", asks=(MAIL,), agrees=frozenset({"equivalent"}))
NAMES = {"drivers": "web-drivers", "mail": "mail-scalability", "tuned": "tuned-profiles"}


@cache
def findings(example: str) -> RunFindings:
    return stored(EXAMPLES / example / "findings.json")


def asked(conclusion: Conclusion, example: str = "web-drivers") -> Held:
    return held(conclusion, {"a/folder": findings(example)}, NAMES)


def with_ask(conclusion: Conclusion, ask: Ask) -> Conclusion:
    return replace(conclusion, asks=(ask,))


def test_findings_are_found_by_study_and_variant_in_whatever_folder() -> None:
    found = asked(CONCLUSION)
    assert found.outcome is Outcome.AGREES
    assert found.example == "a/folder"
    assert found.emulated
    assert asked(with_ask(CONCLUSION, replace(ASK, variant=None))).outcome is Outcome.NOT_RUN


@pytest.mark.parametrize(
    ("here", "outcome"), [(None, Outcome.NOT_RUN), ("no KVM", Outcome.CANNOT)], ids=["may", "not"]
)
def test_without_findings_it_is_not_run_or_cannot_be_asked(
    here: str | None, outcome: Outcome
) -> None:
    assert held(replace(CONCLUSION, here=here), {}, NAMES).outcome is outcome


def test_another_word_does_not_agree_unless_the_interval_holds_the_published_size() -> None:
    slower = replace(CONCLUSION, agrees=frozenset({"slower"}))
    assert asked(slower).outcome is Outcome.DIFFERS
    assert asked(replace(slower, ratio=0.809)).outcome is Outcome.DIFFERS
    small = asked(replace(slower, ratio=1.1))
    assert small.outcome is Outcome.OPEN
    assert small.within


def test_what_the_judge_leaves_open_is_not_decided() -> None:
    two = with_ask(ALIKE, replace(MAIL, at={"load.users": 2}))
    assert asked(two, "mail-scalability").outcome is Outcome.OPEN


def test_a_condition_is_found_where_it_is_the_only_one_and_among_several() -> None:
    one = with_ask(CONCLUSION, replace(ASK, at={"load.users": 150}))
    assert asked(one).outcome is Outcome.AGREES
    assert asked(with_ask(one, replace(ASK, at={"load.users": 500}))).outcome is Outcome.NOT_RUN
    of_eight = asked(with_ask(ALIKE, replace(MAIL, at={"load.users": 8})), "mail-scalability")
    assert of_eight.outcome is Outcome.AGREES
    assert not of_eight.emulated


def test_several_conditions_agree_only_together() -> None:
    raid = Ask("tuned", "small", response="run_time", other="balanced")
    striped = replace(raid, at={"disks.data.layout": "raid0"})
    assert asked(with_ask(ALIKE, raid), "tuned-profiles").outcome is Outcome.AGREES
    assert asked(with_ask(ALIKE, striped), "tuned-profiles").outcome is Outcome.OPEN


def test_a_claim_that_is_contradicted_does_not_agree() -> None:
    claim = with_ask(CONCLUSION, Ask("drivers", "small", claim="drivers-help"))
    assert asked(replace(claim, agrees=frozenset({"supported"}))).outcome is Outcome.DIFFERS
    unknown = with_ask(CONCLUSION, Ask("drivers", "small", claim="no-such"))
    assert asked(unknown).outcome is Outcome.NOT_RUN
