"""What this machine's kernel may lack, in an emulated guest: md, filesystems, tuned's daemon."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.platforms.guests import SMALL, built, guest_settings

from steelyard.hosts.host import Host
from steelyard.hosts.kernel_values import changed_values, read_values, shown
from steelyard.hosts.machines import LOCAL, open_machine
from steelyard.study import catalogue
from steelyard.study.filesystems import filesystems
from steelyard.systems.contract.bench import Bench
from steelyard.systems.disks import DiskPlan, caching_places, drop_caches, prepare, take_down
from steelyard.systems.platform import AttachedDisk, Platform, RawDisk
from steelyard.systems.platforms import PLATFORMS
from steelyard.systems.settings import Place, apply_settings, revert_settings, setting_facts

pytestmark = pytest.mark.system
DISK_BYTES = 512 * 2**20


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    guest_settings()
    image = built("debian-tuned", "guest")
    settings = {**SMALL, "image": image, "memory": 1 << 30, "cpus": 2, "network": "lab"}
    folder = tmp_path_factory.mktemp("guest")
    made = Bench(
        PLATFORMS["qemu"],
        catalogue.platform("qemu"),
        settings,
        lambda: open_machine(LOCAL),
        folder,
    )
    yield made
    made.close()


@pytest.fixture(scope="module")
def guest(bench: Bench) -> Platform:
    return bench.place()


@pytest.fixture(scope="module")
def disks(guest: Platform) -> list[AttachedDisk]:
    return [guest.attach(RawDisk(f"data-{number}", DISK_BYTES)) for number in (1, 2)]


def arrays(host: Host) -> str:
    """What md tells; it tells nothing once its modules are gone again."""
    there = host.path_facts("/proc/mdstat").exists
    return host.read_file("/proc/mdstat") if there else ""


@pytest.mark.parametrize("filesystem", filesystems())
@pytest.mark.parametrize("layout", ["single", "raid0", "raid1"])
def test_every_layout_bears_every_filesystem_and_leaves_no_trace(
    bench: Bench, guest: Platform, disks: list[AttachedDisk], layout: str, filesystem: str
) -> None:
    host = guest.host()
    plan = DiskPlan("data", "/srv/data", layout, filesystem, mount_options="noatime")
    prepared = prepare(host, disks, plan, bench.undo)
    before = [p for p in bench.undo.pending() if p in prepared.undos]
    assert before, "nothing was planned"
    if layout != "single":
        assert prepared.facts["disks.data.array.level"] == layout
        assert "[UU]" in host.read_file("/proc/mdstat") or layout == "raid0"
    host.write_file("/srv/data/file", "x" * 65536, create=True)
    assert len(caching_places(host, prepared)) > 2
    assert drop_caches(host, bench.carrier()) == [host.name, LOCAL]
    assert host.read_file("/srv/data/file") == "x" * 65536
    take_down(host, prepared, bench.undo)
    assert "active" not in arrays(host)
    assert "/srv/data" not in host.read_file("/proc/self/mountinfo")
    for disk in disks:
        probed = host.run(["blkid", "--probe", disk.device], timeout_s=30)
        assert probed.stdout == ""


def test_a_stopped_session_leaves_an_array_that_its_inverses_take_back(
    bench: Bench, guest: Platform, disks: list[AttachedDisk]
) -> None:
    host = guest.host()
    prepared = prepare(host, disks, DiskPlan("data", "/srv/data", "raid1", "xfs"), bench.undo)
    for pending in reversed(prepared.undos):
        bench.undo.apply(host, pending)
        pending.inverse.apply(host)
    assert "active" not in arrays(host)


@pytest.mark.parametrize("profile", ["throughput-performance", "latency-performance", "off"])
def test_the_daemon_of_tuned_holds_a_profile_and_gives_the_former_one_back(
    bench: Bench, guest: Platform, profile: str
) -> None:
    host = guest.host()
    started = host.run(["systemctl", "start", "tuned"], timeout_s=120)
    assert started.succeeded, started.stderr
    host.run(["tuned-adm", "profile", "balanced"], timeout_s=120)
    before = read_values(host)
    place = Place("steelyard-guest", guest.folder())
    applied = apply_settings(host, {"tuned": profile}, bench.undo, place)
    assert setting_facts(host, applied)["setting.tuned"] == profile
    if profile == "throughput-performance":
        assert shown(host.read_file("/proc/sys/vm/dirty_ratio")) == "40"
    revert_settings(host, applied, bench.undo)
    active = host.run(["tuned-adm", "active"], timeout_s=60).stdout
    assert "balanced" in active
    assert changed_values(before, read_values(host)) == {}


def test_a_profile_holds_at_once_where_no_daemon_answers(bench: Bench, guest: Platform) -> None:
    host = guest.host()
    host.run(["systemctl", "stop", "tuned"], timeout_s=120)
    before = read_values(host)
    place = Place("steelyard-guest", guest.folder())
    applied = apply_settings(host, {"tuned": "throughput-performance"}, bench.undo, place)
    assert shown(host.read_file("/proc/sys/vm/dirty_ratio")) == "40"
    revert_settings(host, applied, bench.undo)
    assert changed_values(before, read_values(host)) == {}


def test_a_scheduler_in_a_module_is_loaded_used_and_gone(
    bench: Bench, guest: Platform, disks: list[AttachedDisk]
) -> None:
    host = guest.host()
    place = Place("steelyard-guest", guest.folder(), (disks[0].device,))
    wanted = {"module": {"bfq": "loaded"}, "scheduler": "bfq"}
    applied = apply_settings(host, wanted, bench.undo, place)
    assert setting_facts(host, applied)["setting.scheduler"] == "bfq"
    revert_settings(host, applied, bench.undo)
    assert not host.path_facts("/sys/module/bfq").exists
