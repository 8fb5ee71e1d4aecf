"""Commands as subjects: how they are started, what is measured, what is refused."""

from __future__ import annotations

import itertools
import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from steelyard.cli.main import app
from steelyard.records.results.timing import Execution, Quantity
from steelyard.timing import commands
from steelyard.timing.commands import MEMORY, WALL, Beside, Command, Commands
from steelyard.timing.execution import (
    CleanupFailedError,
    CommandFailedError,
    Shell,
    Streams,
    execute,
)
from steelyard.timing.session import Declaration, timed

DECLARED = Declaration(primary="wall", margin_ratio=0.05, budget_s=1.0, seed=1)


def command(line: str, **options: object) -> Command:
    return Command(line, line, Shell.chosen("default", line), **options)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("asked", "line", "argv"),
    [
        ("default", "sleep 1", ["sleep", "1"]),
        ("default", "a | b", ["/bin/sh", "-c", "a | b"]),
        ("default", "echo '1 2'", ["/bin/sh", "-c", "echo '1 2'"]),
        ("none", "echo '1 2'", ["echo", "1 2"]),
        ("bash -e", "x", ["bash", "-e", "-c", "x"]),
    ],
)
def test_a_shell_is_started_only_for_what_it_would_interpret(
    asked: str, line: str, argv: list[str]
) -> None:
    assert Shell.chosen(asked, line).argv(line) == argv


def test_an_execution_is_accounted_for_with_its_own_memory() -> None:
    small = execute(["true"])
    large = execute(["sh", "-c", "x=$(head -c 40000000 /dev/zero | tr '\\0' a); :"])
    assert small.exit_code == 0
    assert small.wall_s > 0
    assert small.rss_bytes < 20_000_000, "that of this process is not taken for the command's"
    assert large.rss_bytes > 40_000_000


def test_time_of_the_processor_is_that_of_the_command() -> None:
    done = execute(["sh", "-c", "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done"])
    assert 0 < done.user_s + done.system_s <= done.wall_s * 1.5


def test_exit_codes_and_signals_are_distinguished() -> None:
    assert execute(["sh", "-c", "exit 3"]).exit_code == 3
    assert execute(["sh", "-c", "kill -9 $$"]).exit_code == -9


@pytest.mark.parametrize("text", ["5,1", "0,51", "1,2345", "12,34,567", "0,123"])
def test_a_decimal_comma_is_refused_and_not_read_as_another_number(text: str) -> None:
    with pytest.raises(CommandFailedError):
        execute(["echo", text], Streams(number=re.compile("(.+)")))


def test_a_number_is_found_in_the_output() -> None:
    streams = Streams(number=re.compile(r"took ([\d.,]+) ms"))
    assert execute(["echo", "took 1,234.5 ms"], streams).printed == 1234.5
    with pytest.raises(CommandFailedError, match="holds no number"):
        execute(["echo", "nothing"], streams)


def test_a_program_that_is_not_there_is_named() -> None:
    with pytest.raises(CommandFailedError, match="no-such-program"):
        execute(["no-such-program"])


def test_input_is_that_of_the_file(tmp_path: Path) -> None:
    (tmp_path / "in").write_text("7\n", encoding="utf-8")
    streams = Streams(input=tmp_path / "in", number=re.compile(r"(\d+)"))
    assert execute(["cat"], streams).printed == 7


def test_what_belongs_beside_an_execution_runs_in_its_order(tmp_path: Path) -> None:
    log = tmp_path / "log"
    beside = Beside(*(f"echo {word} >> {log}" for word in ("setup", "prepare", "conclude", "end")))
    subject = command(f"echo run >> {log}", beside=beside)
    commands = Commands([subject], None)
    commands.prepare(1, 0.0)
    commands.visit(subject.name)
    commands.end()
    once = ["prepare", "run", "conclude"]
    assert log.read_text(encoding="utf-8").split() == ["setup", *once * 3, "end"]


def test_a_visit_repeats_short_commands_and_keeps_every_execution() -> None:
    commands = Commands([command("true"), command("sleep 0.05")], None)
    took_s = commands.prepare(0, 0.2)
    assert 1 <= commands.executions_per_visit <= 4, "as often as the slowest fits"
    visit = commands.visit("true")
    assert len(visit.executions) == commands.executions_per_visit
    assert took_s > 0
    assert visit.values[MEMORY.name] == max(each.rss_bytes for each in visit.executions)
    assert visit.values[WALL.name] == pytest.approx(
        sum(each.wall_s for each in visit.executions) / len(visit.executions)
    )


def test_a_command_that_fails_ends_the_timing_unless_that_is_ignored() -> None:
    with pytest.raises(CommandFailedError, match="exit code 1"):
        Commands([command("false")], None).prepare(0, 0)
    ignoring = Commands([command("false", ignored=None)], None)
    ignoring.prepare(0, 0)
    assert ignoring.visit("false").executions[0].exit_code == 1


def test_the_execution_of_a_visit_that_failed_is_named(tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    subject = command(f"echo >> {runs}; [ $(wc -l < {runs}) -lt 2 ]")
    commands = Commands([subject], None)
    commands.executions_per_visit = 3
    with pytest.raises(CommandFailedError, match=r"execution 2 of 3: .* ended with exit code 1"):
        commands.visit(subject.name)


def test_a_signal_is_named_and_not_taken_for_an_exit_code() -> None:
    with pytest.raises(CommandFailedError, match=r"ended with signal 9 \(SIGKILL\)"):
        Commands([command("kill -9 $$")], None).prepare(0, 0)


def test_a_number_counts_though_its_execution_failed_if_that_is_ignored() -> None:
    streams = Streams(number=re.compile(r"(\d+)"))
    printed = Quantity("printed", "printed number", "", "lower")
    subject = command("echo 5; exit 1", streams=streams, ignored=None)
    assert Commands([subject], printed).visit(subject.name).values["printed"] == 5
    silent = command("exit $((1))", streams=streams, ignored=None)
    with pytest.raises(CommandFailedError, match="printed a number: exit code 1"):
        Commands([silent], printed).visit(silent.name)


def test_what_prepares_an_execution_is_a_part_of_what_a_visit_takes() -> None:
    commands = Commands([command("true", beside=Beside(prepare="sleep 0.3"))], None)
    assert commands.prepare(0, 0.1) >= 0.3
    assert commands.executions_per_visit == 1


def test_what_starting_an_execution_takes_is_no_part_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(commands.time, "monotonic", itertools.count().__next__)
    monkeypatch.setattr(Command, "execute", lambda _: Execution(0.01, 0.0, 0.0, 1, 0))
    alone = Commands([command("true")], None)
    assert alone.prepare(0, 0.1) == pytest.approx(0.1)
    assert alone.executions_per_visit == 10


def test_one_document_alone_goes_to_the_standard_output() -> None:
    asked = ["time", "true", "false", "--json", "--export-csv", "-"]
    done = CliRunner().invoke(app, asked)
    assert done.exit_code == 2
    assert "cannot share the standard output" in done.output


def test_a_command_that_does_not_end_is_ended_with_what_it_started(tmp_path: Path) -> None:
    mark = tmp_path / "pid"
    subject = replace(command(f"sleep 600 & echo $! > {mark}; sleep 600"), most_s=1.0)
    commands = Commands([subject], None)
    with pytest.raises(CommandFailedError, match="did not end within 1 s"):
        commands.prepare(0, 0.0)
    child = Path("/proc", mark.read_text(encoding="ascii").strip())
    stopped = not child.exists() or "sleep" not in (child / "cmdline").read_text(encoding="ascii")
    assert stopped


def test_what_prepares_a_command_may_take_longer_than_the_command() -> None:
    subject = replace(command("true", beside=Beside(setup="sleep 1.2")), most_s=1.0)
    assert Commands([subject], None).prepare(0, 0.0) < 1


def test_every_cleanup_is_run_though_some_fail_and_each_failure_is_named(tmp_path: Path) -> None:
    subjects = [
        command(f"true {name}", beside=Beside(cleanup=f"touch {tmp_path}/{name}; exit {code}"))
        for name, code in (("a", 3), ("b", 0), ("c", 4))
    ]
    commands = Commands(subjects, None)
    commands.prepare(0, 0.0)
    with pytest.raises(CleanupFailedError) as failed:
        commands.end()
    assert len(failed.value.failed) == 2
    assert all(f"exit code {code}" in failed.value.message for code in (3, 4))
    assert {path.name for path in tmp_path.iterdir()} == {"a", "b", "c"}


def test_a_setup_that_fails_is_cleaned_up_and_one_that_was_not_begun_is_not(
    tmp_path: Path,
) -> None:
    subjects = [
        command(f"true {name}", beside=Beside(setup=setup, cleanup=f"touch {tmp_path}/{name}"))
        for name, setup in (("a", "true"), ("b", "exit 5"), ("c", "true"))
    ]
    with pytest.raises(CommandFailedError, match="exit code 5"):
        timed(Commands(subjects, None), DECLARED, None, lambda _: None)
    assert {path.name for path in tmp_path.iterdir()} == {"a", "b"}


def test_a_command_and_a_cleanup_that_both_fail_are_both_named() -> None:
    subjects = [command("false", beside=Beside(cleanup="exit 6")), command("true")]
    with pytest.raises(CleanupFailedError) as failed:
        timed(Commands(subjects, None), DECLARED, None, lambda _: None)
    assert "exit code 1" in failed.value.message
    assert "exit code 6" in failed.value.message


def test_what_was_measured_is_printed_though_a_cleanup_fails() -> None:
    words = ("time", "--json", "--budget", "60s", "--cleanup", "exit 7", "true", "sleep 0.03")
    done = CliRunner().invoke(app, words)
    assert (done.exit_code, "exit code 7" in done.stderr) == (3, True)
    assert json.loads(done.stdout)["results"]
