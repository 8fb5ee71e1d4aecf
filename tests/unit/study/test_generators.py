"""Several generators of one load: how a study names them, and what they cannot drive together."""

from __future__ import annotations

from pathlib import Path

import pytest

from steelyard.errors import StudyError
from steelyard.plan.make import make_plan
from steelyard.plan.words import plan_lines
from steelyard.study.model import Study
from steelyard.study.read import read_study_bytes

STUDY = """
study: shared
question: What do both serve?
systems:
  one: {platform: native, service: {use: sink-http}}
  two: {platform: native, service: {use: sink-http}}
workload: {use: http}
load: {users: [1, 64]}
generator: {host: [ssh://left, ssh://right], threads: 2}
trials: {margin: 2 %, window: 2 s, warmup: 1 s}
"""


def read(**changes: str) -> Study:
    text = STUDY
    text = text.replace("sink-http", changes.pop("SINK", "sink-http"))
    for before, after in changes.items():
        lines = [line for line in text.splitlines() if not line.startswith(f"{before}:")]
        text = "\n".join([*lines, after, ""])
    return read_study_bytes(text.encode(), Path("study.yaml"))


def test_a_list_of_machines_is_several_generators_and_one_name_is_one() -> None:
    several = read().generator
    assert several.hosts == ("ssh://left", "ssh://right")
    assert (several.threads, several.instance) == (2, None)
    alone = read(generator="generator: {host: ssh://left}").generator
    assert (alone.hosts, alone.further) == (("ssh://left",), ())


def test_a_plan_says_who_shares_the_load() -> None:
    study = read()
    lines = plan_lines(study, make_plan(study, 1))
    assert any("ssh://left" in line and "ssh://right" in line for line in lines)


@pytest.mark.parametrize(
    ("changes", "place"),
    [
        ({"generator": "generator: {host: [ssh://left, somewhere]}"}, (10, 32)),
        ({"generator": "generator: {host: [ssh://left, instance 2]}"}, (10, 32)),
        ({"generator": "generator: {host: []}"}, (10, 19)),
        ({"workload": "workload: {use: tcp-stream}", "SINK": "sink-stream"}, (10, 1)),
        ({"workload": "workload: {command: [sleep, 1 s]}", "load": ""}, (9, 1)),
        ({"find": "find: {capacity: {errors: none}}"}, (11, 1)),
    ],
)
def test_what_several_cannot_drive_is_refused_with_its_place(
    changes: dict[str, str], place: tuple[int, int]
) -> None:
    with pytest.raises(StudyError) as refused:
        read(**changes)
    places = [(found.line, found.column) for found in refused.value.complaints]
    assert place in places
