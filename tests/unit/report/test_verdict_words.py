from __future__ import annotations

from typing import Any, Literal

import pytest
from pydantic import ValidationError
from tests.golden.report_findings import changed
from tests.unit.report.golden_findings import CASES, golden

from steelyard.inference.sequential import VerdictWord
from steelyard.judge.analyses.claims.findings import ClaimWord
from steelyard.judge.comparisons.forecast import VisitsForecast
from steelyard.judge.findings import (
    BottleneckNote,
    DecidingLook,
    ResponseFinding,
    RunFindings,
    VerdictFinding,
)
from steelyard.judge.kinds.verdict_notes import (
    EffectChanges,
    StoppedEarly,
    TooManyInvalid,
    ValueUnusable,
)
from steelyard.judge.stopping.interim import InterimWord, Look
from steelyard.plan.model import Cell
from steelyard.records.warnings import Resource
from steelyard.report.formats.markdown import markdown_text
from steelyard.report.formats.terminal import screen_lines
from steelyard.report.sentences.assumptions import bottleneck_rows
from steelyard.report.sentences.claims import claim_line
from steelyard.report.sentences.design import done_rows
from steelyard.report.sentences.terminal.answer import (
    answer,
    exploratory_lines,
)
from steelyard.report.sentences.terminal.interim import progress_words
from steelyard.report.sentences.verdict import (
    condition_sentence,
    more_visits,
    verdict_claim,
    verdict_sentence,
    visits_words,
)
from steelyard.report.tables.effects import condition_rows
from steelyard.report.tables.responses import response_table
from steelyard.report.view import views
from steelyard.report.vocabulary import response_of, verdict_word
from steelyard.study.labels import Labels
from steelyard.study.model import Level


def main_sentence(findings: RunFindings, **changes: object) -> str:
    verdict = findings.workloads[0].verdicts[0].model_copy(update=changes)
    return str(verdict_sentence(verdict, views(findings)[0]))


def test_a_slower_system_is_said_with_size_interval_and_n() -> None:
    assert main_sentence(golden("decided")) == (
        "durable is slower than fast: 71.0 % less throughput over all 3 conditions "
        "(95 % interval 68.9 to 73.0 % less, valid at this early stop), "
        "12 visits (6 fast, 6 durable), at least your margin of 2 %."
    )


def test_a_decided_word_beside_an_end_at_zero_has_an_open_end() -> None:
    assert "to below 0" in main_sentence(golden("decided"), low_log=-0.381, high_log=-0.0)


def test_a_share_is_had_and_not_used() -> None:
    share = ResponseFinding(
        name="perfmon.cpu", label="share of processors at work", unit="ratio", direction="lower",
        primary=True,
    )  # fmt: skip
    verdict = golden("decided").workloads[0].verdicts[0].model_copy(update={"estimate_log": 0.22})
    assert "has 24.6 % higher share" in verdict_claim(verdict, share)


def test_a_single_attempt_agrees_with_its_verb_and_noun() -> None:
    run = golden("failed")
    stop = run.stop.model_copy(update={"attempts_failed": 1, "trials_done": 1})
    ended = dict(done_rows(changed(run, stop=stop)))["Ended"]
    assert "1 trial, 1 failed attempt," in ended


def test_visits_of_levels_that_are_numbers_can_be_read() -> None:
    verdict = golden("decided").workloads[0].verdicts[0]
    numbered = verdict.model_copy(update={"baseline": "10", "other": "20"})
    assert visits_words(numbered) == "12 visits (6 of 10, 6 of 20)"


def test_a_ratio_of_odds_is_not_called_a_ratio_of_errors() -> None:
    assert "odds of an error" in main_sentence(golden("decided"), response="errors")


def test_the_answer_over_all_comes_before_its_conditions() -> None:
    ((main, parts),) = answer(views(golden("decided"))[0])
    assert "over all 3 conditions" in main.head
    assert [part.split(":")[0] for part in parts] == ["At 1 user", "At 4 users", "At 16 users"]


def test_an_undecided_verdict_says_how_many_more_visits_would_decide() -> None:
    sentence = main_sentence(golden("mixed"))
    assert sentence.startswith("Undecided over all 3 conditions between fast and durable")
    assert sentence.endswith("; about 9 to 31 more visits would decide.")


def test_an_undecided_verdict_without_a_forecast_says_which_budget_ended() -> None:
    findings = golden("mixed")
    assert "the budget of 28 visits ended first" in main_sentence(findings, visits_to_decide=None)


def forecast(least: int | None, most: int | None) -> VisitsForecast:
    return VisitsForecast(least=least, most=most)


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (forecast(1, 1), "about 1 more visit"),
        (forecast(3, 3), "about 3 more visits"),
        (forecast(187, 1383), "about 190 to 1,400 more visits"),
        (forecast(141, 143), "about 140 more visits"),
        (forecast(12, None), "at least 12 more visits"),
        (forecast(None, None), "a verdict is not attainable here with 5 budgets of visits"),
    ],
)
def test_a_forecast_is_a_rounded_range_or_not_attainable(more: VisitsForecast, words: str) -> None:
    assert more_visits(more) == words
    ends = "" if more.least is None else " would decide" if more.most else " would be needed"
    assert f"{words}{ends}" in main_sentence(golden("mixed"), visits_to_decide=more)


@pytest.mark.parametrize(("asked", "told"), [(8, " (as of the first 8 visits)"), (12, "")])
def test_a_reason_says_of_which_visits_its_counts_are(asked: int, told: str) -> None:
    why = TooManyInvalid(invalid=3, measured=12, limit_share=0.1)
    sentence = main_sentence(golden("mixed"), withheld=why, withheld_visits=asked)
    assert f"find what disturbs them{told}; the budget" in sentence


def test_equivalence_is_said_with_the_margin_and_its_own_interval() -> None:
    findings = golden("three")
    verdict = next(v for v in findings.workloads[0].verdicts if v.word is VerdictWord.EQUIVALENT)
    sentence = str(verdict_sentence(verdict, views(findings)[0]))
    assert sentence.startswith("No difference larger than 2 % in throughput")
    assert "+0.3 %, 90 % interval -0.7 to +1.3 %" in sentence


def test_a_difference_below_the_margin_says_that_it_is() -> None:
    assert "0.07 % more throughput" in main_sentence(golden("plain"))
    assert main_sentence(golden("plain")).endswith("below your margin of 2 %.")


def test_a_comparison_that_was_not_judged_gives_the_reason() -> None:
    findings = golden("failed")
    sentence = condition_sentence(findings.workloads[0].verdicts[3], views(findings)[0])
    assert sentence == (
        "At 16 users: not judged, 6 visits (6 fast, 0 durable): no visit of durable counts here."
    )


def test_a_quicker_response_time_is_never_called_faster() -> None:
    findings = golden("huge")
    assert "At 16 users: quicker, 97.0 % shorter response time p99, 33.3" in condition_sentence(
        findings.workloads[0].verdicts[3], views(findings)[0]
    )


@pytest.mark.parametrize(
    ("response", "said"),
    [
        ("response.p50", "durable is slower than fast: 3.0 times the response time p50"),
        ("service.cpu", "durable uses 31.0 % less CPU of the service than fast"),
        ("disk.writes", "durable has 86.0 % more disk writes than fast"),
    ],
)
def test_other_responses_speak_their_own_words_and_are_marked(response: str, said: str) -> None:
    lines = exploratory_lines(views(golden("decided"))[0])
    assert any(line.startswith(f"Exploratory: {said}") for line in lines), response


def test_an_exploratory_sentence_claims_no_validity_and_no_margin() -> None:
    for line in exploratory_lines(views(golden("decided"))[0]):
        assert "valid at" not in line
        assert "margin" not in line


@pytest.mark.parametrize("case", CASES)
def test_every_sentence_of_a_verdict_names_its_n(case: str) -> None:
    findings = golden(case)
    for verdict in findings.workloads[0].verdicts:
        total = verdict.n_baseline + verdict.n_other
        assert f"{total} visits" in str(verdict_sentence(verdict, views(findings)[0]))
        assert f"{total} visits" in condition_sentence(verdict, views(findings)[0])


@pytest.mark.parametrize("case", CASES)
def test_the_word_and_the_direction_of_the_size_agree(case: str) -> None:
    findings = golden(case)
    for verdict in findings.workloads[0].verdicts:
        if verdict.exploratory or verdict.response != "throughput":
            continue
        text = str(verdict_sentence(verdict, views(findings)[0]))
        if verdict.word is VerdictWord.FASTER:
            assert "more throughput" in text
        if verdict.word is VerdictWord.SLOWER:
            assert "less throughput" in text


def test_failures_warnings_and_missing_cells_are_reported_before_relying_on_the_answer() -> None:
    text = markdown_text(golden("failed"))
    assert "3 of 33 attempts failed: 2 service died (durable): the sink ended with signal 9" in text
    assert "Not measured: throughput of durable at 16 users." in text
    assert "durable varies 3.1 times as much as the other" in text
    assert "2 undeclared differences between the systems" in text


def test_a_difference_of_ranks_alone_has_the_verb_of_its_response() -> None:
    findings = golden("decided")
    verdicts = findings.workloads[0].verdicts
    cpu = next(each for each in verdicts if each.response == "service.cpu")
    found = cpu.model_copy(update={"estimate_log": None})
    sentence = verdict_sentence(found, views(findings)[0])
    assert sentence.head == "Exploratory: durable uses less than fast over all 3 conditions"


def test_a_note_of_the_judge_is_passed_on() -> None:
    findings = golden("plain")
    noted: VerdictFinding = (
        findings.workloads[0]
        .verdicts[0]
        .model_copy(update={"notes": (StoppedEarly(visits=20, budget_visits=40),)})
    )
    text = markdown_text(changed(findings, verdicts=(noted,)))
    assert "\n- durable against fast, overall: early stops" in text


def test_a_clean_study_ends_without_warnings() -> None:
    assert "Before relying on" not in markdown_text(golden("plain"))


def test_a_study_without_verdicts_says_that_nothing_was_judged() -> None:
    findings = changed(golden("plain"), verdicts=())
    assert screen_lines(findings)[2].startswith("NOT JUDGED  ")


def so_far(*words: InterimWord, visits_to_decide: VisitsForecast | None = None) -> Look:
    return Look(words=words, decided=False, may_continue=True, visits_to_decide=visits_to_decide)


def interim(
    conditions: dict[str, Level] | None, word: VerdictWord, other: str = "b", **rest: Any
) -> InterimWord:
    return InterimWord("a", other, conditions, word, **rest)


def test_the_live_line_is_short_and_holds_the_forecast() -> None:
    words = (
        interim(None, VerdictWord.SLOWER),
        interim({"load.users": 16}, VerdictWord.SLOWER),
        interim({"load.users": 1}, VerdictWord.UNDECIDED),
    )
    assert progress_words(so_far(*words, visits_to_decide=forecast(6, 14)), Labels()) == (
        "overall slower; 16 users slower; 1 user undecided, about 6 to 14 more visits"
    )
    assert progress_words(so_far(), Labels()) == "nothing judged yet"


def test_the_live_line_says_what_is_withheld() -> None:
    words = interim(None, VerdictWord.UNDECIDED, withheld=True)
    assert progress_words(so_far(words), Labels()) == "overall withheld"


def test_the_live_line_names_systems_and_workloads_where_there_are_several() -> None:
    words = (
        interim(None, VerdictWord.SLOWER, workload="disk"),
        interim({"workload": "disk", "block": 4096}, VerdictWord.SLOWER, workload="disk"),
    )
    labels = Labels({"block": "size"})
    assert progress_words(so_far(*words), labels) == "disk overall slower; disk, block 4 KiB slower"
    third = interim({"load.users": 1}, VerdictWord.FASTER, other="c")
    assert progress_words(so_far(words[0], third), labels) == (
        "b, disk overall slower; c, 1 user faster"
    )


def test_of_many_reasons_the_gravest_are_reported_and_the_rest_counted() -> None:
    reasons = tuple(ValueUnusable(system="b", trials=n + 1, value="missing") for n in range(30))
    findings = golden("failed")
    verdict = findings.workloads[0].verdicts[3].model_copy(update={"not_judged": reasons})
    sentence = str(verdict_sentence(verdict, views(findings)[0]))
    assert sentence.endswith(
        "in 1 trial of b; no ratio is defined: the value was not measured in 2 trials of b; "
        "and 28 more reasons."
    )


def test_an_exploratory_response_gets_one_sentence_and_no_forecast() -> None:
    findings = golden("mixed")
    response = golden("decided").workloads[0].responses[1]
    undecided = findings.workloads[0].verdicts[0].model_copy(update={"response": response.name})
    at_one = undecided.model_copy(update={"conditions": {"load.users": 1}})
    more = changed(
        findings,
        verdicts=(*findings.workloads[0].verdicts, undecided, at_one),
        responses=(*findings.workloads[0].responses, response),
    )
    (line,) = exploratory_lines(views(more)[0])
    assert line.startswith("Exploratory: Undecided over all 3 conditions")
    assert "would decide" not in line


def test_a_label_in_two_parts_is_turned_round_inside_a_sentence() -> None:
    findings = golden("huge")
    label = findings.workloads[0].responses[0].model_copy(update={"label": "response time, median"})
    turned = changed(findings, responses=(label,))
    assert "42.0 times the median response time" in main_sentence(turned)


def test_what_limited_is_counted_by_name_and_not_by_figure() -> None:
    findings = golden("plain")
    attempts = tuple(
        a.model_copy(
            update={
                "bottleneck": BottleneckNote(
                    kind=Resource.MACHINE_CPU, share=0.9 + a.trial % 9 / 100
                )
            }
        )
        for a in findings.attempts
    )
    rows = bottleneck_rows(views(findings.model_copy(update={"attempts": attempts}))[0])
    assert [row[2] for row in rows] == ["the machine's CPU in 20 of 20"] * 2


def test_a_condition_whose_verdict_is_withheld_says_so() -> None:
    view = views(golden("decided"))[0]
    verdict = next(v for v in view.own.verdicts if v.conditions is not None)
    update = {"word": VerdictWord.UNDECIDED, "words": (VerdictWord.UNDECIDED,)}
    plain = condition_sentence(verdict.model_copy(update=update), view)
    withheld = verdict.model_copy(update=update | {"withheld": EffectChanges()})
    assert condition_sentence(withheld, view) != plain


def test_an_estimate_outside_its_interval_is_refused() -> None:
    plain = golden("decided").workloads[0].verdicts[0].model_dump()
    outside = {"estimate_log": -0.4, "low_log": -0.3, "high_log": 0.01}
    with pytest.raises(ValidationError, match="outside its interval"):
        VerdictFinding.model_validate(plain | outside)


def test_where_all_visits_deny_the_verdict_the_look_that_decided_comes_first() -> None:
    view = views(golden("decided"))[0]
    verdict = next(v for v in view.own.verdicts if v.word is VerdictWord.SLOWER)
    then = DecidingLook(n_baseline=5, n_other=4, estimate_log=-0.5, low_log=-0.7, high_log=-0.2)
    update = {"deciding_look": then, "estimate_log": -0.1, "low_log": -0.3, "high_log": 0.1}
    text = str(verdict_sentence(verdict.model_copy(update=update), view))
    assert text.index("9 visits") < text.index("leave it open")
    assert text.index("39") < text.index("9.5")
    turned = update | {"estimate_log": 0.2, "low_log": 0.1, "high_log": 0.3}
    assert "contradict it" in str(verdict_sentence(verdict.model_copy(update=turned), view))


def test_a_table_shows_what_a_verdict_rests_on_before_what_all_visits_say() -> None:
    view = views(golden("decided"))[0]
    verdict = next(
        v for v in view.own.verdicts if v.word is VerdictWord.SLOWER and v.conditions is not None
    )
    then = DecidingLook(n_baseline=5, n_other=4, estimate_log=-0.5, low_log=-0.7, high_log=-0.2)
    update = {"estimate_log": -0.1, "low_log": -0.3, "high_log": 0.1, "decided_at_visit": 9}
    denied = verdict.model_copy(update={"deciding_look": then, **update})
    verdicts = tuple(denied if v is verdict else v for v in view.own.verdicts)
    (shown_of,) = views(changed(view.run, verdicts=verdicts))
    table = response_table(shown_of, response_of(shown_of, denied.response))
    (cells,) = [row for row in table.rows if any("as decided at visit 9" in c for c in row)]
    shown = " ".join(cells)
    assert shown.index("-39") < shown.index("-9.5 %")


def undefined(value: Literal["zero", "missing"]) -> str:
    """The notes of a table of which one row has no ratio for a value of this kind."""
    view = views(golden("decided"))[0]
    response = next(each for each in view.own.responses if not each.primary)
    verdict = next(v for v in view.own.verdicts if v.conditions)
    why = ValueUnusable(system="fast", trials=4, value=value, reason=None)
    update = {"response": response.name, "word": VerdictWord.NOT_JUDGED, "not_judged": (why,)}
    lost = verdict.model_copy(update={**update, "estimate_log": None})
    (shown_of,) = views(changed(view.run, verdicts=(lost,)))
    return " ".join(response_table(shown_of, response).notes)


def test_a_row_without_a_ratio_says_why_where_its_cells_have_values() -> None:
    assert "4 trials of fast" in undefined("zero")
    assert "4 trials of fast" not in undefined("missing")


def test_where_the_last_look_decided_its_own_interval_is_not_said_to_be_of_other_visits() -> None:
    view = views(golden("decided"))[0]
    verdict = next(v for v in view.own.verdicts if v.word is VerdictWord.SLOWER)
    then = DecidingLook(
        n_baseline=verdict.n_baseline, n_other=verdict.n_other,
        estimate_log=-0.1, low_log=-0.2, high_log=-0.01,
    )  # fmt: skip
    update = {"deciding_look": then, "estimate_log": -0.1, "low_log": -0.3, "high_log": 0.1}
    text = str(verdict_sentence(verdict.model_copy(update=update), view))
    assert "the last alone would leave it open" in text
    assert "; all " not in text


@pytest.mark.parametrize(("decided_at", "said"), [(9, "decided after 9"), (12, "the last alone")])
def test_a_supported_claim_says_when_it_was_decided_where_its_interval_leaves_it_open(
    decided_at: int, said: str
) -> None:
    view = views(golden("claims"))[0]
    claim = next(each for each in view.own.claims if each.id == "near")
    [part] = claim.parts
    decided = {"word": ClaimWord.SUPPORTED, "decided_at": decided_at}
    open_now = part.model_copy(update=decided | {"low_log": -1.0, "high_log": 1.0})
    changed_claim = claim.model_copy(update={"word": ClaimWord.SUPPORTED, "parts": (open_now,)})
    assert said in claim_line(changed_claim, view)
    held = part.model_copy(update=decided | {"low_log": -0.001, "high_log": 0.001})
    assert said not in claim_line(changed_claim.model_copy(update={"parts": (held,)}), view)


def test_a_verdict_whose_estimate_later_visits_took_keeps_the_direction_that_it_had() -> None:
    """Of writes to a disk neither more nor less is better: the sign alone says which it is."""
    look = DecidingLook(n_baseline=5, n_other=3, estimate_log=4.97, low_log=0.43, high_log=9.2)
    run = golden("decided")
    verdict = run.workloads[0].verdicts[0].model_copy(
        update={
            "word": VerdictWord.FASTER, "deciding_look": look, "estimate_log": None,
            "low_log": None, "high_log": None,
        }
    )  # fmt: skip
    response = run.workloads[0].responses[0].model_copy(update={"direction": "none"})
    assert verdict_word(verdict, response) == "more"


def test_a_verdict_at_the_only_condition_that_both_have_names_it() -> None:
    found = golden("decided")
    own, first = found.workloads[0], found.workloads[0].conditions[0]
    verdict = own.verdicts[0]
    missing = [Cell(system=verdict.other, conditions=each) for each in own.conditions[1:]]
    changes = {"verdicts": (verdict,), "not_applicable": tuple(missing)}
    view = views(found.model_copy(update={"workloads": (own.model_copy(update=changes),)}))[0]
    (row,) = condition_rows(view, verdict.other).rows
    assert row.cells[0] == view.run.labels.conditions(first)
