"""When a timing looks, stops and refuses; its order; what it exports. Time is simulated work."""

from __future__ import annotations

import csv
import dataclasses
import io
import itertools
import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from steelyard.cli.main import app
from steelyard.cli.timing import outcome
from steelyard.cli.timing.versus import rate_of
from steelyard.errors import ExitCode, HostError
from steelyard.inference.sequential import VerdictWord
from steelyard.judge import judge_trials
from steelyard.records.results.timing import Execution, Quantity, TimedVisit, Timing
from steelyard.report.formats.timing import csv_export, json_export, markdown_export, trials_export
from steelyard.report.sentences.terminal.timing import timing_lines
from steelyard.report.tables.timing import timing_table
from steelyard.timing import session
from steelyard.timing.execution import CleanupFailedError, CommandFailedError
from steelyard.timing.session import Declaration, Progress, timed
from steelyard.timing.urls import Urls

WALL = Quantity("wall", "wall time", "s", "lower")
QUIET_S = 3600.0


class Known:
    """Subjects that take a known time with known noise, without taking any."""

    responses = (WALL,)
    executions_per_visit = 1

    def __init__(self, means: Mapping[str, float], visit_s: float = 0.001) -> None:
        self.subjects = {name: f"run {name}" for name in means}
        self._means, self._visit_s = means, visit_s
        self._random = np.random.default_rng(3)
        self.ended = 0

    def prepare(self, warmups: int, visit_s: float) -> float:  # noqa: ARG002 - the protocol's
        return self._visit_s

    def visit(self, name: str) -> TimedVisit:
        wall_s = self._means[name] * float(np.exp(self._random.normal(0, 0.01)))
        name_of_value = self.responses[0].name
        return TimedVisit(name, {name_of_value: wall_s}, (Execution(wall_s, 0.1, 0.2, 4096, 0),))

    def end(self) -> None:
        self.ended += 1


@pytest.fixture(autouse=True)
def look_after_each_visit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Visits here take no time, so that none of it would be left for the judge."""
    monkeypatch.setattr(session, "_JUDGING_SHARE", 1e9)


def declaration(**changes: object) -> Declaration:
    values = {"primary": "wall", "margin_ratio": 0.02, "budget_s": QUIET_S, "seed": 5} | changes
    return Declaration(**values)  # type: ignore[arg-type]


def nothing(_: Progress) -> None:
    pass


def test_a_difference_is_decided_before_the_budget_ends() -> None:
    subjects = Known({"a": 1.0, "b": 1.2})
    timing, found = timed(subjects, declaration(), None, nothing)
    assert found is not None
    assert found.of("b").word is VerdictWord.SLOWER
    assert 8 <= len(timing.visits) < timing.budget_visits
    assert subjects.ended == 1


def test_equal_commands_are_equivalent_within_the_margin() -> None:
    _, found = timed(Known({"a": 1.0, "b": 1.0}), declaration(margin_ratio=0.1), None, nothing)
    assert found is not None
    assert found.of("b").word is VerdictWord.EQUIVALENT


def test_the_order_is_random_and_repeated_by_its_seed() -> None:
    equal = {"a": 1.0, "b": 1.0}
    timings = [
        timed(Known(equal), declaration(seed=seed, margin_ratio=0.3), None, nothing)[0]
        for seed in (1, 1, 2)
    ]
    orders = [[visit.subject for visit in timing.visits] for timing in timings]
    assert orders[0] == orders[1]
    assert orders[0][:8] != orders[2][:8]
    leads = itertools.accumulate(1 if name == "a" else -1 for name in orders[0])
    assert max(map(abs, leads)) <= 2


def test_three_commands_come_in_whole_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "_JUDGING_SHARE", 0.0)  # one look, at the end
    timing, found = timed(
        Known({"a": 1.0, "b": 1.5, "c": 2.0}),
        declaration(margin_ratio=0.2, budget_s=0.03),
        None,
        nothing,
    )
    names = [visit.subject for visit in timing.visits]
    for start in range(0, len(names) - 2, 3):
        assert Counter(names[start : start + 3]) == Counter("abc")
    assert found is not None
    assert {found.of("b").word, found.of("c").word} == {VerdictWord.SLOWER}


def test_a_budget_that_holds_no_verdict_is_refused_before_the_first_visit() -> None:
    subjects = Known({"a": 1.0, "b": 1.0}, visit_s=10.0)
    with pytest.raises(HostError) as raised:
        timed(subjects, declaration(budget_s=30.0), None, nothing)
    assert raised.value.slug == "budget-too-small"
    timing, _ = timed(subjects, declaration(budget_s=30.0, is_given=False), None, nothing)
    assert timing.budget_visits >= 20, "a default makes room for what it measures"


@pytest.mark.parametrize("option", [["-R", "9"], ["-R9"], ["--rate", "9"], ["--rate=9"]])
def test_a_load_of_a_fixed_rate_says_why_throughput_does_not_differ(option: list[str]) -> None:
    rate = rate_of(["--tls", *option, "-k"])
    assert rate == "9"
    assert rate_of(["-c", "4"]) is None
    subjects = Known({"a": 1.0, "b": 1.0})
    subjects.responses = (Quantity("throughput", "throughput", "operations/s", "higher"),)
    asked = declaration(primary="throughput", rate=rate, budget_s=0.02)
    timing, found = timed(subjects, asked, None, nothing)
    assert found is not None
    assert any("fixed by -R 9" in line for line in timing_lines(timing, found))
    unlimited = dataclasses.replace(timing, rate=None)
    assert not any("fixed by" in line for line in timing_lines(unlimited, found))


def test_windows_that_fill_a_budget_too_soon_are_refused_before_a_load(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    loads = list[str]()
    monkeypatch.setattr(Urls, "_load", lambda _self, name: loads.append(name))
    words = ["versus", "http://a/", "http://b/", "--window", "5 s", "--budget", "4 s"]
    refused = CliRunner().invoke(app, words)
    assert (refused.exit_code, loads) == (ExitCode.OPERATOR, [])
    assert "a visit takes 5 s" in refused.stderr


class Clock:
    """Stands still until a visit takes a second."""

    def __init__(self) -> None:
        self.now_s = 0.0

    def monotonic(self) -> float:
        return self.now_s


@pytest.mark.parametrize(("budget_s", "visits"), [(4.5, 6), (7.0, 8), (9.5, 10)])
def test_a_given_budget_ends_the_visits_though_they_take_longer_than_forecast(
    budget_s: float, visits: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock, subjects = Clock(), Known({"a": 1.0, "b": 1.0})
    monkeypatch.setattr(session, "time", clock)

    def passes(_: Progress) -> None:
        clock.now_s += 1.0

    timing, found = timed(subjects, declaration(budget_s=budget_s), None, passes)
    assert len(timing.visits) == visits + 1
    assert (found is None) is (len(timing.visits) < 8)


def test_what_failed_is_counted_in_every_form() -> None:
    timing, found = timed(Known({"a": 1.0, "b": 1.2}), declaration(), None, nothing)
    failed = [Execution(1.0, 0.1, 0.2, 4096, code) for code in (3, 3, -9)]
    first = next(i for i, visit in enumerate(timing.visits) if visit.subject == "b")
    timing.visits[first] = TimedVisit("b", {"wall": 1.0}, tuple(failed))
    assert found is not None
    whole = timing.attempted("b")
    said = f"3 of {whole} executions of b failed (exit code 3: 2, signal 9 (SIGKILL): 1)"
    assert any(said in line for line in timing_lines(timing, found))
    assert timing_table(timing, found).rows[1][2] == f"3 of {whole}"
    assert f"3 of {whole}" in markdown_export(timing, found)
    rows = list(csv.DictReader(io.StringIO(csv_export(timing, found))))
    assert [row["failed_executions"] for row in rows] == ["0", "3"]


def test_an_interrupted_timing_is_judged_with_all_visits_that_it_shows(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(session, "_JUDGING_SHARE", 0.0)  # no look while it runs but the last
    subjects = Known({"a": 1.0, "b": 1.0})
    visits = iter(range(12))
    visit = subjects.visit

    def interrupted(name: str) -> TimedVisit:
        if next(visits, None) is None:
            raise KeyboardInterrupt
        return visit(name)

    monkeypatch.setattr(subjects, "visit", interrupted)
    wanted = outcome.Wanted({}, json=False, verbose=False, fail_if=())
    assert outcome.compare(subjects, declaration(), None, wanted) == ExitCode.INTERRUPTED
    assert capsys.readouterr().out.count("12 visits") == 2, "in the verdict and below it"


@pytest.mark.parametrize("cleanup_fails", [False, True])
def test_a_visit_that_fails_late_is_named_and_those_before_it_are_kept(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    *,
    cleanup_fails: bool,
) -> None:
    subjects = Known({"a": 1.0, "b": 1.0})
    visits = iter(range(12))
    visit = subjects.visit

    def failing(name: str) -> TimedVisit:
        if next(visits, None) is None:
            raise CommandFailedError("b ended with exit code 3", "look at it")
        return visit(name)

    def dirty() -> None:
        raise CleanupFailedError(["the cleanup failed"], "clean")

    monkeypatch.setattr(subjects, "visit", failing)
    if cleanup_fails:
        monkeypatch.setattr(subjects, "end", dirty)
    exports = {"json": tmp_path / "out.json"}
    wanted = outcome.Wanted(exports, json=False, verbose=False, fail_if=())
    with pytest.raises(HostError) as raised:
        outcome.compare(subjects, declaration(), None, wanted)
    assert raised.value.message.startswith("visit 13 failed: b ended with exit code 3")
    assert (raised.value.slug, raised.value.exit_code) == ("command-failed", ExitCode.OPERATOR)
    why = "the figures are those of 12 visits before one failed"
    assert f"Not judged: {why}." in capsys.readouterr().out
    kept = json.loads(exports["json"].read_text(encoding="utf-8"))
    assert sum(len(each["times"]) for each in kept["results"]) == 12
    assert (kept["verdict"], kept["not_judged"]) == (None, why)


@pytest.mark.parametrize(
    ("value", "budget_s", "why"),
    [(1.0, 4.0, "the budget ended after 2 visits"), (0.0, 13.0, "the response is zero")],
)
def test_a_budget_that_ends_before_a_verdict_is_possible_says_so_unless_none_ever_is(
    value: float,
    budget_s: float,
    why: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    clock, subjects = Clock(), Known({"a": value, "b": 1.0})
    visit = subjects.visit

    def slow(name: str) -> TimedVisit:
        clock.now_s += 3.0
        return visit(name)

    monkeypatch.setattr(session, "time", clock)
    monkeypatch.setattr(subjects, "visit", slow)
    wanted = outcome.Wanted({}, json=False, verbose=False, fail_if=())
    outcome.compare(subjects, declaration(budget_s=budget_s), None, wanted)
    printed = capsys.readouterr().out
    assert "Not judged:" in printed
    assert why in printed


def test_exported_visits_are_judged_alike() -> None:
    timing, found = timed(Known({"a": 1.0, "b": 1.2}), declaration(), None, nothing)
    rows = list(csv.DictReader(io.StringIO(trials_export(timing, found))))
    again = judge_trials(
        [row["system"] for row in rows],
        [float(row["wall_s"]) for row in rows],
        baseline="a",
        direction="lower",
        budget=timing.budget_visits,
    )
    assert found is not None
    assert again.of("b").word is found.of("b").word
    assert again.of("b").low_log == found.of("b").low_log


@pytest.mark.parametrize("budget_s", [3600.0, 1e-6])
def test_exported_visits_of_several_commands_are_judged_alike(budget_s: float) -> None:
    known = Known({"a": 1.0, "b": 1.02, "c": 1.5}, visit_s=1e-9)
    timing, found = timed(known, declaration(budget_s=budget_s, is_given=False), None, nothing)
    rows = list(csv.DictReader(io.StringIO(trials_export(timing, found))))
    again = judge_trials(
        [row["system"] for row in rows],
        [float(row["wall_s"]) for row in rows],
        baseline="a",
        direction="lower",
        design="blocks",
        block=[int(row["block"]) for row in rows],
        budget=timing.budget_visits,
    )
    assert found is not None
    assert found.visits == len(rows) == len(timing.visits)
    alike = [(v.word, v.low_log, v.n_baseline, v.n_other) for v in found.verdicts]
    assert [(v.word, v.low_log, v.n_baseline, v.n_other) for v in again.verdicts] == alike
    assert len(rows) == 20 or budget_s > 1
    said = any("last block was not finished" in line for line in timing_lines(timing, found))
    assert said is (len(rows) % 3 > 0)


def made() -> Timing:
    timing, _ = timed(Known({"a|x": 1.0, "=b": 1.2}), declaration(), 0.002, nothing)
    return timing


def test_json_has_the_fields_that_readers_of_hyperfine_know() -> None:
    result = json.loads(json_export(made(), None))["results"][0]
    assert {"command", "mean", "stddev", "median", "user", "system", "min", "max", "times"} <= set(
        result
    )
    assert result["memory_usage_byte"][0] == 4096
    assert len(result["times"]) == len(result["exit_codes"])


def test_names_stay_text_in_every_export() -> None:
    timing = made()
    rows = list(csv.DictReader(io.StringIO(csv_export(timing, None))))
    assert rows[1]["name"] == "'=b"
    assert r"`a\|x`" in markdown_export(timing, None)


def test_the_answer_names_the_shell_and_the_table_its_baseline() -> None:
    timing, found = timed(Known({"a": 1.0, "b": 1.2}), declaration(), 0.002, nothing)
    assert found is not None
    assert any("2 ms" in line or "2.00 ms" in line for line in timing_lines(timing, found))
    assert timing_table(timing, found).rows[0][-1] == "baseline"
