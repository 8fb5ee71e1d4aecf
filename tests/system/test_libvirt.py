"""libvirt for real: a domain under emulation, in a libvirtd of the test's own."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from tests.platforms.guests import IMAGE, built
from tests.platforms.needs import need
from tests.system.libvirtd import GUEST, Libvirtd, missing, running

from steelyard.engine.agent import Agent
from steelyard.engine.locate import find_engine
from steelyard.hosts.failures import SystemFailure
from steelyard.hosts.host import Host
from steelyard.hosts.machines import Machines
from steelyard.study import catalogue
from steelyard.study.catalogue import Platform
from steelyard.systems.commanded import Commanded
from steelyard.systems.contract.bench import Bench
from steelyard.systems.contract.checks import CHECKS
from steelyard.systems.contract.sitting import sit
from steelyard.systems.contract.traces import traces
from steelyard.systems.images.recipe import find_recipe
from steelyard.systems.images.store import find_built

pytestmark = pytest.mark.system
NAME = "steelyardlv"


@pytest.fixture(scope="module")
def libvirtd() -> Iterator[Libvirtd]:
    if missing():
        pytest.skip(f"needs {', '.join(missing())}")
    if running():
        pytest.skip("a libvirtd of somebody else serves here; it is left alone")
    with tempfile.TemporaryDirectory(prefix="sylv") as folder, Libvirtd(Path(folder), NAME) as made:
        yield made


def libvirt() -> Platform:
    """The platform as it is shipped; joined by socat while the engine has no ``join``."""
    platform = catalogue.platform("libvirt")
    assert platform.commands is not None
    engine = subprocess.run([find_engine(), "join", "--help"], check=False, capture_output=True)
    if engine.returncode == 0:
        return platform
    need("socat")
    inside = platform.commands.inside
    join = [word.replace('"$1" join "unix:', 'socat - "UNIX-CONNECT:') for word in inside.join]
    inside = inside.model_copy(update={"join": join})
    commands = platform.commands.model_copy(update={"inside": inside})
    return platform.model_copy(update={"commands": commands})


@pytest.fixture(scope="module")
def bench(libvirtd: Libvirtd) -> Iterator[Bench]:
    need("qemu-system-x86_64", root=True)
    built(IMAGE, "guest")
    with Machines() as machines:
        image = find_built(machines.open("local"), find_recipe(IMAGE), "guest")
    assert image is not None
    settings = {
        "image": image.folder,
        "start": "engine",
        "uri": "qemu:///system",
        "accel": "tcg",
        "machine": "pc",
        "cpus": 1,
        "memory": 256 << 20,
        "network": NAME,
        "nic": "virtio",
        "guest_address": GUEST,
        "disk_cache": "unsafe",
    }
    folder = libvirtd.folder / "bench"
    folder.mkdir()
    carrier = partial(_in_the_namespace, libvirtd)
    platform = libvirt()
    made = Bench(partial(Commanded, platform=platform), platform, settings, carrier, folder)
    yield made
    made.close()
    host = carrier()
    try:
        assert traces(host, made.run) == [], "libvirt or its disks left something"
    finally:
        host.close()


def _in_the_namespace(libvirtd: Libvirtd) -> Host:
    """This machine, seen from where libvirt's bridge is."""
    engine = str(find_engine())
    return Host("local", Agent(libvirtd.enter([engine, "agent"])), engine=engine)


@pytest.mark.parametrize("check", CHECKS)
def test_libvirt_keeps_its_promise(bench: Bench, check: str) -> None:
    (finding,) = sit(bench, [check])
    assert finding.grade != "bad", finding.seen
    if finding.grade == "note":
        pytest.skip(finding.seen)


def test_a_domain_of_the_users_own_is_refused_and_goes_on(bench: Bench, libvirtd: Libvirtd) -> None:
    ground = replace(
        bench.ground("9", folder=str(libvirtd.folder / "own")), label=f"{bench.run}-own"
    )
    file = libvirtd.folder / "own.xml"
    file.write_text(
        f"<domain type='qemu'><name>{ground.label}</name><memory unit='MiB'>64</memory>"
        "<os><type arch='x86_64' machine='pc'>hvm</type></os></domain>"
    )
    libvirtd.virsh("create", str(file), "--paused")
    before = libvirtd.virsh("domuuid", ground.label)
    place = Commanded(ground, libvirt())
    with pytest.raises(SystemFailure) as failure:
        place.up()
    place.down()
    assert failure.value.kind == "name_taken"
    assert libvirtd.virsh("domuuid", ground.label) == before
    libvirtd.virsh("destroy", ground.label)


@pytest.mark.parametrize(
    ("setting", "value", "kind"),
    [
        ("image", "/nowhere", "image_missing"),
        ("network", "nowhere", "not_supported"),
        ("uri", "qemu+unix:///system?socket=/nowhere", "unreachable"),
    ],
)
def test_what_libvirt_itself_says_becomes_a_typed_failure(
    bench: Bench, libvirtd: Libvirtd, setting: str, value: str, kind: str
) -> None:
    ground = bench.ground(setting, folder=str(libvirtd.folder / f"bench-{setting}"))
    ground.spec.settings[setting] = value
    place = Commanded(ground, libvirt())
    with pytest.raises(SystemFailure) as failure:
        place.up()
    place.down()
    assert failure.value.kind == kind, failure.value.message
    assert ground.label not in libvirtd.virsh("list", "--all", "--name")
