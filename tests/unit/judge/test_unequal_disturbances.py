"""Disturbances that strike one system alone withhold its verdict."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.unit.judge.quick import judge_study, look
from tests.unit.judge.studies import Value, a_record, a_study, noisy

from steelyard.inference.sequential import VerdictWord
from steelyard.judge.findings import RunFindings, VerdictFinding
from steelyard.judge.kinds.verdict_notes import GeneratorSaturated, InterferenceUnequal
from steelyard.judge.visits.pairs import Pair
from steelyard.judge.visits.readings import Readings
from steelyard.plan.make import make_plan
from steelyard.plan.model import Plan, PlannedTrial
from steelyard.records.schema import TrialRecord
from steelyard.records.warnings import Figures, TrialWarning, WarningKind
from steelyard.study.model import ResponseSpec, Study


def overall(findings: RunFindings) -> VerdictFinding:
    return next(v for v in findings.workloads[0].verdicts if v.conditions is None)


def with_warnings(
    plan: Plan, value: Value, kind: WarningKind, of: Callable[[PlannedTrial], bool]
) -> list[TrialRecord]:
    warning = TrialWarning(kind=kind)
    records = [(trial, a_record(trial, value(trial))) for v in plan.visits for trial in v.trials]
    return [
        record.model_copy(update={"warnings": (warning,)}) if of(trial) else record
        for trial, record in records
    ]


def judged_with_warnings(
    study: Study, value: Value, kind: WarningKind, of: Callable[[PlannedTrial], bool]
) -> VerdictFinding:
    plan = make_plan(study, 3)
    return overall(judge_study(study, plan, with_warnings(plan, value, kind, of), run="r"))


def of_durable(trial: PlannedTrial) -> bool:
    return trial.cell.system == "durable"


@pytest.mark.parametrize(
    "kind",
    [
        WarningKind.STEAL,
        WarningKind.FOREIGN_CPU,
        WarningKind.FOREIGN_DISK,
        WarningKind.FOREIGN_PAGING,
        WarningKind.RETRANSMITS,
        WarningKind.LINK_THROTTLED,
        WarningKind.THROTTLED,
        WarningKind.CLOCK_STEP,
    ],
)
def test_disturbances_of_one_arm_only_withhold_the_verdict(kind: WarningKind) -> None:
    verdict = judged_with_warnings(a_study(), noisy(0.8), kind, of_durable)
    assert verdict.word is VerdictWord.UNDECIDED
    assert isinstance(verdict.withheld, InterferenceUnequal)
    assert verdict.withheld.cause == kind


def test_a_look_says_that_what_the_tests_decide_is_withheld() -> None:
    study, plan = a_study(), make_plan(a_study(), 3)
    records = with_warnings(plan, noisy(0.8), WarningKind.STEAL, of_durable)
    overall_word = next(w for w in look(study, plan, records).words if w.conditions is None)
    assert (overall_word.word, overall_word.withheld) == (VerdictWord.UNDECIDED, True)
    quiet = with_warnings(plan, noisy(0.8), WarningKind.STEAL, lambda _: False)
    assert not any(word.withheld for word in look(study, plan, quiet).words)


def test_disturbances_of_both_arms_alike_withhold_nothing() -> None:
    verdict = judged_with_warnings(a_study(), noisy(0.8), WarningKind.STEAL, lambda _: True)
    assert verdict.word is VerdictWord.SLOWER


def test_disturbances_of_one_arm_are_named_where_nothing_is_decided() -> None:
    kind, wide = WarningKind.FOREIGN_CPU, noisy(1.0, noise=0.3)
    verdict = judged_with_warnings(a_study(), wide, kind, of_durable)
    assert verdict.word is VerdictWord.UNDECIDED
    assert verdict.withheld is None
    assert [note.cause for note in verdict.notes if isinstance(note, InterferenceUnequal)] == [kind]


def judged_on_a_busy_machine(
    taken: dict[str, float], waited: dict[str, float], study: Study | None = None
) -> VerdictFinding:
    """Every trial has the warning; shares of processors taken by others, and cores waited for."""
    plan = make_plan(a_study() if study is None else study, 3)
    value, records = noisy(0.8), []
    for trial in (trial for visit in plan.visits for trial in visit.trials):
        system, jitter = trial.cell.system, 0.01 * (trial.visit % 5)
        figures: Figures = {
            "machine": "system",
            "cpu_ratio": taken[system] + jitter,
            "waited_cores": waited[system] + jitter,
        }
        warning = TrialWarning(kind=WarningKind.FOREIGN_CPU, figures=figures)
        record = a_record(trial, value(trial))
        records.append(record.model_copy(update={"warnings": (warning,)}))
    return overall(judge_study(study or a_study(), plan, records, run="r"))


MORE = {"fast": 0.3, "durable": 0.6}
ALIKE = {"fast": 0.3, "durable": 0.32}


def test_on_a_machine_that_is_never_idle_more_of_it_for_others_withholds_the_verdict() -> None:
    verdict = judged_on_a_busy_machine(taken=MORE, waited=MORE)
    assert verdict.word is VerdictWord.UNDECIDED
    assert isinstance(verdict.withheld, InterferenceUnequal)
    assert verdict.withheld.cause == WarningKind.FOREIGN_CPU
    assert verdict.withheld.above_ratio == pytest.approx(0.45, abs=0.2)
    assert judged_on_a_busy_machine(taken=ALIKE, waited=MORE).word is VerdictWord.SLOWER


def test_a_system_that_leaves_processors_to_others_is_not_disturbed_by_them() -> None:
    left = {"fast": 0.6, "durable": 0.3}
    assert judged_on_a_busy_machine(taken=MORE, waited=left).word is VerdictWord.SLOWER


def judged_beside_others(ratio: float, taken_cores: float | None) -> VerdictFinding:
    """The trials of one system alone have the warning, each with the processors that were taken."""
    figures: Figures = {"machine": "host", "cpu_ratio": 0.015}
    if taken_cores is not None:
        figures["taken_cores"] = taken_cores
    study, plan = a_study(), make_plan(a_study(), 3)
    records = [
        record.model_copy(
            update={"warnings": tuple(w.model_copy(update={"figures": figures}) for w in each)}
        )
        for record in with_warnings(plan, noisy(ratio), WarningKind.FOREIGN_CPU, of_durable)
        for each in [record.warnings]
    ]
    return overall(judge_study(study, plan, records, run="r"))


@pytest.mark.parametrize(
    ("ratio", "taken_cores", "word"),
    [
        (0.5, 0.03, VerdictWord.SLOWER),
        (0.95, 0.03, VerdictWord.UNDECIDED),  # within four times of what was taken
        (0.5, 0.3, VerdictWord.UNDECIDED),
        (0.05, 0.6, VerdictWord.UNDECIDED),  # a processor shared with others: nothing is known
        (0.05, None, VerdictWord.UNDECIDED),
    ],
)
def test_a_difference_far_beyond_what_was_taken_is_not_withheld(
    ratio: float, taken_cores: float | None, word: VerdictWord
) -> None:
    verdict = judged_beside_others(ratio, taken_cores)
    assert verdict.word is word
    assert isinstance(verdict.withheld, InterferenceUnequal) is (word is VerdictWord.UNDECIDED)


@pytest.mark.parametrize(
    ("name", "whole"),
    [
        ("throughput", True),
        ("run_time", True),
        ("response.mean", True),
        ("response.p99", False),
        ("probe.p50", False),
        ("response.max", False),
        ("iperf3.jitter", False),
        ("event.backup.worst_time", False),
    ],
)
def test_what_is_taken_bounds_no_percentile_and_no_largest(name: str, whole: bool) -> None:
    plan = make_plan(a_study(), 3)
    records = [
        record.model_copy(update={"responses": {name: record.responses["rate"]}})
        for record in with_warnings(plan, noisy(0.8), WarningKind.STEAL, lambda _: False)
    ]
    response = ResponseSpec(name=name, label=name, unit="s", direction="lower")
    series = Readings(plan, records).series(Pair("fast", "durable"), response, None)
    assert series.values.size
    assert series.whole is whole


def test_what_the_study_accepts_withholds_nothing() -> None:
    reason = {"accepted_differences": {"retransmits": "congestion control is what is compared"}}
    study = a_study().model_copy(update=reason)
    verdict = judged_with_warnings(study, noisy(0.8), WarningKind.RETRANSMITS, of_durable)
    assert verdict.word is VerdictWord.SLOWER


def test_what_a_system_may_be_slow_by_withholds_nothing() -> None:
    verdict = judged_with_warnings(a_study(), noisy(0.8), WarningKind.SWAPPED, of_durable)
    assert verdict.word is VerdictWord.SLOWER


@pytest.mark.parametrize("kind", [WarningKind.GENERATOR_NEAR_CAPACITY, WarningKind.GENERATOR_BOUND])
def test_systems_that_keep_the_generator_equally_busy_are_not_equivalent(
    kind: WarningKind,
) -> None:
    quiet = noisy(1.0, noise=0.006)
    verdict = judged_with_warnings(a_study(per_cell=30), quiet, kind, lambda _: True)
    assert verdict.word is VerdictWord.UNDECIDED
    assert isinstance(verdict.withheld, GeneratorSaturated)
    slower = judged_with_warnings(a_study(per_cell=30), noisy(0.8), kind, lambda _: True)
    assert slower.word is VerdictWord.SLOWER


def test_a_generator_that_is_busy_at_one_level_withholds_nothing_at_the_other() -> None:
    study = a_study(users=(1, 4), per_cell=30)
    plan = make_plan(study, 3)
    records = with_warnings(
        plan,
        noisy(1.0, noise=0.006),
        WarningKind.GENERATOR_BOUND,
        lambda trial: trial.cell.conditions["load.users"] == 4,
    )
    verdicts = judge_study(study, plan, records, run="r").workloads[0].verdicts
    at = {(v.conditions or {}).get("load.users"): v for v in verdicts if not v.exploratory}
    assert at[1].word is VerdictWord.EQUIVALENT
    assert isinstance(at[4].withheld, GeneratorSaturated)
    assert isinstance(at[None].withheld, GeneratorSaturated)
