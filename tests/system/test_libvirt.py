"""libvirt for real: a domain under emulation, in a libvirtd of the test's own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import pytest
from tests.platforms.guests import IMAGE, built_folder
from tests.platforms.promises import keeps_its_promise, leaving_nothing, refusal, seen_from
from tests.system.libvirtd import GUEST, Libvirtd

from steelyard.study import catalogue
from steelyard.systems.command_line.platform import CommandLinePlatform
from steelyard.systems.conformance.bench import Bench
from steelyard.systems.conformance.checks import CHECKS

pytestmark = pytest.mark.system
LIBVIRT = catalogue.platform("libvirt")


@pytest.fixture(scope="module")
def bench(libvirtd: Libvirtd) -> Iterator[Bench]:
    settings = {
        "image": built_folder(IMAGE, "guest"),
        "start": "engine",
        "uri": "qemu:///system",
        "accel": "tcg",
        "machine": "pc",
        "cpus": 1,
        "memory": 256 << 20,
        "network": libvirtd.name,
        "nic": "virtio",
        "guest_address": GUEST,
        "disk_cache": "unsafe",
    }
    folder = libvirtd.folder / "bench"
    folder.mkdir()
    make, host_machine = (
        partial(CommandLinePlatform, platform=LIBVIRT),
        partial(seen_from, libvirtd.enter),
    )
    with leaving_nothing(make, LIBVIRT, settings, host_machine, folder) as made:
        yield made


@pytest.mark.parametrize("check", CHECKS)
def test_libvirt_keeps_its_promise(bench: Bench, check: str) -> None:
    keeps_its_promise(bench, check)


def test_a_domain_of_the_users_own_is_refused_and_goes_on(bench: Bench, libvirtd: Libvirtd) -> None:
    context = replace(
        bench.context("9", folder=str(libvirtd.folder / "own")), label=f"{bench.run}-own"
    )
    file = libvirtd.folder / "own.xml"
    file.write_text(
        f"<domain type='qemu'><name>{context.label}</name><memory unit='MiB'>64</memory>"
        "<os><type arch='x86_64' machine='pc'>hvm</type></os></domain>"
    )
    libvirtd.virsh("create", str(file), "--paused")
    before = libvirtd.virsh("domuuid", context.label)
    place = CommandLinePlatform(context, LIBVIRT)
    assert refusal(place).kind == "name_taken"
    assert libvirtd.virsh("domuuid", context.label) == before
    libvirtd.virsh("destroy", context.label)


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
    context = bench.context(setting, folder=str(libvirtd.folder / f"bench-{setting}"))
    context.spec.settings[setting] = value
    place = CommandLinePlatform(context, LIBVIRT)
    failure = refusal(place)
    assert failure.kind == kind, failure.message
    assert context.label not in libvirtd.virsh("list", "--all", "--name")
