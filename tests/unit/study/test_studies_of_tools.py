"""A study that drives a tool: its metrics are responses, and what it cannot do is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.study.study_texts import written

from steelyard.errors import StudyError
from steelyard.study.json_schema import study_schema
from steelyard.study.lookup import responses_in
from steelyard.study.model import Study
from steelyard.study.read import read_study
from steelyard.study.timing import trial_s
from steelyard.study.workload_study import studies

STUDY = """\
study: disks
question: Which disk reads faster?
systems: {one: {platform: native}, two: {platform: native}}
workload: {use: fio, pattern: randread}
trials: {margin: 5 %, window: 3 s, warmup: 1 s, budget: {trials: 12 per cell}}
"""


def read(tmp_path: Path, text: str = STUDY) -> Study:
    return read_study(written(tmp_path, text))


def told(tmp_path: Path, text: str) -> str:
    with pytest.raises(StudyError) as refused:
        read(tmp_path, text)
    return "\n".join(f"{one.message}; {one.hint}" for one in refused.value.complaints)


def test_without_a_word_the_metric_that_the_file_says_decides(tmp_path: Path) -> None:
    primary = studies(read(tmp_path))[0].primary
    assert (primary.name, primary.unit, primary.direction) == (
        "fio.iops",
        "operations/s",
        "higher",
    )


def test_metrics_are_responses_gates_guardrails_and_claims(tmp_path: Path) -> None:
    further = """\
responses: {fio.rate: {primary: true}, fio.latency.p99: {}, run_time: {}}
gates: {fio.latency.max: at most 2 s}
judge: {guardrails: {fio.latency.p99: 20 %}}
claims: [{id: quick, system: two, response: fio.rate, faster_than: one}]
"""
    (fio,) = studies(read(tmp_path, STUDY + further))
    assert fio.primary.name == "fio.rate"
    assert fio.gates["fio.latency.max"].at_most == 2e9
    assert fio.guardrails["fio.latency.p99"].direction == "lower"
    assert fio.claims[0].response == "fio.rate"


def test_a_metric_of_another_tool_is_none_of_this_study(tmp_path: Path) -> None:
    answer = told(tmp_path, f"{STUDY}responses: {{dd.rate: {{}}}}\n")
    assert "there is no response `dd.rate`" in answer
    assert "fio.rate" in answer


def test_what_may_be_zero_cannot_decide(tmp_path: Path) -> None:
    text = STUDY.replace("use: fio, pattern: randread", "use: sysbench-fileio")
    answer = told(tmp_path, f"{text}responses: {{sysbench.fileio.flushes: {{primary: true}}}}\n")
    assert "`sysbench.fileio.flushes` cannot be primary" in answer


def test_a_tool_that_takes_no_load_is_given_none(tmp_path: Path) -> None:
    assert "takes no load" in told(tmp_path, f"{STUDY}load: {{users: 4}}\n")


def test_no_search_drives_a_tool(tmp_path: Path) -> None:
    text = STUDY.replace("{platform: native}", "{platform: native, service: {use: nginx}}")
    text = text.replace("use: fio, pattern: randread", "use: ab")
    find = "load: {users: [1, 2]}\nfind: {capacity: {throughput: at least 1}}\n"
    assert "a search needs a workload of the engine" in told(tmp_path, text + find)


def test_a_command_without_its_words_says_so(tmp_path: Path) -> None:
    text = STUDY.replace("use: fio, pattern: randread", "use: command")
    assert "`command` needs `command`" in told(tmp_path, text)


def test_the_window_is_part_of_the_length_of_a_trial_where_the_tool_is_given_it(
    tmp_path: Path,
) -> None:
    windowed = trial_s(read(tmp_path))
    free = trial_s(read(tmp_path, STUDY.replace("fio, pattern: randread", "dd")))
    assert windowed - free == pytest.approx(4.0)


def test_settings_of_a_tool_are_factors(tmp_path: Path) -> None:
    study = read(tmp_path, STUDY.replace("randread", "[read, write], block: [4 KiB, 1 MiB]"))
    assert study.factors == {
        "workload.pattern": ("read", "write"),
        "workload.block": (4096, 1048576),
    }
    assert responses_in(study)["fio.iops"].instances == "sum"


def test_editors_know_the_metrics_of_the_tools_that_are_shipped() -> None:
    names = study_schema()["properties"]["responses"]["propertyNames"]["anyOf"][0]["enum"]
    assert {"fio.iops", "dd.rate", "linpack.rate", "throughput"} <= set(names)


COMMAND = STUDY.replace("{use: fio, pattern: randread}", "{command: [sleep, '1']}")
TIMED = ("warmup: 1 s", "warmup: 1 s, timeout: 20 s")


def test_the_timeout_bounds_a_run_where_every_workload_is_a_program(tmp_path: Path) -> None:
    assert read(tmp_path, COMMAND.replace(*TIMED)).trials.command_s == 20
    assert read(tmp_path, STUDY.replace(*TIMED)).trials.command_s == 20
    load = STUDY.replace("{use: fio, pattern: randread}", "{use: http}\nload: {users: 1}")
    load = load.replace("platform: native", "platform: native, service: {use: nginx}")
    bounded, free = (read(tmp_path, text).trials for text in (load.replace(*TIMED), load))
    assert bounded.command_s == free.command_s
    assert bounded.timeout_s == 20


def test_a_program_that_runs_for_longer_than_its_timeout_is_refused(tmp_path: Path) -> None:
    assert "4 s" in told(tmp_path, STUDY.replace("warmup: 1 s", "warmup: 1 s, timeout: 4 s"))
