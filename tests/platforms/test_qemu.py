"""Virtual machines for real, emulated: several at once, what goes wrong, and what is left."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from tests.integration.servers.private_server import free_port
from tests.platforms.guests import guest_settings
from tests.platforms.needs import need

from steelyard.engine.locate import find_engine
from steelyard.hosts.failures import SystemFailure
from steelyard.hosts.host import Host
from steelyard.hosts.lab_network import NamespaceNetwork
from steelyard.hosts.transport import here, open_local_pipe
from steelyard.hosts.undo.actions.qemu import machines
from steelyard.hosts.undo.log import UndoLog
from steelyard.study.model import SystemSpec
from steelyard.systems.platform import InstanceContext, RawDisk
from steelyard.systems.qemu.platform import Qemu

Make = Callable[..., Qemu]


@pytest.fixture
def make(
    host_machine: Host, undo: UndoLog, network: NamespaceNetwork, name: str, tmp_path: Path
) -> Iterator[Make]:
    """Makes machines on the lab network; whatever a test does, none of them is left."""
    made: list[Qemu] = []
    settings = guest_settings()

    def one(number: int = 1, *, on: Host | None = None, **more: Any) -> Qemu:
        host = on or host_machine
        folder = tmp_path / f"machine-{number}"
        folder.mkdir(exist_ok=True)
        spec = SystemSpec(name="fast", platform="qemu", settings={**settings, **more})
        net = None if more.get("network") == "user" else network
        if net is not None:
            net.up()
        label = f"{name}-fast-{number}"
        made.append(
            Qemu(InstanceContext(spec, number, label, lambda: host, undo, str(folder), net))
        )
        return made[-1]

    yield one
    for place in made:
        place.down()
    assert [place for place in made if machines(host_machine, place.context.label)] == []


def test_two_machines_run_at_once_and_are_restored_at_once(make: Make) -> None:
    places = [make(number) for number in (1, 2)]
    with ThreadPoolExecutor() as pool:
        list(pool.map(Qemu.up, places))
        assert len({place.host().boot_id for place in places}) == 2
        assert len({place.address() for place in places}) == 2
        proofs = list(pool.map(lambda place: place.reset("snapshot"), places))
        again = list(pool.map(lambda place: place.reset("snapshot"), places))
    for place, first, second in zip(places, proofs, again, strict=True):
        assert first.evidence == second.evidence
        assert second.evidence["overlay.bytes"] == "0"
        assert place.host().boot_id == second.evidence["boot_id"]


def test_a_guest_that_never_gets_ready_is_shown_with_the_end_of_its_console(make: Make) -> None:
    place = make(kernel_words="rdinit=/no/such/program root=/dev/none")
    with pytest.raises(SystemFailure) as failed:
        place.up()
    assert failed.value.kind == "not_ready"
    assert not failed.value.for_operator
    assert "Kernel panic" in failed.value.last_words


def test_a_kernel_word_of_the_study_reaches_the_guest(make: Make) -> None:
    place = make(kernel_words="mitigations=off")
    place.up()
    assert "mitigations=off" in place.host().read_file("/proc/cmdline").split()


def test_disks_on_a_scsi_bus_come_go_and_hold_a_filesystem(make: Make) -> None:
    place = make()
    place.up()
    names = ("data-1", "data-2")
    disks = [place.attach(RawDisk(name, 32 << 20, bus="scsi", cache="unsafe")) for name in names]
    assert len({disk.device for disk in disks}) == 2
    made = place.host().run(["mkfs.ext4", "-q", disks[1].device], timeout_s=60)
    assert made.succeeded, made.stderr
    for disk in disks:
        place.detach(disk)
    again = place.attach(RawDisk("data-2", 32 << 20))
    assert not place.host().run(["blkid", "-p", again.device], timeout_s=60).succeeded


def test_a_disk_that_does_not_fit_is_refused_before_it_is_made(make: Make) -> None:
    place = make()
    place.up()
    with pytest.raises(SystemFailure) as refused:
        place.attach(RawDisk("huge", 1 << 60))
    assert refused.value.kind == "no_space"
    assert not Path(place.context.folder, "disks").exists()


def test_without_a_lab_network_a_port_of_the_guest_is_reached_through_loopback(
    make: Make, host_machine: Host
) -> None:
    port = free_port()
    place = make(network="user", ports=(str(port),))
    place.up()
    argv = ["@engine", "sink", "http", "--listen", f"0.0.0.0:{port}"]
    place.host().start("sink", argv, directory=place.folder(), ready_timeout_s=60)
    load = ["@engine", "load", f"http://{place.address()}:{port}/", "-c", "1", "-n", "20"]
    ran = host_machine.run(load, timeout_s=60)
    assert ran.succeeded, ran.stderr


def test_what_a_killed_controller_left_is_ended_from_the_ledger(
    make: Make, host_machine: Host, undo: UndoLog
) -> None:
    place = make()
    place.up()
    pending = next(p for p in undo.pending() if p.inverse.kind == "end_machine")
    assert len(machines(host_machine, place.context.label)) == 1
    undo.apply(host_machine, pending)
    undo.apply(host_machine, pending)
    assert machines(host_machine, place.context.label) == []


@pytest.fixture
def hanging_kvm(tmp_path: Path) -> Iterator[Host]:
    """A machine whose QEMU hangs as soon as it is to use KVM."""
    real = shutil.which("qemu-system-x86_64")
    stand_in = tmp_path / "bin" / "qemu-system-x86_64"
    stand_in.parent.mkdir()
    stand_in.write_text(
        f'#!/bin/sh\ncase "$*" in *"-accel kvm"*) exec sleep 1000 ;; esac\nexec {real} "$@"\n',
        encoding="utf-8",
    )
    stand_in.chmod(0o755)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", f"{stand_in.parent}:{os.environ['PATH']}")
        host = Host("local", open_local_pipe(), here, str(find_engine()))
    yield host
    host.close()


def test_kvm_that_hangs_is_left_for_emulation_and_the_facts_say_so(
    make: Make, hanging_kvm: Host
) -> None:
    place = make(on=hanging_kvm, accel="auto")
    place.up()
    facts = place.facts()
    assert facts["qemu.accelerator"] == "tcg"
    assert "not ended in" in str(facts["qemu.accelerator_reason"])
    place.down()


def test_kvm_that_hangs_stops_a_study_that_insists_on_it(make: Make, hanging_kvm: Host) -> None:
    with pytest.raises(SystemFailure) as refused:
        make(on=hanging_kvm, accel="kvm").up()
    assert refused.value.kind == "not_supported"


def test_an_image_that_was_not_built_is_named_with_the_command_that_builds_it(
    undo: UndoLog, tmp_path: Path
) -> None:
    need("ps")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path / "empty"))
        host = Host("local", open_local_pipe(), here, str(find_engine()))
    settings = {"image": "debian-minimal", "memory": 1 << 30, "network": "user"}
    spec = SystemSpec(name="fast", platform="qemu", settings=settings)
    place = Qemu(InstanceContext(spec, 1, "steelyard-x-fast-1", lambda: host, undo, str(tmp_path)))
    try:
        with pytest.raises(SystemFailure) as refused:
            place.up()
    finally:
        host.close()
    assert refused.value.kind == "image_missing"
    assert refused.value.hint == "build it: steelyard image build debian-minimal"
    assert undo.pending() == []
