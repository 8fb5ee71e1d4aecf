"""KVM is believed when a guest ran on it; `auto` falls back and says why, `kvm` does not."""

from __future__ import annotations

import pytest
from tests.unit.hosts.stand_in import Machine, refusal, said

from steelyard.engine.messages import Ran
from steelyard.hosts.failures import SystemFailure
from steelyard.systems.qemu.accelerator import choose

WORKS = said(stdout="SeaBIOS (version 1.16.2)\n")
HANGS = said().model_copy(update={"exit_code": None, "signal": 9, "timed_out": True})
FAILS = said(1, stderr="Could not access KVM kernel module: No such file or directory\n")
SILENT = said()


BOOTS = said(stdout="[0.5] Kernel panic - not syncing: VFS: Unable to mount root fs\n")
KERNEL = "/images/debian-web/kernel"


def machine(answer: Ran) -> Machine:
    return Machine(tools={"qemu-system-x86_64": lambda _: answer})


@pytest.mark.parametrize("asked", ["kvm", "auto"])
def test_kvm_is_taken_where_a_guest_ran_on_it(asked: str) -> None:
    assert choose(machine(WORKS).host(), asked).name == "kvm"


@pytest.mark.parametrize(
    ("answer", "why"),
    [(HANGS, "not ended in 5 s"), (FAILS, "No such file"), (SILENT, "did nothing")],
)
def test_auto_falls_back_to_emulation_and_says_why(answer: Ran, why: str) -> None:
    chosen = choose(machine(answer).host(), "auto")
    assert chosen.name == "tcg"
    assert why in chosen.reason


@pytest.mark.parametrize("answer", [HANGS, FAILS, SILENT])
def test_a_study_that_insists_on_kvm_is_never_given_something_else(answer: Ran) -> None:
    with pytest.raises(SystemFailure) as refused:
        choose(machine(answer).host(), "kvm")
    assert refused.value.kind == "not_supported"
    assert refused.value.for_operator


@pytest.mark.parametrize(
    ("answer", "why"), [(HANGS, "kernel of the image on KVM has not ended"), (SILENT, "nothing")]
)
def test_kvm_that_runs_firmware_and_no_kernel_is_not_taken(answer: Ran, why: str) -> None:
    def qemu(argv: list[str]) -> Ran:
        return answer if KERNEL in argv else WORKS

    host = Machine(tools={"qemu-system-x86_64": qemu}).host()
    assert choose(host, "auto").name == "kvm"
    chosen = choose(host, "auto", KERNEL)
    assert chosen.name == "tcg"
    assert why in chosen.reason
    with pytest.raises(SystemFailure):
        choose(host, "kvm", KERNEL)


def test_a_machine_is_asked_once_for_each_kernel() -> None:
    asked: list[list[str]] = []

    def qemu(argv: list[str]) -> Ran:
        asked.append(argv)
        return BOOTS if KERNEL in argv else WORKS

    host = Machine(tools={"qemu-system-x86_64": qemu}).host()
    assert {choose(host, "auto", KERNEL).name for _ in range(3)} == {"kvm"}
    assert [KERNEL in argv for argv in asked] == [False, True]


def test_emulation_asked_for_is_not_preceded_by_a_probe() -> None:
    nothing = machine(HANGS)
    assert choose(nothing.host(), "tcg").name == "tcg"
    assert nothing.changes == []


def test_a_machine_without_qemu_has_no_kvm_either() -> None:
    def missing(_: list[str]) -> Ran:
        raise refusal("run", "not_found", "there is no program qemu-system-x86_64")

    host = Machine(tools={"qemu-system-x86_64": missing}).host()
    assert "no program" in choose(host, "auto").reason
