"""``restore`` needs a ledger and nothing else: no study, no platform, no system that answers."""

from __future__ import annotations

import fcntl
import json
from pathlib import Path

import pytest

from steelyard.hosts.lease import VARIABLE
from steelyard.hosts.undo.actions.files import RemoveTree
from steelyard.hosts.undo.actions.inverse import Inverse
from steelyard.hosts.undo.log import UndoLog
from steelyard.records.archive import Run
from steelyard.records.ledger import Ledger
from tests.integration.conftest import Steelyard

UNKNOWN = "this version knows no way to the machine pigeon://pi"


def leave(folder: Path, name: str, *changes: tuple[str, Inverse]) -> Path:
    """A run that was killed after these changes; its study is lost, too."""
    run = folder / "results" / "tiny" / name
    run.mkdir(parents=True, exist_ok=True)
    (run / "run.json").write_text("{}", encoding="utf-8")
    with Ledger(run / "ledger.jsonl") as ledger:
        for host, inverse in changes:
            UndoLog(ledger).plan(host, inverse)
    return run


def made(folder: Path, run: str) -> Path:
    """A folder that a run of this name may have made."""
    made = folder / "results" / "tiny" / run / "scratch"
    made.mkdir(parents=True)
    return made


def test_a_folder_that_a_run_cannot_have_made_is_not_removed(steelyard: Steelyard) -> None:
    others = steelyard.folder / "others"
    others.mkdir()
    run = leave(steelyard.folder, "1", ("local", RemoveTree(str(others))))
    done = steelyard.run("restore", str(run))
    assert done.returncode == 3
    assert "left on local" in done.stdout
    assert others.exists()


def test_a_dry_run_prints_what_would_be_done_and_does_nothing(steelyard: Steelyard) -> None:
    one = made(steelyard.folder, "1")
    run = leave(steelyard.folder, "1", ("local", RemoveTree(str(one))))
    undo = {"host": "local", "undo": f"remove the folder {one}"}
    outcome = {"run": str(run), "pending": [undo], "done": [], "left": [], "skipped": None}
    for which in ([str(run)], ["--all"]):
        done = steelyard.run("restore", *which, "--dry-run")
        assert (done.returncode, done.stdout) == (0, f"would do on local: {undo['undo']}\n")
    assert json.loads(steelyard.run("restore", str(run), "--dry-run", "--json").stdout) == [outcome]
    assert one.exists()
    done = steelyard.run("restore", str(run), "--json")
    assert json.loads(done.stdout) == [outcome | {"pending": [], "done": [undo]}]
    assert not one.exists()


def test_a_run_that_others_may_write_to_is_not_acted_on(steelyard: Steelyard) -> None:
    one = made(steelyard.folder, "1")
    run = leave(steelyard.folder, "1", ("local", RemoveTree(str(one))))
    (run / "ledger.jsonl").chmod(0o666)
    done = steelyard.run("restore", str(run))
    assert done.returncode == 3
    assert "run-of-another-user" in done.stderr
    assert one.exists()


def test_a_machine_that_is_unknown_keeps_its_changes_and_the_others_are_undone(
    steelyard: Steelyard,
) -> None:
    one = made(steelyard.folder, "1")
    far = ("pigeon://pi", RemoveTree("/srv/steelyard/far"))
    run = leave(steelyard.folder, "1", ("local", RemoveTree(str(one))), far)
    done = steelyard.run("restore", str(run))
    assert done.returncode == 3
    assert done.stdout.splitlines() == [
        f"done on local: remove the folder {one}",
        f"left on pigeon://pi: cannot {far[1]}: the machine cannot be reached: {UNKNOWN}",
    ]
    assert "hint: " in done.stderr
    assert not one.exists()


def test_all_runs_are_restored_and_one_that_is_damaged_keeps_no_other(
    steelyard: Steelyard,
) -> None:
    one, two = made(steelyard.folder, "1"), made(steelyard.folder, "3")
    leave(steelyard.folder, "1", ("local", RemoveTree(str(one))))
    damaged = leave(steelyard.folder, "2")
    leave(steelyard.folder, "3", ("local", RemoveTree(str(two))))
    (damaged / "ledger.jsonl").write_text("fixed by hand\n", encoding="utf-8")
    done = steelyard.run("restore", "--all")
    assert done.returncode == 3
    assert "skipped: " in done.stderr
    assert not one.exists()
    assert not two.exists()
    (damaged / "ledger.jsonl").write_bytes(b"")
    again = steelyard.run("restore", "--all")
    assert (again.returncode, again.stdout) == (0, "nothing is left of 3 runs in results\n")


@pytest.mark.parametrize("began", [False, True])
def test_a_ledger_that_is_gone_is_not_taken_for_one_without_changes(
    steelyard: Steelyard, began: bool
) -> None:
    run = leave(steelyard.folder, "1")
    if began:
        made(steelyard.folder, "1")
        (run / "ledger.jsonl").write_bytes(b"")
    else:
        (run / "ledger.jsonl").unlink()
    for which in ([str(run)], ["--all"], [str(run), "--dry-run"]):
        done = steelyard.run("restore", *which)
        assert done.returncode == 3
        assert "ledger.jsonl" in done.stderr


def test_a_folder_without_runs_is_not_taken_for_one_with_nothing_left(
    steelyard: Steelyard,
) -> None:
    leave(steelyard.folder, "1")
    for folder in ("typo", "results/tiny", "."):
        done = steelyard.run("restore", "--all", "--results", folder)
        assert (done.returncode, "no-results" in done.stderr) == (3, True)


def test_a_machine_that_another_session_uses_is_left_to_it(steelyard: Steelyard) -> None:
    one = made(steelyard.folder, "1")
    run = leave(steelyard.folder, "1", ("local", RemoveTree(str(one))))
    with Path(steelyard.environment[VARIABLE]).open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        done = steelyard.run("restore", str(run))
    assert done.returncode == 3
    assert "is being measured by another session" in done.stdout
    assert one.exists()
    assert steelyard.run("restore", str(run)).returncode == 0


def test_a_run_behind_a_link_is_where_the_kernel_says(steelyard: Steelyard) -> None:
    run = leave(steelyard.folder, "1")
    (steelyard.folder / "link").symlink_to("results")
    assert Run(steelyard.folder / "link" / "tiny" / "1").path == run
    one = made(steelyard.folder, "2")
    leave(steelyard.folder, "2", ("local", RemoveTree(str(one))))
    assert steelyard.run("restore", "link/tiny/2").returncode == 0
    assert not one.exists()


def test_a_run_that_is_being_measured_is_left_alone(steelyard: Steelyard) -> None:
    one = made(steelyard.folder, "1")
    run = leave(steelyard.folder, "1", ("local", RemoveTree(str(one))))
    with Ledger(run / "ledger.jsonl"):
        done = steelyard.run("restore", str(run))
    assert done.returncode == 3
    assert "run-is-in-use" in done.stderr
    assert one.exists()


@pytest.mark.parametrize("words", [[], ["results/tiny", "--all"]])
def test_it_wants_a_run_or_all_of_them(steelyard: Steelyard, words: list[str]) -> None:
    done = steelyard.run("restore", *words)
    assert done.returncode == 2
    assert "--all" in done.stderr
