"""What one trial measures, as plans and reports say it."""

from __future__ import annotations

from pathlib import Path

import pytest

from steelyard.judge.caveats import limits
from steelyard.plan.make import make_plan
from steelyard.study.ending import ending, measured
from steelyard.study.model import Study
from steelyard.study.read import read_study_bytes

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
    ("study", "words", "ends"),
    [
        (by_the_clock(), "4 s after 1 s of warm-up", "warm-up 1 s, window 4 s"),
        (
            by_count(),
            "25 messages of each user after 1 s of warm-up",
            "warm-up 1 s, 25 messages of each user",
        ),
        (by_itself(), "one run to its own end", "one run to its own end"),
        (by_a_window_of_its_own(), "4 s after 1 s of warm-up", "warm-up 1 s, window 4 s"),
    ],
    ids=["clock", "count", "tool", "tool with a window"],
)
def test_what_a_trial_measures_is_told_by_what_ends_it(study: Study, words: str, ends: str) -> None:
    assert measured(study) == words
    assert ending(study) == ends


def test_of_several_workloads_each_is_told_that_differs() -> None:
    study = read("workloads: {copy: {use: dd}, burn: {use: stress-ng}, more: {use: dd}}\n")
    words = "of copy, more one run to its own end; of burn 4 s after 1 s of warm-up"
    assert measured(study) == words


def test_the_limits_of_a_study_name_the_reset_of_each_system_and_what_was_measured() -> None:
    study = by_count()
    told = list(limits(study, make_plan(study, 1), []))
    assert "A trial measures 25 messages of each user after 1 s of warm-up: longer runs " in told[2]
    assert told[3].startswith("Trials of one start from a reset of strength 'container': ")
    assert told[4].startswith("Trials of two start from a reset of strength 'snapshot': ")
