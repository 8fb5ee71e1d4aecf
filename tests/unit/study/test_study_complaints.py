"""Exact text of what an author sees, one kept case per mistake."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.unit.study.study_texts import (
    BODY,
    CASES,
    TRIALS,
    agrees,
    as_text,
    complaints_of,
    messages_of,
    written,
)

from steelyard.study.read import read_study

WRONG = sorted((CASES / "wrong").glob("*.yaml"))


@pytest.mark.parametrize("case", WRONG, ids=lambda path: path.stem)
def test_a_wrong_study_is_answered_with_exactly_this_text(case: Path) -> None:
    complaints = complaints_of(case)
    assert complaints
    assert agrees(case.with_suffix(".txt"), as_text(complaints))


def test_every_kept_text_has_its_study() -> None:
    texts = {path.stem for path in (CASES / "wrong").glob("*.txt")}
    assert texts == {path.stem for path in WRONG}


def test_a_study_with_two_mistakes_names_both_places(tmp_path: Path) -> None:
    path = written(tmp_path, BODY + "baselin: one\ntrials: {margin: 2}\n")
    assert [(c.line, c.column) for c in complaints_of(path)] == [(7, 1), (8, 18)]


def test_every_complaint_names_the_file_a_place_and_what_to_do(tmp_path: Path) -> None:
    for case in WRONG:
        for complaint in complaints_of(case):
            assert complaint.path == case
            assert complaint.line >= 1
            assert complaint.column >= 1
            assert complaint.hint


def test_a_missing_file_says_how_to_get_one(tmp_path: Path) -> None:
    complaint = complaints_of(tmp_path / "nothing.yaml")[0]
    assert complaint.message == "there is no such file"
    assert "steelyard init" in str(complaint.hint)


def test_a_folder_without_a_study_says_what_it_must_hold(tmp_path: Path) -> None:
    complaint = complaints_of(tmp_path)[0]
    assert complaint.path == tmp_path / "study.yaml"
    assert "study.yaml" in str(complaint.hint)


def test_an_unknown_variant_is_answered_with_the_nearest(tmp_path: Path) -> None:
    path = written(tmp_path, BODY + TRIALS + "variants: {small: {load: {users: 2}}}\n")
    complaint = complaints_of(path, "smal")[0]
    assert complaint.message == "there is no variant `smal`"
    assert str(complaint.hint).startswith("did you mean `small`?")


def test_a_mistake_of_a_variant_is_seen_without_asking_for_it(tmp_path: Path) -> None:
    path = written(tmp_path, BODY + TRIALS + "variants: {small: {load: {users: none}}}\n")
    assert messages_of(path) == ["`load.users`: `none` is not a whole number"]


def test_an_alias_that_holds_itself_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path, "study: &a {b: *a}\n")
    assert messages_of(path) == ["an alias repeats without end"]


def test_aliases_that_multiply_are_refused(tmp_path: Path) -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 9)]
    path = written(tmp_path, "\n".join(lines))
    assert messages_of(path) == ["an alias repeats without end"]


def test_nesting_without_end_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path, "a: " + "[" * 700)
    assert messages_of(path) == ["nested too deeply"]


def test_a_budget_complaint_says_how_much_time_it_takes(tmp_path: Path) -> None:
    path = written(tmp_path, BODY + "trials: {margin: 2 %, window: 5 s, budget: {time: 50 s}}\n")
    hint = str(complaints_of(path)[0].hint)
    assert hint.startswith("the judge needs at least 8 visits of 7.3 s: allow 59 s")


def test_more_conditions_than_anyone_can_wait_for_are_refused(tmp_path: Path) -> None:
    path = written(tmp_path, BODY + "load: {users: 1..300}\ntrials: {margin: 2 %}\n")
    complaint = complaints_of(path)[0]
    assert (complaint.message, complaint.line) == ("300 conditions are too many", 7)


@pytest.mark.parametrize("line", ["generator: {threads: 0}", "load: {rate: 5, connections: 0}"])
def test_nothing_of_something_needed_is_refused(tmp_path: Path, line: str) -> None:
    messages = messages_of(written(tmp_path, BODY + TRIALS + line))
    assert len(messages) == 1
    assert "`0` is too small" in messages[0]


@pytest.mark.parametrize(
    ("line", "column"),
    [
        ("load: {rate: 1000000000}", 8),
        ("load: {rate: [100, 100000001]}", 20),
        ("load: {rate: 0.0001}", 8),
        ("load: {rate: 5, connections: 5000000000}", 30),
    ],
)
def test_a_load_that_the_engine_does_not_drive_is_refused_where_it_stands(
    tmp_path: Path, line: str, column: int
) -> None:
    (complaint,) = complaints_of(written(tmp_path, BODY + TRIALS + line + "\n"))
    assert complaint.column == column


def test_the_highest_rate_of_the_engine_is_accepted(tmp_path: Path) -> None:
    study = read_study(written(tmp_path, BODY + TRIALS + "load: {rate: 100000000}\n"))
    assert study.factors["load.rate"] == (100_000_000,)


def test_a_budget_that_ends_before_the_span_is_a_mistake(tmp_path: Path) -> None:
    trials = "trials: {margin: 2 %, window: 1 s, span: 2 h, budget: {time: 1 h}}\n"
    [complaint] = complaints_of(written(tmp_path, BODY + trials))
    assert complaint.message == "the budget ends before the span has passed"
    assert not complaints_of(written(tmp_path, BODY + trials.replace("1 h", "3 h")))


@pytest.mark.parametrize("cpus", [255, 256])
def test_a_guest_has_no_more_processors_than_qemu_gives_it(tmp_path: Path, cpus: int) -> None:
    text = BODY.replace("platform: native", f"platform: qemu, cpus: {cpus}", 1) + TRIALS
    path = written(tmp_path, text)
    if cpus == 255:
        assert read_study(path).systems["one"].settings["cpus"] == cpus
        return
    (complaint,) = complaints_of(path)
    assert (complaint.line, complaint.hint) == (4, "the maximum is 255")


def test_a_guest_in_too_little_memory_is_refused_by_its_study(tmp_path: Path) -> None:
    text = BODY.replace("platform: native", "platform: qemu, memory: 64 MiB", 1) + TRIALS
    (found,) = complaints_of(written(tmp_path, text))
    assert "64 MiB` is too small" in found.message
    assert "128 MiB" in str(found.hint)


@pytest.mark.parametrize("levels", ["[[sleep, '1'], [sleep, '2']]", "[sleep 1, sleep 2]"])
def test_what_takes_a_list_is_refused_as_a_factor_whatever_its_levels_are(
    tmp_path: Path, levels: str
) -> None:
    text = BODY.replace("workload: {use: http}", "workload: {command: [sleep, '1']}")
    text = text.replace(", service: {use: sink-http}", "")
    text = text.replace(", service: {use: sink-http, body: 2 KiB}", ", network: lab")
    factors = f"factors: {{workload.command: {levels}}}\ncompare: workload.command\n"
    found = complaints_of(written(tmp_path, text + factors + TRIALS.replace("window: 1 s, ", "")))
    assert "what takes a list has no levels" in found[0].message
    assert not any("is not a" in each.message for each in found)
    unknown = text + "factors: {nothing: [1, 2]}\n" + TRIALS
    (hint,) = (
        str(c.hint) for c in complaints_of(written(tmp_path, unknown)) if "nothing" in c.message
    )
    assert "workload.command" not in hint
    assert "system.network" in hint


def test_a_pipe_or_a_device_is_refused_before_it_is_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", Path("/dev/zero")):
        (complaint,) = complaints_of(path)
        assert complaint.path == path
        assert "regular file" in complaint.message


def test_what_is_quoted_at_length_is_shortened(tmp_path: Path) -> None:
    digits = "1" + "0" * 5000
    for text in (
        BODY + f"baseline: x{digits}\n" + TRIALS,
        BODY.replace("a-study", f"x{digits}") + TRIALS,
        BODY.replace("native", f"x{digits}") + TRIALS,
        BODY + TRIALS.replace("2 %", f"2 {digits}x"),
        BODY + TRIALS + f"gates: {{errors: at most 3 {digits}x}}\n",
        BODY + TRIALS + f"baseline: !x{digits} one\n",
    ):
        found = complaints_of(written(tmp_path, text))
        assert found
        assert all(len(f"{c.message}{c.hint}") < 500 for c in found)


def test_a_key_that_was_removed_is_not_offered(tmp_path: Path) -> None:
    (complaint,) = complaints_of(written(tmp_path, BODY + TRIALS.replace("window", "windw")))
    assert "`window`" in str(complaint.hint)
    assert "order" not in str(complaint.hint)
