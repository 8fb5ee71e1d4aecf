"""The events of a study: read in the order of their moments, and said before anything starts."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.study.study_texts import BODY, complaints_of, written

from steelyard.plan.make import make_plan
from steelyard.plan.words import plan_lines
from steelyard.study.lookup import machines_of_events
from steelyard.study.model import Study
from steelyard.study.read import read_study
from steelyard.study.workload_study import studies

TRIALS = "trials: {margin: 2 %, window: 20 s, budget: {trials: 12 per cell}}\n"
EVENTS = """\
load: {rate: 100}
events:
  second: {command: [sync, --data], at: 12 s, within: 1 s, late: 50 ms, on: ssh://nas}
  first: {command: [sync], at: 3 s, within: 1 s, late: 50 ms, calm: 1 s, undo: [touch, /tmp/x]}
responses: {event.second.duration: {primary: true}, event.first.rate: {}}
gates: {event.first.took: at most 500 ms}
"""


def study_of(folder: Path) -> Study:
    return read_study(written(folder, BODY + EVENTS + TRIALS))


def test_events_stand_in_the_order_of_their_moments(tmp_path: Path) -> None:
    events = study_of(tmp_path).events
    assert list(events) == ["first", "second"]
    assert (events["first"].since_s, events["second"].since_s) == (0.0, 5.0)
    assert events["second"].calm_s == 2.0
    assert events["first"].on == "system"


def test_their_responses_are_like_any_other(tmp_path: Path) -> None:
    [one] = studies(study_of(tmp_path))
    assert one.primary.name == "event.second.duration"
    assert one.gates["event.first.took"].at_most == 5e8


def test_only_machines_with_an_address_are_held_besides(tmp_path: Path) -> None:
    assert machines_of_events(study_of(tmp_path)) == {"second": "ssh://nas"}


def test_the_plan_says_what_runs_where_and_when(tmp_path: Path) -> None:
    study = study_of(tmp_path)
    said = [line for line in plan_lines(study, make_plan(study, 1)) if " event " in line]
    assert len(said) == 2
    for words in ("3 s", "`sync`", "on system", "1 s", "`touch /tmp/x`"):
        assert words in said[0]
    for words in ("12 s", "`sync --data`", "on ssh://nas"):
        assert words in said[1]


@pytest.mark.parametrize("figure", ["rate", "nothing"])
def test_what_may_be_zero_or_is_not_there_cannot_decide(tmp_path: Path, figure: str) -> None:
    event = "events: {one: {command: [sync], at: 3 s, within: 1 s, late: 50 ms}}\n"
    primary = f"responses: {{event.one.{figure}: {{primary: true}}}}\n"
    assert complaints_of(written(tmp_path, BODY + "load: {rate: 100}\n" + event + primary + TRIALS))


@pytest.mark.parametrize(
    ("words", "unknown"),
    [
        ("[echo, '{system}', 'a/{data}/b{instance}']", None),
        ("[awk, '{print $1}']", None),
        ("[awk, '{ print }']", None),
        ("[sh, -c, 'echo ${HOME} $2']", None),
        ("[find, /srv, -exec, sync, '{}', ;]", None),
        ("[cp, x, '{scratch}/x']", None),
        ("[echo, '{systme}']", "systme"),
        ("[sh, -c, 'sync; echo {nope}']", "nope"),
    ],
)
def test_only_what_is_filled_may_be_named_in_braces(
    tmp_path: Path, words: str, unknown: str | None
) -> None:
    body = BODY.replace("two: {", "two: {disks: {scratch: {}}, ")
    for key in ("command", "undo"):
        keys = {"command": "[sync]", key: words}
        written_keys = ", ".join(f"{name}: {text}" for name, text in keys.items())
        event = f"events: {{one: {{{written_keys}, at: 3 s, within: 1 s, late: 50 ms}}}}\n"
        path = written(tmp_path, body + "load: {rate: 100}\n" + event + TRIALS)
        if unknown is None:
            assert read_study(path).events["one"]
            continue
        (said,) = complaints_of(path)
        assert (said.line, said.column) == (8, event.index("'") + 1)
        assert f"`{{{unknown}}}`" in said.message
        assert "{pid}, {system}" in str(said.hint)
        assert "{scratch}" in str(said.hint)
