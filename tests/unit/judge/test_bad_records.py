"""Records from which nothing follows: each gets a clear answer, never a number without meaning."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator

import pytest
from tests.unit.judge.quick import judge_study, look
from tests.unit.judge.studies import Value, a_record, a_study, kinds, measured, noisy

from steelyard.errors import AnalysisError
from steelyard.inference.sequential import VerdictWord
from steelyard.judge.findings import RunFindings
from steelyard.judge.kinds.verdict_notes import MarginBelowResolution, ValueUnusable
from steelyard.plan.make import make_plan
from steelyard.records.schema import AttemptFailure, Outcome
from steelyard.report.formats.registry import FORMATS
from steelyard.report.formats.terminal import screen_lines
from steelyard.report.notes.verdict import note_text

FAILED = AttemptFailure(phase="measure", message="died")


def judged(
    value: Value, names: tuple[str, ...] = ("fast", "durable"), per_cell: int = 12
) -> RunFindings:
    study = a_study(names, (1, 4), 12)
    plan = make_plan(study, 3)
    return judge_study(study, plan, measured(plan, value), run="r")


def numbers(tree: object) -> Iterator[float]:
    if isinstance(tree, dict):
        for part in tree.values():
            yield from numbers(part)
    elif isinstance(tree, list):
        for part in tree:
            yield from numbers(part)
    elif isinstance(tree, float):
        yield tree


def assert_readable(found: RunFindings) -> None:
    """Every form can be written, and holds no number that is none."""
    assert all(math.isfinite(number) for number in numbers(json.loads(found.model_dump_json())))
    text = "\n".join(screen_lines(found, 80)) + FORMATS["md"].text(found)
    assert "nan" not in text.replace("financ", "")
    assert FORMATS["csv"].text(found)


@pytest.mark.parametrize(
    ("bad", "why"),
    [
        (0.0, "zero"),
        (-4.0, "negative_or_not_finite"),
        (math.nan, "negative_or_not_finite"),
        (math.inf, "negative_or_not_finite"),
        (None, "missing"),
    ],
)
def test_what_has_no_logarithm_is_not_judged_and_named(bad: float | None, why: str) -> None:
    found = judged(lambda trial: bad if trial.trial == 5 else 100.0)
    verdict = next(
        v for v in found.workloads[0].verdicts if v.conditions is None and not v.exploratory
    )
    assert verdict.word is VerdictWord.NOT_JUDGED
    (unusable,) = verdict.not_judged
    assert isinstance(unusable, ValueUnusable)
    assert unusable.value == why
    assert verdict.estimate_log is None
    assert verdict.low_log is None


@pytest.mark.parametrize("names", [("fast", "durable"), ("a", "b", "c")])
def test_without_any_variation_nothing_is_claimed(names: tuple[str, ...]) -> None:
    found = judged(lambda _trial: 100.0, names)
    own = [v for v in found.workloads[0].verdicts if not v.exploratory]
    assert not {VerdictWord.FASTER, VerdictWord.SLOWER} & {v.word for v in own}
    assert_readable(found)


@pytest.mark.parametrize("names", [("fast", "durable"), ("a", "b", "c")])
def test_when_every_attempt_failed_nothing_is_judged_and_all_is_reported(
    names: tuple[str, ...],
) -> None:
    study = a_study(names, (1,), 12)
    plan = make_plan(study, 3)
    changes = {"outcome": Outcome.SERVICE_DIED, "failure": FAILED, "responses": {}}
    records = [a_record(t, None, **changes) for visit in plan.visits for t in visit.trials]
    found = judge_study(study, plan, records, run="r")
    assert {v.word for v in found.workloads[0].verdicts} == {VerdictWord.UNDECIDED}
    assert all(v.estimate_log is None for v in found.workloads[0].verdicts)
    assert [f.attempts_failed for f in found.workloads[0].failures] == [
        f.attempts for f in found.workloads[0].failures
    ]
    assert_readable(found)


def test_one_system_that_always_fails_leaves_the_others_judged() -> None:
    study = a_study(("a", "b", "c"), (1,), 20)
    plan = make_plan(study, 3)
    value = noisy({"b": 0.7}, 0.02)
    changes = {"outcome": Outcome.SERVICE_DIED, "failure": FAILED, "responses": {}}
    records = [
        a_record(t, value(t), **(changes if t.cell.system == "c" else {}))
        for visit in plan.visits
        for t in visit.trials
    ]
    found = judge_study(study, plan, records, run="r")
    words = {v.other: v.word for v in found.workloads[0].verdicts if not v.exploratory}
    assert words == {"b": VerdictWord.SLOWER, "c": VerdictWord.UNDECIDED}
    assert_readable(found)


def test_a_missing_cell_is_missing_overall_and_judged_where_it_is_not() -> None:
    study = a_study(("fast", "durable"), (1, 4), 12)
    plan = make_plan(study, 3)
    gone = {"outcome": Outcome.TIMED_OUT, "failure": FAILED, "responses": {}}
    value = noisy(0.7)
    records = [
        a_record(
            t,
            value(t),
            **(gone if t.cell.system == "durable" and t.cell.conditions["load.users"] == 4 else {}),
        )
        for visit in plan.visits
        for t in visit.trials
    ]
    found = judge_study(study, plan, records, run="r")
    words = {
        None if v.conditions is None else v.conditions["load.users"]: v.word
        for v in found.workloads[0].verdicts
        if not v.exploratory
    }
    assert words[1] is VerdictWord.SLOWER
    assert words[None] is words[4] is VerdictWord.UNDECIDED
    assert_readable(found)


def test_a_margin_below_what_the_machine_resolves_stays_undecided_with_a_forecast_or_none() -> None:
    study = a_study(users=(1,), per_cell=20, margin_ratio=0.0001)
    plan = make_plan(study, 3)
    found = judge_study(study, plan, measured(plan, noisy(1.0, 0.05)), run="r")
    verdict = found.workloads[0].verdicts[0]
    assert verdict.word is VerdictWord.UNDECIDED
    assert verdict.visits_to_decide is not None
    assert verdict.visits_to_decide.most is None
    assert "margin_below_resolution" in kinds(verdict)
    assert_readable(found)


@pytest.mark.parametrize(("noise", "told"), [(0.05, r"[3-9]\.\d %|\d %"), (1.0, r"1\d\d %|\d\d %")])
def test_how_much_visits_vary_is_reported_in_percent_however_much_that_is(
    noise: float, told: str
) -> None:
    study = a_study(users=(1,), per_cell=20, margin_ratio=0.01)
    plan = make_plan(study, 3)
    found = judge_study(study, plan, measured(plan, noisy(1.0, noise)), run="r")
    (note,) = (
        n for n in found.workloads[0].verdicts[0].notes if isinstance(n, MarginBelowResolution)
    )
    assert note.visits == 40
    assert note.margin_log == pytest.approx(math.log1p(0.01))
    assert re.search(rf" varies by ({told})$", note_text(note))


def test_a_study_that_was_changed_after_its_first_trial_is_refused() -> None:
    study = a_study()
    plan = make_plan(study, 3)
    changed = study.model_copy(update={"sha256": "1" * 64})
    with pytest.raises(AnalysisError, match="another text of this study"):
        judge_study(changed, plan, measured(plan, noisy(0.8), 2), run="r")
    with pytest.raises(AnalysisError):
        look(changed, plan, [])
