"""What a study says of its verdicts: guards, contrasts, claims."""

from __future__ import annotations

from pathlib import Path

import pytest

from steelyard.errors import StudyError
from steelyard.study.model import Study
from steelyard.study.read import read_runnable_study, read_study
from steelyard.study.workload_study import studies

BODY = """study: tiny
question: Which is faster?
systems:
  one: {platform: native, service: {use: sink-http}}
  two: {platform: native, service: {use: sink-http, body: 2 KiB}}
workload: {use: http}
load: {users: [1, 16]}
trials: {margin: 2 %}
"""


def read(folder: Path, more: str = "") -> Study:
    path = folder / "study.yaml"
    path.write_text(BODY + more, encoding="utf-8")
    return read_study(path)


def test_failures_are_the_guardrail_of_throughput_by_default(tmp_path: Path) -> None:
    guards = studies(read(tmp_path))[0].guardrails
    assert list(guards) == ["errors"]
    assert guards["errors"].margin == pytest.approx(0.001)
    assert guards["errors"].absolute
    assert not guards["errors"].declared


def test_a_tail_among_the_responses_is_a_guardrail_too(tmp_path: Path) -> None:
    study = read(tmp_path, "responses: {throughput: {}, response.p99: {}}\n")
    (one,) = studies(study)
    assert list(one.guardrails) == ["errors", "response.p99"]
    assert one.guardrails["response.p99"].margin == pytest.approx(0.25)


def test_another_primary_response_has_no_guardrails_of_its_own(tmp_path: Path) -> None:
    study = read(tmp_path, "responses: {response.p50: {primary: true}}\n")
    assert studies(study)[0].guardrails == {}


def test_a_stream_has_no_operations_that_could_fail(tmp_path: Path) -> None:
    stream = BODY.replace("use: http}", "use: tcp-stream}").replace("sink-http", "sink-stream")
    path = tmp_path / "study.yaml"
    path.write_text(stream.replace(", body: 2 KiB", ""), encoding="utf-8")
    assert studies(read_study(path))[0].guardrails == {}


def test_guardrails_that_are_written_replace_the_others(tmp_path: Path) -> None:
    study = read(tmp_path, "judge: {guardrails: {response.p99: 10 %}}\n")
    (one,) = studies(study)
    guard = one.guardrails["response.p99"]
    assert list(one.guardrails) == ["response.p99"]
    assert (guard.margin, guard.absolute, guard.declared) == (pytest.approx(0.1), False, True)


def test_no_guardrails_at_all_can_be_asked_for(tmp_path: Path) -> None:
    assert studies(read(tmp_path, "judge: {guardrails: {}}\n"))[0].guardrails == {}


def test_contrasts_are_to_the_baseline_unless_all_pairs_are_asked_for(tmp_path: Path) -> None:
    assert read(tmp_path).judge.contrasts == "baseline"
    assert read(tmp_path, "judge: {contrasts: all pairs}\n").judge.contrasts == "all pairs"


def test_claims_run(tmp_path: Path) -> None:
    claims = """claims:
  - {id: near, system: two, within: 3 % of one}
  - {id: share, system: two, at: {users: 16}, at_least: 0.95 of one}
  - {id: peak, system: one, peak_users: 4..16}
"""
    near, share, peak = read(tmp_path, claims).claims
    assert near.kind == "within"
    assert near.factor == pytest.approx(0.03)
    assert near.other == "one"
    assert (share.factor, share.at) == (0.95, {"load.users": 16})
    assert (peak.low, peak.high) == (4, 16)


def test_an_a_a_control_is_the_baseline_under_another_name(tmp_path: Path) -> None:
    path = tmp_path / "study.yaml"
    path.write_text(BODY.replace("margin: 2 %", "margin: 2 %, aa_control: true"), encoding="utf-8")
    study = read_study(path)
    assert study.trials.aa_control == "one-again"
    assert study.compared == ("one", "two", "one-again")
    again = study.systems["one-again"]
    assert again.model_copy(update={"name": "one"}) == study.systems["one"]


def test_an_a_a_control_of_a_level_is_refused(tmp_path: Path) -> None:
    text = BODY.replace("margin: 2 %", "margin: 2 %, aa_control: true")
    path = tmp_path / "study.yaml"
    path.write_text(text + "compare: load.users\n", encoding="utf-8")
    with pytest.raises(StudyError) as error:
        read_study(path)
    assert "only a system can be the A/A control" in error.value.complaints[0].message


@pytest.mark.parametrize(
    ("removed", "key", "instead"),
    [
        ("judge: {engine: normal}\n", "judge.engine", "re-randomisation and the Welch test"),
        ("variants: {v: {trials: {order: pairs}}}\n", "trials.order", "at random by visit"),
    ],
)
def test_a_removed_key_is_refused_with_what_holds_instead_and_read_of_an_earlier_run(
    tmp_path: Path, removed: str, key: str, instead: str
) -> None:
    read(tmp_path, removed)
    with pytest.raises(StudyError) as error:
        read_runnable_study(tmp_path, variant="v" if "variants" in removed else None)
    (complaint,) = error.value.complaints
    assert complaint.message == f"`{key}` was removed"
    assert instead in complaint.hint
