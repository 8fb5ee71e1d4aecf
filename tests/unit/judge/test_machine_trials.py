"""Trials of several machines: a verdict on all of these, one on each, and what depends on them."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import pytest

from steelyard.inference.randomisation import big_stick
from steelyard.inference.sequential import VerdictWord
from steelyard.judge import TrialsVerdict, judge_trials
from steelyard.judge.kinds.verdict_notes import CarryOverFound, NoVariation
from steelyard.judge.own_trials.rows import TrialsError
from steelyard.judge.visits.pairs import MACHINE
from steelyard.report.sentences.terminal.trials import trials_lines

PATHS = 300
Rows = list[tuple[str, str, float]]
"""Machine, system, response."""


def measured(
    effects: Mapping[str, float], visits: int = 16, *, left: float = 0.0, sd: float = 0.01
) -> Rows:
    """Machines of very different levels; ``left``: what the other system leaves on machine c."""
    rows: Rows = []
    for place, (name, effect) in enumerate(effects.items()):
        random = np.random.default_rng(place + 11)
        others = big_stick(1, visits, random)[:, 0] > 0
        follows = np.concatenate([[False], others[:-1]])
        logs = random.normal(0, sd, visits) + effect * others
        logs += left * follows if name == "c" else 0.0
        level = 10.0 ** (place % 4 + 1)
        rows += [
            (name, "new" if other else "old", level * math.exp(log))
            for other, log in zip(others, logs, strict=True)
        ]
    return rows


def judged(rows: Rows, **rest: object) -> TrialsVerdict:
    machines, systems, response = zip(*rows, strict=True)
    given = {"machine": machines, "baseline": "old", "paths": PATHS, **rest}
    return judge_trials(systems, response, **given)  # type: ignore[arg-type]


def words_of(found: TrialsVerdict) -> dict[str, VerdictWord]:
    return {str((v.conditions or {}).get(MACHINE, "all")): v.word for v in found.verdicts}


def test_each_machine_and_all_of_these_have_a_verdict_whatever_their_levels() -> None:
    found = judged(measured({"a": 0.06, "b": 0.06, "c": 0.06}))
    assert words_of(found) == dict.fromkeys(("all", "a", "b", "c"), VerdictWord.FASTER)
    whole, *each = found.verdicts
    assert [(v.family.scope, v.family.places) for v in each] == [("machines", 3)] * 3
    assert whole.family.scope == "overall"
    assert (whole.n_baseline + whole.n_other, found.machines[0].visits_each) == (48, 16)
    assert whole.interval_level == pytest.approx(0.95)
    assert each[0].interval_level == pytest.approx(1 - 0.05 / 3)
    low, high = whole.low_log, whole.high_log
    assert low is not None
    assert high is not None
    assert low < 0.06 < high


def test_a_response_that_is_better_lower_has_its_signs_as_measured() -> None:
    found = judged(measured({"a": 0.06, "b": 0.06, "c": 0.0}), direction="lower")
    assert words_of(found)["all"] is VerdictWord.SLOWER
    effects = {each.machine: each.deviation_log for each in found.machines[0].effects}
    assert effects["c"] < 0 < effects["a"]


def test_an_effect_that_depends_on_the_machine_is_named_with_it() -> None:
    found = judged(measured({"a": 0.06, "b": -0.06, "c": 0.0}))
    words = words_of(found)
    assert words["a"] is VerdictWord.FASTER
    assert words["b"] is VerdictWord.SLOWER
    assert words["all"] not in {VerdictWord.FASTER, VerdictWord.SLOWER}
    assert found.machines[0].interaction == "differs"
    text = "\n".join(trials_lines(found))
    assert "on all of these 3 machines" in text
    assert "depends on the machine" in text


def test_visits_of_one_machine_beyond_those_of_the_others_count_for_itself() -> None:
    rows = [*measured({"a": 0.06}, visits=12), *measured({"a": 0, "b": 0.06}, visits=10)[10:]]
    found = judged(rows)
    whole, *each = found.verdicts
    assert [v.n_baseline + v.n_other for v in (whole, *each)] == [20, 12, 10]
    told = next(line for line in trials_lines(found) if "Unit of inference" in line)
    assert f"{sum(v.n_baseline for v in each)} of old" in told


def test_equal_effects_with_little_noise_are_alike() -> None:
    assert judged(measured({"a": 0.06, "b": 0.06}, sd=0.004)).machines[0].interaction == "alike"


def test_of_other_machines_nothing_is_said_below_six() -> None:
    two = judged(measured(dict.fromkeys("ab", 0.06), visits=8)).machines[0]
    assert (two.others, two.least_machines) == (None, 6)
    six = judged(measured(dict.fromkeys("abcdef", 0.06), visits=10)).machines[0]
    assert six.others is not None
    assert six.others.word is VerdictWord.FASTER
    low, further = six.others.low_log, six.others.further_low_log
    assert low is not None
    assert further is not None
    assert further < low


def test_what_is_left_from_visit_to_visit_on_one_machine_withholds_the_answer_on_all() -> None:
    found = judged(measured({"a": 0.06, "b": 0.06, "c": 0.06}, visits=24, left=0.08))
    whole = found.verdicts[0]
    assert isinstance(whole.withheld, CarryOverFound)
    assert found.machines[0].withheld_on == "c"
    assert words_of(found)["a"] is VerdictWord.FASTER


def test_a_machine_without_any_variation_leaves_all_of_these_not_judged() -> None:
    rows = [row if row[0] != "b" else ("b", row[1], 7.0) for row in measured({"a": 0.06, "b": 0})]
    rows[0] = (*rows[0][:2], rows[0][2] * 1.001)
    still = [
        ("b", system, 7.0 if system == "old" else 8.0) for name, system, _ in rows if name == "b"
    ]
    found = judged([*(row for row in rows if row[0] == "a"), *still])
    assert found.verdicts[0].word is VerdictWord.NOT_JUDGED
    assert isinstance(found.verdicts[0].not_judged[0], NoVariation)
    assert found.machines == ()


def test_trials_of_one_machine_are_judged_as_without_its_name() -> None:
    rows = measured({"a": 0.06})
    plain = judge_trials([r[1] for r in rows], [r[2] for r in rows], baseline="old", paths=PATHS)
    assert judged(rows) == plain


def test_the_same_trials_give_the_same_findings_in_whatever_turn_machines_stand() -> None:
    rows = measured({"a": 0.03, "b": 0.06})
    by_name = [[row for row in rows if row[0] == name] for name in "ab"]
    in_turn = [row for pair in zip(*by_name, strict=True) for row in pair]
    assert judged(rows) == judged(in_turn)


def test_an_order_that_was_not_drawn_is_judged_once_on_each_and_all() -> None:
    rows = measured({"a": 0.06, "b": 0.06})
    found = judged(rows, design="none")
    assert words_of(found)["all"] is VerdictWord.FASTER
    assert {v.decided_at_visit for v in found.verdicts} == {16}


@pytest.mark.parametrize(
    ("change", "column", "machine", "told"),
    [
        (lambda r: [x for x in r if x[:2] != ("b", "new")], "machine", "b", "has no trial of new"),
        (lambda r: [x for x in r if x[0] != "b"] + r[16:20], "system", "b", "too few"),
        (lambda r: [*r[:18], ("b", "old", math.nan), *r[19:]], "response", "b", "trial 3"),
        (lambda r: [*r[:16], *sorted(r[16:])], "system", "b", "random order of its own"),
        (lambda r: [*r[:16], *(("b", *x[1:]) for x in r[:16])], "machine", "b", "the same order"),
    ],
)
def test_what_cannot_be_judged_names_its_machine_and_the_trial_on_it(
    change: object, column: str, machine: str, told: str
) -> None:
    with pytest.raises(TrialsError) as raised:
        judged(change(measured({"a": 0.0, "b": 0.0})))  # type: ignore[operator]
    error = raised.value
    assert (error.column, error.machine) == (column, machine)
    assert machine in error.message
    assert told in f"{error.message}; {error.hint}"


def test_several_loads_and_a_column_of_another_length_are_refused() -> None:
    rows = measured({"a": 0.0, "b": 0.0})
    with pytest.raises(TrialsError, match="several loads") as raised:
        judged(rows, load=[1, 2] * (len(rows) // 2))
    assert raised.value.column == "load"
    with pytest.raises(TrialsError, match="`machine` has 3"):
        judge_trials(["old"], [1.0], baseline="old", machine=["a"] * 3)
