"""The line of a system on a machine that is not there: the words for tc, and what is missing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.unit.hosts.stand_in import Machine, runs, said

from steelyard.hosts.failures import SystemFailure
from steelyard.hosts.undo.log import UndoLog
from steelyard.records.ledger import Ledger
from steelyard.study.declared.machine import declared_settings
from steelyard.study.declared.value import read_level
from steelyard.study.model import Level
from steelyard.systems.settings import Place, apply_settings, revert_settings
from steelyard.systems.settings.line import discipline
from steelyard.systems.settings.preflight import unavailable
from steelyard.units import UnitError

ROUTE = '[{"dst":"default","gateway":"10.1.0.1","dev":"eth0"}]'
NO_NETEM = "Error: Specified qdisc kind is unknown."


@pytest.fixture
def undo(tmp_path: Path) -> Iterator[UndoLog]:
    with Ledger(tmp_path / "ledger.jsonl") as ledger:
        yield UndoLog(ledger)


def guest(*, netem: bool = True) -> Machine:
    def add(words: list[str]) -> object:
        lacks = not netem and "netem" in words
        return said(2, stderr=NO_NETEM) if lacks else said()

    machine = Machine(name="inside:a")
    machine.tools |= {
        "ip -json": lambda _: said(stdout=ROUTE),
        "tc qdisc add": add,
        "tc qdisc show": lambda _: said(stdout="qdisc shaped\n"),
        "unshare --net": add,
        "sh -c": lambda words: said(1) if "grep" in words[2] or "ip link" in words[2] else said(),
    }
    return machine


@pytest.mark.parametrize(
    ("levels", "words"),
    [
        ({"rate": 20_000_000.0}, "tbf rate 20000000bit burst 25000b latency 50ms"),
        ({"rate": 64_000.0}, "tbf rate 64000bit burst 16384b latency 50ms"),
        ({"delay": 0.02}, "netem limit 100000 delay 20000us"),
        ({"loss": 0.001}, "netem limit 100000 loss 0.1%"),
        (
            {"loss": 0.01, "rate": 1e6, "delay": 0.0005},
            "netem limit 100000 delay 500us loss 1% rate 1000000bit",
        ),
    ],
)
def test_levels_become_the_words_of_tc(levels: dict[str, Level], words: str) -> None:
    assert " ".join(discipline(levels)) == words


def test_a_line_is_undone_in_reverse(undo: UndoLog) -> None:
    machine = guest()
    levels: dict[str, Level] = {"line.delay": 0.02, "line.received_rate": 1e6}
    applied = apply_settings(machine.host(), levels, undo, Place("steelyard-a", "/"))
    assert [each.setting for each in applied] == ["line.delay", "line.received_rate"]
    machine.changes.clear()
    revert_settings(machine.host(), applied, undo)
    undone = [line for line in runs(machine) if line.startswith(("tc", "ip"))]
    assert undone == [
        "tc qdisc del dev steelyard-in root",
        "tc qdisc del dev eth0 ingress",
        "ip link delete steelyard-in",
        "tc qdisc del dev eth0 root",
    ]
    assert undo.pending() == []


def test_a_kernel_without_netem_is_named_with_how_to_get_it(undo: UndoLog) -> None:
    machine = guest(netem=False)
    with pytest.raises(SystemFailure, match="sch_netem") as caught:
        apply_settings(machine.host(), {"line.loss": 0.01}, undo, Place("steelyard-a", "/"))
    assert caught.value.kind == "not_supported"
    assert "modprobe sch_netem" in (caught.value.hint or "")
    assert undo.pending() == []


@pytest.mark.parametrize("netem", [True, False])
def test_whether_a_kernel_has_netem_is_asked_before_anything_starts(netem: bool) -> None:
    machine = guest(netem=netem)
    machine.tools["sh -c"] = lambda words: said(
        stdout="\n".join(["0", "root", "root", "1", *(f"/sbin/{name}" for name in words[4:])])
    )
    levels: dict[str, Level] = {"line.rate": 1e6, "line.delay": 0.02}
    found = dict(unavailable(machine.host(), levels))
    assert list(found) == ([] if netem else ["line.delay"])
    assert all(line.startswith(("unshare --net", "sh -c")) for line in runs(machine))


def test_a_line_that_loses_almost_everything_can_be_declared() -> None:
    assert read_level("99 %", declared_settings()["line.loss"]) == pytest.approx(0.99)


@pytest.mark.parametrize("written", ["100 %", "150 %"])
def test_a_line_that_loses_everything_is_refused(written: str) -> None:
    with pytest.raises(UnitError):
        read_level(written, declared_settings()["line.loss"])
