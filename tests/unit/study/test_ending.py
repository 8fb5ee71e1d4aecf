"""What one trial measures."""

from __future__ import annotations

from pathlib import Path

import pytest

from steelyard.judge.kinds.caveats import NotReset, TrialExtent
from steelyard.judge.validity.study_caveats import study_caveats
from steelyard.plan.make import make_plan
from steelyard.plan.trial_words import ending
from steelyard.study.ending import Extent, extent_of
from steelyard.study.model import Study
from steelyard.study.read import read_study_bytes
from steelyard.study.workload_study import studies

HEAD = """
study: a-study
question: Which is faster?
systems:
  one: {platform: podman, reset: container, SERVICE}
  two: {platform: qemu, reset: snapshot, SERVICE}
trials: {margin: 5 %, window: 4 s, warmup: 1 s, budget: {trials: 9 per cell}}
"""


def read(body: str, service: str = "") -> Study:
    text = HEAD.replace(", SERVICE", f", service: {{use: {service}}}" if service else "") + body
    return read_study_bytes(text.encode(), Path("study.yaml"))


def by_the_clock() -> Study:
    return read("workload: {use: http}\n", "sink-http")


def by_count() -> Study:
    return read("workload: {use: smtp, messages: 25 per user}\n", "sink-smtp")


def by_itself() -> Study:
    return read("workload: {use: dd}\n")


def by_a_window_of_its_own() -> Study:
    return read("workload: {use: stress-ng}\n")


@pytest.mark.parametrize(
    ("study", "extent", "words"),
    [
        (by_the_clock(), Extent(1.0, window_s=4.0), "warm-up 1 s, window 4 s"),
        (
            by_count(),
            Extent(1.0, operations_per_user=25, operation="messages"),
            "warm-up 1 s, 25 messages of each user",
        ),
        (by_itself(), Extent(), "one run to its own end"),
        (by_a_window_of_its_own(), Extent(1.0, window_s=4.0), "warm-up 1 s, window 4 s"),
    ],
    ids=["clock", "count", "tool", "tool with a window"],
)
def test_what_a_trial_measures_is_what_ends_it(study: Study, extent: Extent, words: str) -> None:
    (one,) = studies(study)
    assert extent_of(one) == extent
    assert ending(study) == words


def test_of_several_workloads_each_is_named_that_differs() -> None:
    study = read("workloads: {copy: {use: dd}, burn: {use: stress-ng}, more: {use: dd}}\n")
    words = "of copy, more one run to its own end; of burn warm-up 1 s, window 4 s"
    assert ending(study) == words


def test_the_caveats_of_a_study_name_the_reset_of_each_system_and_what_was_measured() -> None:
    study = by_count()
    (one,) = studies(study)
    found = list(study_caveats(one, make_plan(study, 1), []))
    assert TrialExtent(extent=extent_of(one)) in found
    assert NotReset(strength="container", systems=("one",)) in found
    assert NotReset(strength="snapshot", systems=("two",)) in found
