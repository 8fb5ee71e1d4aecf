"""A submission starts once, and the same is not queued twice whatever answers get lost."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tests.unit.queue.conftest import Queue
from typer.testing import CliRunner, Result

from steelyard.cli.main import app
from steelyard.cli.runs.queue_states import standing_of
from steelyard.errors import RecordError
from steelyard.queue.batch import script_of, time_limit_s
from steelyard.records.archive import Run, runs_below
from steelyard.records.submission import Started, claim_start, last_submission


def submit(*words: str) -> Result:
    return CliRunner().invoke(app, ["submit", "study.yaml", *words])


def runs() -> list[Run]:
    return runs_below(Path("results"))


def listed() -> list[dict[str, object]]:
    shown = CliRunner().invoke(app, ["runs", "--json"])
    return [run["queue"] for run in json.loads(shown.stdout)["runs"]]


def test_the_same_is_not_queued_twice_until_it_has_ended_or_the_user_says_so(queue: Queue) -> None:
    assert submit().exit_code == 0
    refused = submit()
    assert (refused.exit_code, "#already-queued" in refused.stderr) == (3, True)
    assert submit("--again").exit_code == 0
    assert submit("--constraint", "xeon").exit_code == 0
    assert len(queue.held) == len(runs()) == 3
    for number in queue.held:
        queue.becomes(number, "ended")
    assert submit().exit_code == 0
    assert len(queue.held) == len(runs()) == 4


def test_a_job_whose_number_was_lost_is_found_again_and_not_queued_twice(queue: Queue) -> None:
    queue.loses = True
    assert "#queue-is-away" in submit().stderr
    (run,) = runs()
    kept = last_submission(run)
    assert kept is not None
    assert kept.job is None
    found = submit("--json")
    assert [each["job"] for each in json.loads(found.stdout)["queued_before"]] == [1]
    assert len(queue.held) == len(runs()) == 1
    assert listed()[0]["job"] == 1


def test_a_job_that_never_reached_the_queue_is_queued_by_the_next_try_as_the_same_run(
    queue: Queue,
) -> None:
    queue.loses = True
    submit()
    queue.held.clear()
    assert submit().exit_code == 0
    assert len(queue.held) == len(runs()) == 1
    with pytest.raises(RecordError):  # what was lost comes too late
        claim_start(runs()[0], 1, Started(job=1, node="n1", started_unix_ns=0))
    claim_start(runs()[0], 2, Started(job=2, node="n1", started_unix_ns=0))


def test_a_job_that_the_queue_forgot_before_it_began_is_queued_again_as_the_same_run(
    queue: Queue,
) -> None:
    submit()
    queue.held.clear()
    assert listed()[0]["state"] == "unknown"
    assert submit().exit_code == 0
    assert len(queue.held) == len(runs()) == 1


def test_the_pages_have_what_the_list_says_and_write_nothing(queue: Queue) -> None:
    queue.loses = True
    submit()
    (run,) = runs()
    path = run.path.absolute()
    (row,) = standing_of([path]).values()
    assert (row["job"], row["state"], row["said"]) == (1, "pending", "1 pending (Resources)")
    assert "log" not in row
    kept = last_submission(run)
    assert kept is not None
    assert kept.job is None, "found again by the queue, and not written down"
    queue.away = True
    assert standing_of([path])[str(path)]["state"] == "unknown"


@pytest.mark.parametrize("name", ["submission.json", "started.json"])
def test_a_damaged_submission_keeps_no_other_run_from_the_list(queue: Queue, name: str) -> None:
    submit()
    submit("--again")
    first, second = runs()
    (first.path / "queue" / "1" / name).write_bytes(b'{"number": ')
    shown = CliRunner().invoke(app, ["runs", "--json"])
    assert shown.exit_code == 0
    states = {
        r["run"]: r["queue"] and r["queue"]["state"] for r in json.loads(shown.stdout)["runs"]
    }
    assert states == {first.key: None, second.key: "pending"}
    assert name in shown.stderr
    paths = [run.path.absolute() for run in (first, second)]
    assert [*standing_of(paths)] == [str(paths[1])]


def test_a_refused_job_leaves_no_run(queue: Queue) -> None:
    queue.refuses = True
    assert "#queue-refuses" in submit().stderr
    assert runs() == []


def test_each_node_has_a_run_with_an_order_of_its_own(queue: Queue) -> None:
    assert submit("--each-node").exit_code == 3  # of two kinds
    queued = submit("--nodelist", "n1,n3", "--each-node", "--constraint", "board")
    assert "#machines-of-another-kind" in queued.stderr
    assert submit("--each-node", "--constraint", "xeon").exit_code == 0
    (run,) = runs()
    kept = last_submission(run)
    assert kept is not None
    assert kept.placement.nodes == ("n3",)


def test_what_begins_while_it_is_cancelled_is_ended_as_what_runs(queue: Queue) -> None:
    submit()
    (run,) = runs()
    done = CliRunner().invoke(app, ["runs", "cancel", run.key])
    assert done.exit_code == 0, done.stderr
    assert queue.ended == [("pending", 1), ("running", 1)]
    assert listed()[0]["state"] == "cancelled"
    again = CliRunner().invoke(app, ["runs", "cancel", run.key])
    assert (again.exit_code, "#not-queued" in again.stderr) == (3, True)


def test_a_queue_that_is_away_is_said_and_runs_are_listed_all_the_same(queue: Queue) -> None:
    submit()
    queue.away = True
    shown = CliRunner().invoke(app, ["runs", "--json"])
    assert [r["queue"]["state"] for r in json.loads(shown.stdout)["runs"]] == ["unknown"]
    assert "not known" in shown.stderr


@pytest.mark.parametrize("words", [("--time", "soon"), ("--resume", "--seed", "1")])
def test_words_that_say_nothing_are_refused(queue: Queue, words: tuple[str, ...]) -> None:
    assert submit(*words).exit_code == 2
    assert queue.held == {}


def test_of_many_who_start_a_submission_at_once_one_may(queue: Queue) -> None:
    submit()
    (run,) = runs()

    def claimed(job: int) -> bool:
        try:
            claim_start(run, 1, Started(job=job, node="n1", started_unix_ns=0))
        except RecordError:
            return False
        return True

    with ThreadPoolExecutor(16) as pool:
        assert sum(pool.map(claimed, range(1, 65))) == 1


def test_a_submission_with_a_later_one_behind_it_starts_no_more(queue: Queue) -> None:
    submit()
    queue.becomes(1, "failed")
    (run,) = runs()
    more = CliRunner().invoke(app, ["submit", "--resume", str(run.path)])
    assert more.exit_code == 0, more.stderr
    with pytest.raises(RecordError):
        claim_start(run, 1, Started(job=1, node="n1", started_unix_ns=0))
    claim_start(run, 2, Started(job=2, node="n1", started_unix_ns=0))


def test_a_job_alone_starts_a_submission(queue: Queue) -> None:
    submit()
    (run,) = runs()
    started = CliRunner().invoke(app, ["resume", str(run.path), "--queued", "1"])
    assert started.exit_code == 2
    assert run.events() == []


@pytest.mark.parametrize(
    ("forecast_s", "budget_s", "asked_s", "limit_s"),
    [(600.0, None, None, 1320), (600.0, 1200.0, None, 2220), (600.0, 1200.0, 61.0, 120)],
)
def test_a_job_may_take_its_forecast_with_a_reserve_or_what_was_asked(
    forecast_s: float, budget_s: float | None, asked_s: float | None, limit_s: int
) -> None:
    assert time_limit_s(forecast_s, budget_s, asked_s) == limit_s


def test_paths_are_quoted_for_the_shell() -> None:
    script = script_of(["/opt/a b/python"], Path("/results/it's"), 1)
    assert """'/opt/a b/python' resume '/results/it'"'"'s' --queued 1""" in script
