"""What the parts of a study on several machines say together, from simulated records."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping

import pytest
from tests.unit.judge.quick import EFFORT, judge_study, still_measured
from tests.unit.judge.studies import a_study, measured, noisy

from steelyard.inference.sequential import VerdictWord
from steelyard.judge.findings import RunFindings, VerdictFinding
from steelyard.judge.kinds.verdict_notes import (
    GeneratorSaturated,
    InterferenceExplains,
)
from steelyard.judge.machines.findings import MachinesFinding
from steelyard.judge.machines.joined import joined
from steelyard.judge.machines.of_study import MachinePart, decided_together, verdicts_together
from steelyard.judge.visits.pairs import MACHINE
from steelyard.plan.make import make_plan, planned
from steelyard.records.schema import Outcome, TrialRecord
from steelyard.records.warnings import TrialWarning, WarningKind
from steelyard.report.formats.csv import csv_text
from steelyard.report.formats.html import render
from steelyard.report.formats.markdown import markdown_text
from steelyard.report.formats.terminal import screen_lines
from steelyard.study.model import Study


def study_on(machines: str, **changes: object) -> Study:
    study = a_study(users=(1,), **changes)  # type: ignore[arg-type]
    return study.model_copy(update={"machines": tuple(f"ssh://{name}" for name in machines)})


def parts_with(
    study: Study, ratios: Mapping[str, float], noise: float = 0.01, visits: int = 999
) -> dict[str, MachinePart]:
    """The ratio of ``durable`` on each machine."""
    return {
        name: MachinePart(
            part, plan, measured(plan, noisy(ratios[name], noise, seed=place + 3), visits)
        )
        for place, (name, (part, plan)) in enumerate(planned(study, make_plan(study, 7)).items())
    }


def found_of(study: Study, parts: Mapping[str, MachinePart]) -> RunFindings:
    each = {name: judge_study(*part, run="mail/now") for name, part in parts.items()}
    return joined(study, parts, each, run="mail/now", seed=7, effort=EFFORT)


def words_of(found: RunFindings) -> dict[str, VerdictWord]:
    (own,) = found.workloads
    primary = [v for v in own.verdicts if not v.exploratory]
    return {str((v.conditions or {}).get(MACHINE, "all")): v.word for v in primary}


def test_machines_that_agree_are_faster_on_each_and_on_all_of_these() -> None:
    study = study_on("abc")
    found = found_of(study, parts_with(study, {"a": 1.1, "b": 1.1, "c": 1.1}))
    assert words_of(found) == dict.fromkeys(("all", "a", "b", "c"), VerdictWord.FASTER)
    (own,) = found.workloads
    whole, *each = [v for v in own.verdicts if not v.exploratory]
    assert (whole.family.scope, whole.alpha, whole.interval_level) == ("overall", 0.05, 0.95)
    assert {(v.family.scope, v.family.places) for v in each} == {("machines", 3)}
    assert [v.alpha for v in each] == pytest.approx([0.05] * 3)
    assert each[0].interval_level == pytest.approx(1 - 0.05 / 3)
    beside = next(m for m in own.machines if m.response == "rate")
    assert [e.machine for e in beside.effects] == ["a", "b", "c"]
    assert beside.others is None


def test_an_effect_that_depends_on_the_machine_is_said_and_none_of_others_below_six() -> None:
    study = study_on("abc")
    found = found_of(study, parts_with(study, {"a": 1.1, "b": 0.9, "c": 1.0}))
    words = words_of(found)
    assert (words["a"], words["b"]) == (VerdictWord.FASTER, VerdictWord.SLOWER)
    beside = next(m for m in found.workloads[0].machines if m.response == "rate")
    assert beside.interaction == "differs"
    for text in (
        "\n".join(screen_lines(found)),
        markdown_text(found),
        render(found, records=None),
    ):
        assert "depends on the machine" in text
        assert "thers like them" in text
    rows = csv_text(found).splitlines()
    assert sum(row.startswith("interaction,") for row in rows) >= 3


def test_six_machines_speak_of_others_like_them() -> None:
    study = study_on("abcdef", per_cell=8)
    found = found_of(study, parts_with(study, dict.fromkeys("abcdef", 1.1)))
    beside = next(m for m in found.workloads[0].machines if m.response == "rate")
    assert beside.others is not None
    assert beside.others.word is VerdictWord.FASTER
    assert "n others like them" in "\n".join(screen_lines(found))


def test_trials_are_numbered_through_and_keep_their_values() -> None:
    study = study_on("ab")
    parts = parts_with(study, {"a": 1.1, "b": 1.1})
    found = found_of(study, parts)
    trials = [attempt.trial for attempt in found.attempts]
    assert len(trials) == len(set(trials)) == sum(len(part.records) for part in parts.values())
    (own,) = found.workloads
    of_cells = {t for cell in own.cells if cell.response == "rate" for t in cell.trials}
    assert of_cells == set(trials)
    assert found.stop.visits_planned == sum(len(part.plan.visits) for part in parts.values())


def test_a_small_effect_is_decided_on_all_of_these_before_it_is_on_each() -> None:
    study = study_on("abc", per_cell=12)
    parts = parts_with(study, dict.fromkeys("abc", 1.03), noise=0.03)
    assert not decided_together(
        study, parts_with(study, dict.fromkeys("abc", 1.03), visits=4), EFFORT
    )
    words = words_of(found_of(study, parts))
    assert words["all"] is VerdictWord.FASTER
    assert VerdictWord.UNDECIDED in words.values()
    assert decided_together(study, parts, EFFORT)


def test_without_visits_nothing_is_judged_and_a_report_can_be_made() -> None:
    study = study_on("ab")
    found = found_of(study, parts_with(study, {"a": 1.0, "b": 1.0}, visits=2))
    assert words_of(found)["all"] is VerdictWord.UNDECIDED
    assert found.workloads[0].machines == ()
    assert "\n".join(screen_lines(found)).startswith("What does it cost?\n\nUNDECIDED")


def test_too_many_invalid_trials_of_one_system_on_one_machine_withhold_the_answer_on_all() -> None:
    study = study_on("abc", per_cell=20)
    parts = parts_with(study, dict.fromkeys("abc", 1.1))
    spoilt = [
        r.model_copy(update={"outcome": Outcome.INVALID})
        if r.cell.system == "durable" and r.visit % 3
        else r
        for r in parts["b"].records
    ]
    found = found_of(study, {**parts, "b": parts["b"]._replace(records=spoilt)})
    whole = next(v for v in found.workloads[0].verdicts if v.conditions is None)
    beside = next(m for m in found.workloads[0].machines if m.response == "rate")
    assert whole.withheld is not None
    assert beside.withheld_on == "b"


def test_systems_stay_on_a_machine_whatever_is_decided_there() -> None:
    study = study_on("ab", names=("fast", "durable", "other"), per_cell=20)
    part = parts_with(study, {"a": 2.0, "b": 2.0})["a"]
    last = max(visit.block for visit in part.plan.visits)
    (remaining,) = still_measured(*part, last).values()
    assert remaining == {"fast", "durable", "other"}


def with_warnings(
    parts: Mapping[str, MachinePart],
    on: str,
    kind: WarningKind,
    visits: Mapping[str, Collection[int]],
    factor: float = 1.0,
) -> dict[str, MachinePart]:
    """On one machine these visits of each system, counted from 0, have a warning, and values by
    this factor.
    """
    done: Counter[str] = Counter()
    records = []
    for record in parts[on].records:
        place = done[record.cell.system]
        done[record.cell.system] += 1
        hit = place in visits.get(record.cell.system, ())
        records.append(_warned(record, kind, factor) if hit else record)
    return {**parts, on: parts[on]._replace(records=records)}


def _warned(record: TrialRecord, kind: WarningKind, factor: float) -> TrialRecord:
    known = record.responses["rate"]
    assert known.value is not None
    rate = known.model_copy(update={"value": known.value * factor})
    changes = {
        "warnings": (TrialWarning(kind=kind),),
        "responses": {**record.responses, "rate": rate},
    }
    return record.model_copy(update=changes)


def on_all(found: RunFindings) -> tuple[VerdictFinding, MachinesFinding]:
    """What is said of the primary response on all machines."""
    (own,) = found.workloads
    whole = next(v for v in own.verdicts if v.conditions is None and v.response == "rate")
    return whole, next(m for m in own.machines if m.response == "rate")


def test_a_difference_on_all_that_interference_explains_is_withheld_and_names_a_machine() -> None:
    study = study_on("abcd", per_cell=12)
    parts = parts_with(study, dict.fromkeys("abcd", 1.0), noise=0.03)
    most, many = ({"durable": range(of, 12), "fast": (1, 5, 9)} for of in (2, 4))

    def slowed(kind: WarningKind) -> tuple[VerdictFinding, MachinesFinding | None]:
        slow = parts
        for name in "abcd":
            slow = with_warnings(slow, name, kind, most if name == "b" else many, factor=0.85)
        found = verdicts_together(study, slow, EFFORT)["smtp"]
        return next(each for each in found if each[0].response == "rate")

    assert slowed(WarningKind.SWAPPED)[0].word is VerdictWord.SLOWER
    whole, beside = slowed(WarningKind.THROTTLED)
    assert isinstance(whole.withheld, InterferenceExplains)
    assert whole.withheld.system == "durable"
    assert beside is not None
    assert beside.withheld_on == "b"


def test_an_effect_that_only_all_show_stands_beside_a_little_interference_on_one() -> None:
    study = study_on("abc", per_cell=12)
    parts = parts_with(study, {"a": 1.04, "b": 1.01, "c": 1.04}, noise=0.03)
    hit = with_warnings(
        parts, "b", WarningKind.THROTTLED, {"fast": (2, 4, 6, 8), "durable": (3, 5)}
    )
    found = found_of(study, hit)
    assert words_of(found)["b"] is VerdictWord.UNDECIDED
    assert on_all(found)[0].word is VerdictWord.FASTER


def test_equivalent_on_all_is_withheld_where_the_generator_was_the_limit_on_one_machine() -> None:
    study = study_on("abc", per_cell=20)
    parts = parts_with(study, dict.fromkeys("abc", 1.0), noise=0.003)
    assert words_of(found_of(study, parts))["all"] is VerdictWord.EQUIVALENT
    every = {"fast": range(99), "durable": range(99)}
    near = with_warnings(parts, "c", WarningKind.GENERATOR_NEAR_CAPACITY, every)
    whole, beside = on_all(found_of(study, near))
    assert isinstance(whole.withheld, GeneratorSaturated)
    assert (whole.word, beside.withheld_on) == (VerdictWord.UNDECIDED, "c")
