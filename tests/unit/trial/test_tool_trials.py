"""A tool on a real machine: found, prepared, run, read, and cleaned up after, whatever it does."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.unit.trial.tool_bench import Bench

from steelyard.engine.agent import AgentRefusal
from steelyard.hosts.failures import SystemFailure
from steelyard.hosts.host import Host
from steelyard.hosts.machines import open_machine
from steelyard.records.missing import Reason
from steelyard.records.schema import Outcome
from steelyard.trial.attempt.outcomes import TrialFailed

OWN = """\
summary: Prints what it is asked to.
operation: runs
primary: mine.rate
requires: [sh]
settings: {depth: {kind: count, default: 1, meaning: "depth"}}
prepare: [{run: [touch, "{folder}/prepared"]}]
command: [sh, -c, "SCRIPT"]
cleanup: [{run: [touch, "{folder}/first"]}, {run: [mv, "{folder}/first", "{folder}/cleaned"]}]
ends: by itself
writes: {report: "{folder}/report.json"}
metrics:
  mine.rate: {label: rate, unit: runs/s, direction: higher, meaning: "rate", pattern: '^rate ([0-9.]+)$'}
  mine.size: {label: size, unit: bytes, direction: lower, meaning: "size", pattern: '^size ([0-9.]+)$'}
"""  # noqa: E501 - as people write it
GOOD = "echo rate 5; echo size 7"


@pytest.fixture(scope="module")
def host() -> Iterator[Host]:
    machine = open_machine("local")
    yield machine
    machine.close()


@pytest.fixture
def bench(host: Host, tmp_path: Path) -> Bench:
    return Bench(host, tmp_path)


def own(script: str = GOOD, *changes: tuple[str, str]) -> str:
    text = OWN.replace("SCRIPT", script)
    for right, wrong in changes:
        assert right in text
        text = text.replace(right, wrong, 1)
    return text


def test_what_a_good_tool_printed_is_measured_and_its_time_taken(bench: Bench) -> None:
    measured = bench.measured(own())
    assert {name: one.value for name, one in measured.items() if name != "run_time"} == {
        "mine.rate": 5.0,
        "mine.size": 7.0,
    }
    assert measured["run_time"].value
    worked, seen = bench.instance.work_ns, bench.instance.window_ns
    assert worked is not None
    assert seen is not None
    assert seen[0] < worked[0] < worked[1] < seen[1], "without the way there and back"
    assert bench.instance.outputs["stdout"] == "rate 5\nsize 7\n"
    assert set(bench.instance.unread) == {"report"}


@pytest.mark.parametrize(
    ("script", "outcome", "told"),
    [
        ("echo rate 5", Outcome.OUTPUT_NOT_UNDERSTOOD, "`mine.size`: nothing like"),
        ("echo rate 5; printf 'size 7'", Outcome.OUTPUT_NOT_UNDERSTOOD, "`mine.size`: nothing"),
        (f"{GOOD}; echo size 8", Outcome.OUTPUT_NOT_UNDERSTOOD, "2 of them"),
        ("echo rate 5; echo size 7.7.7", Outcome.OUTPUT_NOT_UNDERSTOOD, "`7.7.7` is no number"),
        ("true", Outcome.OUTPUT_NOT_UNDERSTOOD, "`mine.rate`: nothing like"),
        ("head -c 400000 /dev/zero", Outcome.OUTPUT_NOT_UNDERSTOOD, "longer than what is kept"),
        (f"{GOOD}; echo no luck >&2; exit 3", Outcome.COMMAND_FAILED, "exit code 3: no luck"),
        (f"{GOOD}; kill -9 $$", Outcome.COMMAND_FAILED, "signal 9"),
    ],
)
def test_output_that_is_not_what_the_file_says_fails_the_trial_and_is_kept(
    bench: Bench, script: str, outcome: Outcome, told: str
) -> None:
    with pytest.raises(TrialFailed) as failed:
        bench.measured(own(script))
    assert failed.value.outcome is outcome
    assert told in failed.value.message
    if "rate 5" in script:
        assert bench.instance.outputs["stdout"].startswith("rate 5\n")


@pytest.mark.parametrize("script", [GOOD, "exit 1"])
def test_cleanup_is_planned_before_and_runs_in_its_order_whatever_happened(
    bench: Bench, script: str
) -> None:
    try:
        bench.measured(own(script))
    except TrialFailed:
        assert script != GOOD
    assert (bench.folder / "prepared").exists()
    assert not (bench.folder / "cleaned").exists()
    bench.clean()
    assert (bench.folder / "cleaned").exists()


def test_cleanup_is_planned_when_a_preparation_fails_and_its_words_are_reported(
    bench: Bench,
) -> None:
    bad = ("[touch,", '[sh, -c, "echo no such luck >&2; exit 1",')
    with pytest.raises(AgentRefusal, match="no such luck"):
        bench.measured(own(GOOD, bad))
    assert len(bench.planned) == 2


def test_a_tool_that_says_itself_that_it_failed_has_failed(bench: Bench) -> None:
    refuses = ("metrics:", "refuses: [{pattern: '^error', because: it met an error}]\nmetrics:")
    assert bench.measured(own(GOOD, refuses))["mine.rate"].value == 5
    with pytest.raises(TrialFailed, match="is of use: it met an error") as failed:
        bench.measured(own(f"{GOOD}; echo error 7", refuses))
    assert failed.value.outcome is Outcome.COMMAND_FAILED


def test_exit_codes_that_are_good_are_no_failure(bench: Bench) -> None:
    measured = bench.measured(own(f"{GOOD}; exit 3", ("ends:", "good_exits: [0, 3]\nends:")))
    assert measured["mine.rate"].value == 5


THEN = 'then: [sh, -c, "touch {folder}/then; exit AFTER"]\nends:'


@pytest.mark.parametrize("exit_code", [0, 3])
def test_what_belongs_to_the_work_runs_after_every_good_exit_code(
    bench: Bench, exit_code: int
) -> None:
    after = ("ends:", "good_exits: [0, 3]\n" + THEN.replace("AFTER", "0"))
    measured = bench.measured(own(f"{GOOD}; exit {exit_code}", after))
    assert measured["mine.rate"].value == 5
    assert (bench.folder / "then").exists()
    assert len(bench.instance.ran) == 2


def test_what_belongs_to_the_work_does_not_run_after_a_failure(bench: Bench) -> None:
    after = ("ends:", "good_exits: [0, 3]\n" + THEN.replace("AFTER", "0"))
    with pytest.raises(TrialFailed, match="exit code 4"):
        bench.measured(own(f"{GOOD}; exit 4", after))
    assert not (bench.folder / "then").exists()


def test_good_exit_codes_are_those_of_the_tool_and_not_of_what_comes_then(bench: Bench) -> None:
    after = ("ends:", "good_exits: [0, 3]\n" + THEN.replace("AFTER", "3"))
    with pytest.raises(TrialFailed, match="exit code 3"):
        bench.measured(own(GOOD, after))


def test_a_rate_of_nothing_is_missing_and_not_zero(bench: Bench) -> None:
    measured = bench.measured(own("echo rate 0; echo size 7"))
    assert measured["mine.rate"].value is None
    assert measured["mine.rate"].missing == Reason(kind="zero_printed")


def test_a_zero_that_may_be_is_one(bench: Bench) -> None:
    may = ("label: size,", "label: size, may_be_zero: true,")
    assert bench.measured(own("echo rate 5; echo size 0", may))["mine.size"].value == 0


OTHER = "version: {run: [echo, v 4.2], pattern: 'v ([0-9.]+)', least: '3', before: '4'}\nends:"
STRANGE = "version: {run: [echo, hello], pattern: 'v ([0-9.]+)', least: '3'}\nends:"
ABSENT = "requires: [no-such-tool]\npackages: {debian: [its-package]}"


@pytest.mark.parametrize(
    ("right", "wrong", "told"),
    [
        ("requires: [sh]", ABSENT, "mine needs no-such-tool, which local does not have"),
        ("ends:", OTHER, "version 4.2, and its output is parsed from 3 and before 4 only"),
        ("ends:", STRANGE, "says of its version cannot be parsed: `hello`"),
    ],
)
def test_a_tool_that_cannot_be_used_is_named_and_nothing_is_run(
    bench: Bench, right: str, wrong: str, told: str
) -> None:
    with pytest.raises(SystemFailure) as failed:
        bench.measured(own(GOOD, (right, wrong)))
    assert told in failed.value.message
    assert failed.value.for_operator
    assert not (bench.folder / "prepared").exists()
    if "package" in wrong:
        assert "debian: its-package" in (failed.value.hint or "")


def test_an_output_of_a_newer_version_is_named_with_tool_version_and_place(bench: Bench) -> None:
    newer = "version: {run: [echo, v 3.9], pattern: 'v ([0-9.]+)', least: '3'}\nends:"
    with pytest.raises(
        TrialFailed, match=r"`mine` \(version 3\.9\) printed .* in `stdout`"
    ) as failed:
        bench.measured(own("echo speed 5; echo size 7", ("ends:", newer)))
    assert failed.value.outcome is Outcome.OUTPUT_NOT_UNDERSTOOD
    assert "`mine.rate`" in str(failed.value)
    assert "`mine.size`" not in str(failed.value), "what is there is not complained of"


def test_a_tool_without_a_warmup_of_its_own_is_run_for_that_long_before(bench: Bench) -> None:
    script = "echo {window:ms} >> {folder}/runs; " + GOOD
    windowed = ("ends: by itself", "ends: window\nwarmup: beforehand")
    bench.measured(own(script, windowed), warmup=0.02)
    assert (bench.folder / "runs").read_text(encoding="utf-8") == "20\n50\n"


def test_without_a_warmup_nothing_is_run_before(bench: Bench) -> None:
    script = "echo {window:ms} >> {folder}/runs; " + GOOD
    windowed = ("ends: by itself", "ends: window\nwarmup: beforehand")
    bench.measured(own(script, windowed), warmup=0)
    assert (bench.folder / "runs").read_text(encoding="utf-8") == "50\n"


def test_tools_speak_the_language_that_is_parsed(bench: Bench) -> None:
    bench.measured(own(f"{GOOD}; echo $LC_ALL"))
    assert bench.instance.outputs["stdout"].endswith("\nC\n")


def test_files_are_written_before_anything_runs(bench: Bench) -> None:
    files = (
        "prepare:",
        'files: [{at: "{folder}/sub/words", content: "rate {depth}\\n"}]\nprepare:',
    )
    measured = bench.measured(own("cat {folder}/sub/words; echo size 7", files))
    assert measured["mine.rate"].value == 1
