"""A machine is refused while the run before has changes of it to undo, as far as that is known."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.hosts.stand_in import Machine

from steelyard.errors import HostError
from steelyard.hosts.undo.actions.files import RemoveTree
from steelyard.hosts.undo.earlier import refuse_changed_machine
from steelyard.hosts.undo.log import UndoLog
from steelyard.records.archive import Run
from steelyard.records.ledger import Ledger

OWN = Run(Path("/results/study/own"))


def left(run: Path, *hosts: str) -> None:
    """The ledger of a run that was killed with one change on each of these machines."""
    with Ledger(Run(run).ledger_path) as ledger:
        log = UndoLog(ledger)
        for host in hosts:
            log.plan(host, RemoveTree(f"/srv/{host}"))


def test_what_is_left_on_this_machine_is_named_with_the_command_that_undoes_it(
    tmp_path: Path,
) -> None:
    run = tmp_path / "a run"
    run.mkdir()
    left(run, "one", "two", "one")
    with pytest.raises(HostError) as caught:
        refuse_changed_machine(Machine("one"), str(run), OWN)
    assert caught.value.slug == "machine-was-left-changed"
    assert "/srv/one" in caught.value.message
    assert caught.value.hint is not None
    assert f"steelyard restore '{run}'" in caught.value.hint
    refuse_changed_machine(Machine("three"), str(run), OWN)


def test_the_runs_of_all_machines_of_a_study_are_asked(tmp_path: Path) -> None:
    whole = tmp_path / "study" / "run"
    parts = [whole / "machines" / name for name in ("one", "two")]
    for part in parts:
        part.mkdir(parents=True)
    (whole / "machines.json").write_text('{"machines": ["one", "two"]}')
    left(parts[1], "two")
    with pytest.raises(HostError) as caught:
        refuse_changed_machine(Machine("two"), str(parts[0]), OWN)
    assert caught.value.hint is not None
    assert f"steelyard restore {whole}`" in caught.value.hint
    refuse_changed_machine(Machine("two"), str(parts[0]), Run(parts[1]))


@pytest.mark.parametrize("folder", ["", "/", "/not/there", "a\0b", "x" * 5000, 7])
def test_what_names_no_run_refuses_nothing(folder: str) -> None:
    refuse_changed_machine(Machine("one"), folder, OWN)


def test_a_run_that_has_undone_everything_refuses_nothing(tmp_path: Path) -> None:
    with Ledger(Run(tmp_path).ledger_path) as ledger:
        log = UndoLog(ledger)
        log.done(log.plan("one", RemoveTree("/srv/one")))
    refuse_changed_machine(Machine("one"), str(tmp_path), OWN)


@pytest.mark.parametrize("damage", ["gone", "damaged", "writable by all"])
def test_of_a_run_that_cannot_be_read_or_trusted_nothing_is_known(
    damage: str, tmp_path: Path
) -> None:
    left(tmp_path, "one")
    ledger = Run(tmp_path).ledger_path
    if damage == "gone":
        ledger.unlink()
    elif damage == "damaged":
        ledger.write_bytes(b"nonsense\n" + ledger.read_bytes())
    else:
        ledger.chmod(0o666)
    refuse_changed_machine(Machine("one"), str(tmp_path), OWN)
