"""What stands on the first screen: headline, evidence, rows, trust, the gravest caveats."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from pathlib import Path

import pytest
from tests.golden.report_findings import attempt_findings, changed, per_condition, verdict
from tests.golden.screened import USERS, of_three_systems
from tests.unit.report.golden_findings import CASES, golden

from steelyard.inference.sequential import VerdictWord
from steelyard.judge.analyses.factors.findings import EffectWord
from steelyard.judge.analyses.steadiness.findings import LevelChanges, Steadiness, SteadyFinding
from steelyard.judge.comparisons.forecast import VisitsForecast
from steelyard.judge.findings import CalibrationFinding, RunFindings, WarningNote
from steelyard.judge.kinds.caveats import (
    CleanupIncomplete,
    GeneratorBottleneck,
    OneMachine,
    OrderNotRandom,
)
from steelyard.judge.kinds.verdict_notes import (
    CarryOverFound,
    InterferenceExplains,
    InterferenceUnequal,
    OneConstant,
    SpreadsDiffer,
    StallsDiffer,
    VisitsDepend,
)
from steelyard.judge.validity.findings import DifferenceFinding
from steelyard.plan.model import Cell
from steelyard.records.events import EnvironmentDifference
from steelyard.records.warnings import WarningKind
from steelyard.report.figures import percent
from steelyard.report.formats.html import render
from steelyard.report.formats.terminal import screen_lines
from steelyard.report.from_run import stored
from steelyard.report.page.marks import axis_of, row_drawing
from steelyard.report.sentences.assumptions import sure_lines
from steelyard.report.sentences.caveats import MOST_ON_TOP, Weight, caveats, on_top
from steelyard.report.sentences.design import done_rows
from steelyard.report.sentences.differences import difference_lines
from steelyard.report.sentences.evidence import evidence
from steelyard.report.sentences.headline import MOST_WORDS, headline, words_in
from steelyard.report.sentences.influence import influence_answer
from steelyard.report.sentences.trust import State, TrustLine, trust_lines
from steelyard.report.sentences.verdict import interval_level
from steelyard.report.tables.effect_rows import Mark
from steelyard.report.tables.effects import effect_rows
from steelyard.report.tables.factor_effects import MOST_EFFECTS, shown_effects
from steelyard.report.tables.shares import NOISE, divided, whole_percents
from steelyard.report.view import views

EXAMPLES = sorted((Path(__file__).parents[3] / "docs" / "examples").rglob("findings.json"))
MOST_WORDS_OF_A_CAVEAT = 22
UNEQUAL = InterferenceUnequal(
    cause="foreign_cpu", baseline="fast", other="durable",
    affected_baseline=1, visits_baseline=9, affected_other=7, visits_other=8,
)  # fmt: skip
EXPLAINED = InterferenceExplains(cause="foreign_cpu", system="durable", affected=7, visits=9)
LONG = "latency of the slowest of all operations of a user, 99.9th percentile"


def line_of(run: RunFindings, title: str) -> TrustLine:
    return next(line for line in trust_lines(run) if line.title == title)


@pytest.mark.parametrize("case", CASES)
def test_a_headline_has_at_most_twelve_words(case: str) -> None:
    assert 0 < words_in(headline(golden(case)).text) <= MOST_WORDS


@pytest.mark.parametrize("word", [word.value for word in VerdictWord])
def test_a_headline_stays_short_where_the_response_has_a_long_name(word: str) -> None:
    run = golden("decided")
    responses = tuple(
        r.model_copy(update={"label": LONG}) if r.primary else r for r in run.workloads[0].responses
    )
    said = headline(changed(run, responses=responses, verdicts=(verdict(word, -30.0),)))
    assert words_in(said.text) <= MOST_WORDS


def test_the_badge_is_a_heading_with_the_answer() -> None:
    page = render(golden("decided"))
    assert re.search(
        r'<h1><span class="badge worse">slower</span> durable is slower than fast: 71\.0', page
    )


def test_an_undecided_headline_says_what_can_be_said() -> None:
    said = headline(golden("mixed"))
    assert (said.badge, said.text) == (
        "undecided",
        "durable: -0.7 to +2.9 % throughput relative to fast",
    )
    assert "about 9 to 31 more visits would decide" in evidence(golden("mixed")).rest


def test_visits_that_were_left_out_are_not_called_a_budget_that_was_spent() -> None:
    run = golden("plain")
    whole, part = (
        run.model_copy(
            update={
                "stop": run.stop.model_copy(
                    update={"reason": "budget_visits", "visits_done": done, "visits_planned": 30}
                )
            }
        )
        for done in (30, 28)
    )
    assert "the budget of visits ended after 30 of 30 visits" in evidence(whole).rest
    assert "the budget of 30 visits ended, 2 of them left out" in evidence(part).rest


def test_one_of_several_machines_that_ended_with_the_others_is_not_said_to_be_decided() -> None:
    run, own = golden("mixed"), "mixed/1/machines/lab3"
    decided = run.model_copy(update={"stop": run.stop.model_copy(update={"reason": "decided"})})
    part = decided.model_copy(update={"run": own})
    assert "decided on all of these machines after" in " ".join(evidence(part).rest)
    assert "the verdict on all of these machines was reached" in sure_lines(views(part)[0])[0]
    assert "of these machines" not in " ".join(evidence(decided).rest)
    alone = golden("decided").model_copy(update={"run": own})
    assert "of these machines" not in " ".join(evidence(alone).rest)


def test_no_forecast_stands_beside_a_withheld_verdict() -> None:
    withheld = verdict(
        "undecided",
        -40.0,
        withheld=CarryOverFound(system="fast", low_log=0.1, high_log=0.2),
        visits_to_decide=VisitsForecast(least=3, most=9),
    )
    said = " ".join(evidence(changed(golden("decided"), verdicts=(withheld,))).rest)
    assert "verdict withheld: carry-over" in said
    assert "more visits" not in said


def test_the_evidence_names_both_bounds_of_the_margin() -> None:
    wide = verdict("slower", -40.0, margin_log=math.log(1.2))
    said = evidence(changed(golden("decided"), verdicts=(wide,)))
    assert said.interval.startswith("95 % CI -")
    assert said.rest[0] == "beyond the margin of -16.7 to +20.0 %"


def test_levels_stand_with_both_medians_beside_their_effect() -> None:
    (table,) = effect_rows(golden("decided"))
    assert table.head == ("Condition", "fast", "durable", "Change", "CI")
    assert table.rows[1].cells == ("1 user", "3,910", "1,134", "-66.2 %", "-68.8 to -63.4 %")
    marks = [row.mark for row in table.rows]
    assert [mark.estimate_log for mark in marks] == [
        v.estimate_log for v in golden("decided").workloads[0].verdicts[:4]
    ]


def test_a_verdict_is_named_in_each_row_where_rows_differ() -> None:
    (table,) = effect_rows(golden("mixed"))
    assert table.head[-1] == "Verdict"
    assert [row.cells[-1] for row in table.rows] == [
        "undecided", "equivalent", "faster", "not judged",
    ]  # fmt: skip


def test_intervals_hold_together_at_the_level_that_their_own_levels_leave() -> None:
    (table,) = effect_rows(golden("mixed"))
    verdicts = [v for v in golden("mixed").workloads[0].verdicts if v.conditions is not None]
    judged = [v for v in verdicts if v.word is not VerdictWord.NOT_JUDGED and not v.exploratory]
    missed = sum(1 - interval_level(v) for v in judged)
    assert len({interval_level(v) for v in judged}) == 2
    assert f"together at {percent(1 - missed)}" in table.notes[0]


def test_several_systems_stand_in_one_table_with_value_change_interval_and_rank() -> None:
    (table,) = effect_rows(golden("six"))
    assert table.head == ("System", "Median", "Change", "CI", "Rank", "Verdict")
    assert [row.cells[0] for row in table.rows][:2] == ["qmail", "postfix (baseline)"]
    assert table.rows[2].cells[4] == "3 to 4"


def test_a_screening_shows_its_effects_the_largest_first() -> None:
    (table,) = effect_rows(golden("screened"))
    sizes = [abs(row.mark.estimate_log or 0.0) for row in table.rows if row.mark.whole]
    assert sizes == sorted(sizes, reverse=True)
    assert table.rows[0].cells[0] == "service.sync: each message instead of none"
    assert headline(golden("screened")).badge == "effect found"


def test_an_end_without_a_bound_is_drawn_to_the_end_of_the_axis() -> None:
    mark = Mark(0.2, 0.1, None, 0.05, decided=True, whole=False, system=1)
    bounded = replace(mark, high_log=0.3)
    axis = axis_of([mark, bounded])
    assert row_drawing(mark, axis, "x").count("z") > row_drawing(bounded, axis, "x").count("z")


@pytest.mark.parametrize("case", CASES)
def test_trust_has_its_five_lines_the_worst_first(case: str) -> None:
    lines = trust_lines(golden(case))
    assert {line.title for line in lines} == {
        "Steady state", "Host noise", "Configuration", "Load generator", "Failures",
    }  # fmt: skip
    assert [line.state for line in lines] == sorted(line.state for line in lines)


def test_unsteady_windows_are_counted() -> None:
    cells = [
        SteadyFinding(
            cell=Cell(system="fast", conditions={"load.users": users}),
            state=state, trials=6, intervals=20, interval_s=0.1, cut_s=None, bias_log=None,
            drift_low_log=None, drift_high_log=None, reason=LevelChanges(),
        )
        for users, state in ((1, Steadiness.NEVER), (4, Steadiness.STEADY))
    ]  # fmt: skip
    line = line_of(changed(golden("decided"), steadiness=tuple(cells)), "Steady state")
    assert line.state is State.WARNING
    assert "not steady in 1 of 2 cells (its level changes within the window)" in line.text


def test_noise_of_the_host_is_counted_by_system() -> None:
    run = golden("decided")
    own = run.workloads[0].cells
    steal = WarningNote(kind=WarningKind.STEAL, state="suspect", figures={})
    attempts = [
        each.model_copy(update={"warnings": (steal,)}) if each.cell.system == "durable" else each
        for each in attempt_findings(own, "throughput")
    ]
    line = line_of(changed(run, attempts=tuple(attempts)), "Host noise")
    assert line.text == (
        "Interference in 0 of 18 trials of fast and 18 of 18 of durable: CPU steal (18)."
    )


def test_noise_of_three_systems_is_counted_for_each_of_them() -> None:
    run = golden("three")
    (view,) = views(run)
    attempts = attempt_findings(view.own.cells, view.own.responses[0].name)
    steal = WarningNote(kind=WarningKind.STEAL, state="suspect", figures={})
    noisy = tuple(each.model_copy(update={"warnings": (steal,)}) for each in attempts)
    text = line_of(changed(run, attempts=noisy), "Host noise").text
    assert len(run.systems) == 3
    assert all(f" of {name}" in text for name in run.systems)


def test_an_emulated_system_is_named_first_of_what_differs() -> None:
    accelerator = DifferenceFinding(
        fact="platform.qemu.accelerator",
        values={"fast": None, "durable": "tcg"},
        subject="accelerator",
        declared=False,
    )
    line = trust_lines(changed(golden("decided"), differences=(accelerator,)))[0]
    assert (line.title, line.state) == ("Configuration", State.BAD)
    assert "emulated, no KVM" in line.text


@pytest.mark.parametrize(
    ("near", "exceeded", "state", "said"),
    [
        (0, 0, State.GOOD, "At most 56 % of its capacity was used."),
        (9, 0, State.WARNING, "near its capacity in 9 of 12 trials"),
        (0, 3, State.WARNING, "Calibration invalid: 3 of 12 trials"),
    ],
)
def test_the_generator_says_how_close_it_came(
    near: int, exceeded: int, state: State, said: str
) -> None:
    found = CalibrationFinding(
        cell=Cell(system="fast", conditions={"load.users": 1}), sink="smtp", unit="messages/s",
        capacity_per_s=9000.0, baseline_latency_ns=1e5, ratio=0.5, largest_ratio=0.56, trials=12,
        trials_near=near, trials_exceeded=exceeded, not_calibrated=None,
    )  # fmt: skip
    line = line_of(changed(golden("decided"), calibrations=(found,)), "Load generator")
    assert line.state is state
    assert said in line.text


def test_a_generator_that_was_the_bottleneck_makes_a_warning_of_a_difference() -> None:
    limited = GeneratorBottleneck(trials=15, good_trials=30)
    line = line_of(changed(golden("decided"), caveats=(limited,)), "Load generator")
    assert (line.state, "15 of 30 trials" in line.text) == (State.WARNING, True)


def test_a_generator_that_sent_late_says_how_late_and_what_holds_it() -> None:
    lags = {"lag_p99_ns": 400_000.0, "allowed_ns": 50_000.0}
    late = WarningNote(kind=WarningKind.LATE, state="suspect", figures=lags)
    run = golden("decided")
    attempts = tuple(
        each.model_copy(update={"warnings": (late,) if place else ()})
        for place, each in enumerate(run.attempts)
    )
    line = line_of(run.model_copy(update={"attempts": attempts}), "Load generator")
    assert "400 µs" in line.text
    assert f"{len(attempts) - 1} of {len(attempts)}" in line.text


def grave() -> RunFindings:
    beside = (
        SpreadsDiffer(ratio=3.0, chance=0.01, visits_baseline=6, visits_other=6),
        OneConstant(visits_baseline=6, visits_other=6),
        StallsDiffer(stall_rate_baseline=0.0, stall_rate_other=0.5),
        VisitsDepend(
            baseline="fast", other="durable", correlation_baseline=0.5, correlation_other=0.1,
            correlation_between=0.1, lags=3, chance=0.01,
        ),
    )  # fmt: skip
    verdicts = (verdict("slower", -40.0, notes=beside),)
    notes = (OneMachine(processor=None, kernel=None), OrderNotRandom())
    return changed(golden("decided"), verdicts=verdicts, caveats=notes)


def test_at_most_three_caveats_stand_on_the_first_screen_the_gravest() -> None:
    found = caveats(grave())
    top = on_top(found)
    assert len(top) == MOST_ON_TOP < len(found)
    assert [each.weight for each in top][:2] == [Weight.GRAVE, Weight.GRAVE]
    page = render(grave())
    assert f"All {len(found)} caveats" in page
    assert page.count("<h3>May change the verdict (2)</h3>") == 1


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.parent.name)
def test_the_caveats_of_the_first_screen_are_short_and_of_different_kinds(example: Path) -> None:
    top = on_top(caveats(stored(example)))
    assert all(words_in(each.short) <= MOST_WORDS_OF_A_CAVEAT for each in top)
    assert len({each.kind for each in top}) == len(top)


def test_the_whole_sentence_of_a_short_caveat_is_among_all_caveats() -> None:
    found = caveats(grave())
    shortened = [each for each in on_top(found) if each.short != each.text]
    assert shortened
    page = render(grave())
    assert all(each.text.split(":")[0] in page for each in shortened)


@pytest.mark.parametrize("why", [UNEQUAL, EXPLAINED], ids=lambda note: note.kind)
def test_of_several_comparisons_the_first_screen_says_which_are_withheld_and_why(
    why: InterferenceUnequal | InterferenceExplains,
) -> None:
    rows = (
        per_condition("undecided", -30.0, 0.1, 1).model_copy(update={"withheld": why}),
        per_condition("undecided", 0.1, 0.1, 4),
    )
    run = changed(golden("decided"), verdicts=rows)
    assert headline(run).text == "1 user withheld, 4 users undecided, against fast"
    [first] = on_top(caveats(run))
    assert first.short.startswith("1 user withheld: ")
    assert words_in(first.short) <= MOST_WORDS_OF_A_CAVEAT
    alone = changed(golden("decided"), verdicts=rows[:1])
    assert headline(alone).badge == "withheld"
    assert not on_top(caveats(alone)), "its sentence says why"


def test_differences_made_by_other_programs_qualify_no_verdict() -> None:
    left = EnvironmentDifference(
        machine="local", kind="folder", name="/var/tmp/x", before=None, after="there"
    )
    for pending, weight in ((0, Weight.INFORMS), (2, Weight.QUALIFIES)):
        note = CleanupIncomplete(count=1, differences=(left,), pending=pending)
        [found] = caveats(changed(golden("plain"), caveats=(note,)))[:1]
        assert found.weight is weight
        assert "local: folder /var/tmp/x is new" in found.text


@pytest.mark.parametrize(
    ("word", "low", "high", "said"),
    [
        ("slower", -60.0, -50.0, "beyond the margin"),
        ("slower", -60.0, -1.0, "reaches into the margin"),
        ("undecided", -60.0, 20.0, "reaches beyond the margin"),
        ("equivalent", -1.0, 1.0, "within the margin"),
    ],
)
def test_the_evidence_says_where_the_interval_lies_against_the_margin(
    word: str, low: float, high: float, said: str
) -> None:
    one = verdict(word, (low + high) / 2).model_copy(
        update={"low_log": math.log1p(low / 100), "high_log": math.log1p(high / 100)}
    )
    assert any(said in each for each in evidence(changed(golden("plain"), verdicts=(one,))).rest)


def test_of_one_system_under_two_names_the_least_difference_that_would_show_is_said() -> None:
    one = verdict("undecided", 0.0).model_copy(update={"low_log": -0.105, "high_log": 0.1})
    twice = changed(golden("plain"), verdicts=(one,)).model_copy(update={"differences": ()})
    assert any("differences from about 11.1 % on" in each for each in evidence(twice).rest)
    stop = twice.stop.model_copy(update={"reason": "imported"})
    imported = twice.model_copy(update={"stop": stop, "design": "none"})
    assert not any("would show" in each for each in evidence(imported).rest)
    declared = changed(golden("decided"), verdicts=(one,))
    assert declared.differences[0].declared
    assert not any("would show" in each for each in evidence(declared).rest)


def test_a_spread_that_chance_explains_is_no_news() -> None:
    by_chance = SpreadsDiffer(ratio=2.4, chance=0.36, visits_baseline=6, visits_other=6)
    run = changed(golden("decided"), verdicts=(verdict("slower", -40.0, notes=(by_chance,)),))
    assert not on_top(caveats(run))
    assert any("p = 0.36" in each.text for each in caveats(run))


def test_conditions_without_a_verdict_over_all_are_named_in_the_headline() -> None:
    verdicts = (per_condition("slower", -30.0, 0.1, 1), per_condition("equivalent", 0.1, 0.1, 4))
    said = headline(changed(golden("decided"), verdicts=verdicts))
    assert said.badge == "mixed"
    assert said.text == "1 user slower, 4 users equivalent, against fast"


@pytest.mark.parametrize("shares", [(1, 1, 1), (0.929, 0.0707, 0.0003), (0.635, 0.365), (1,)])
def test_shares_in_whole_percent_sum_to_100(shares: tuple[float, ...]) -> None:
    assert sum(whole_percents(shares)) == 100


def test_a_screening_shows_how_the_variation_divides_with_noise_and_the_rest() -> None:
    (found,) = golden("screened").workloads[0].influence
    parts = divided(found)
    assert sum(part.percent for part in parts) == 100
    assert parts[0].name == "service.sync"
    assert parts[-1].name == NOISE


def test_effects_of_a_factor_of_three_levels_are_named_with_the_levels_that_differ() -> None:
    found = of_three_systems()
    run = changed(golden("screened"), influence=(found,))
    ((main, _),) = influence_answer(views(run)[0])
    assert "open: system (delay instead of plain)" in main.evidence
    (table,) = effect_rows(run)
    names = [row.cells[0] for row in table.rows]
    assert len(names) == len(set(names))
    assert any("faulty" in name and USERS in name for name in names)


def test_long_values_are_shortened_to_where_they_differ() -> None:
    values = {"fast": f"python3 {'a' * 64} one", "durable": f"python3 {'a' * 64} two"}
    differs = DifferenceFinding(fact="tool.sha256", values=values, declared=False)
    found = golden("decided").model_copy(update={"differences": (differs,)})
    (line,) = difference_lines(found)
    assert " one" in line
    assert " two" in line


def test_every_influential_effect_is_shown_however_many_there_are() -> None:
    (found,) = golden("screened").workloads[0].influence
    several = [each for each in found.effects if each.effect_log is not None] * MOST_EFFECTS
    last = several[0].model_copy(
        update={"factors": ("a", "b"), "effect_log": 1e-6, "word": EffectWord.INFLUENTIAL}
    )
    changed = found.model_copy(update={"effects": (*several, last)})
    assert shown_effects(changed)[-1] == last


def test_the_budget_of_a_screening_is_one_of_replicates() -> None:
    run = golden("screened")
    stop = {"reason": "budget_visits", "visits_done": 14, "visits_planned": 14}
    ended = run.model_copy(update={"stop": run.stop.model_copy(update=stop)})
    said = " ".join("\n".join(screen_lines(ended)).split())
    assert "the budget of replicates ended after 14 of 14 replicates" in said
    design = dict(done_rows(ended))
    assert "the budget of replicates ended: 14 of at most 14 replicates" in design["Ended"]
    told = dict(done_rows(run))["Ended"]
    assert "28 visits" in told, "where a replicate is several visits"
