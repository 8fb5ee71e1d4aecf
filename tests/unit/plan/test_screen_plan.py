"""Plans of screenings: every cell once in a replicate, in random order, fractions by turns."""

from __future__ import annotations

from pathlib import Path

from steelyard.plan.make import make_plan
from steelyard.plan.model import Plan
from steelyard.plan.words import plan_lines
from steelyard.study.bind import bind
from steelyard.study.model import Study
from steelyard.study.read import read_study_bytes

TEXT = """
study: screening
question: Which settings matter?
systems:
  server: {platform: native, service: {use: sink-smtp, store: maildir}}
workload: {use: smtp}
screen:
  system: server
  factors:
    service.sync:          [none, each message]
    workload.body:         [4 KiB, 64 KiB]
    load.users:            [2, 8]
    workload.pipelining:   [none, message]
    service.store_threads: [4, 16]
trials: {margin: 5 %, window: 500 ms, warmup: 200 ms, budget: {time: 3 min}}
"""


def planned(seed: int = 5) -> tuple[Study, Plan]:
    study = read_study_bytes(TEXT.encode(), Path("study.yaml"))
    return study, make_plan(study, seed)


def test_every_replicate_holds_each_cell_of_its_fraction_once() -> None:
    _, plan = planned()
    assert plan.screen is not None
    for visit in plan.screen.visits:
        cells = plan.screen.fractions[(visit.block - 1) % 2].cells
        met = [trial.cell.conditions for trial in visit.trials]
        assert sorted(map(str, met)) == sorted(map(str, cells))


def test_the_order_is_random_and_repeats_with_its_seed() -> None:
    plans = [planned(seed)[1] for seed in (5, 5, 6)]
    orders = [[trial.cell for v in plan.every_visit for trial in v.trials] for plan in plans]
    assert orders[0] == orders[1]
    assert orders[0] != orders[2]


def test_a_cell_binds_to_what_its_levels_say() -> None:
    study, plan = planned()
    assert plan.screen is not None
    for cell in (trial.cell for visit in plan.screen.visits[:1] for trial in visit.trials):
        bound = bind(study, cell)
        assert bound.users == cell.conditions["load.users"]
        service = bound.service_of(1)
        assert service is not None
        assert service.settings["sync"] == cell.conditions["service.sync"]
        assert service.settings["store"] == "maildir"
        assert bound.workload.settings["body"] == cell.conditions["workload.body"]


def test_the_plan_says_its_design_in_words() -> None:
    text = "\n".join(plan_lines(*planned()))
    assert "5 factors on server" in text
    assert "a fraction of 16 of 32 cells, resolution V, and its fold-over by turns" in text
    assert "I = ABCDE" in text
    assert "11 at most, 176 trials" in text
    assert "an effect may be called after 4" in text
    assert "compared" not in text


def test_trials_are_numbered_once_over_the_whole_plan() -> None:
    _, plan = planned()
    numbers = [trial.trial for visit in plan.every_visit for trial in visit.trials]
    assert numbers == list(range(1, len(numbers) + 1))
    assert plan.forecast.total_s > 0
