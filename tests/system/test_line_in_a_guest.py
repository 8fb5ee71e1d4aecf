"""Delay and loss of a guest's line, by its own kernel: the one of this machine may lack netem."""

from __future__ import annotations

import re
import subprocess

import pytest
from tests.platforms.needs import need

from steelyard.hosts.host import Host
from steelyard.study.model import Level
from steelyard.systems.conformance.bench import Bench
from steelyard.systems.platform import Platform
from steelyard.systems.settings import Place, apply_settings, revert_settings, setting_facts
from steelyard.systems.settings.line import refuse_unavailable_line

pytestmark = pytest.mark.system
DELAY_S = 0.8
LOSS = 0.5
PINGS = 200


def echoes(bench: Bench, guest: Platform, count: int) -> list[float]:
    """Seconds until each echo arrived, of so many that were asked of the guest from the lab."""
    network = bench.network()
    assert network is not None
    words = ["ping", "-n", "-c", str(count), "-i", "0.05", "-W", "10", guest.address()]
    told = subprocess.run(network.enter(words), capture_output=True, text=True, check=False).stdout
    return [float(text) / 1000 for text in re.findall(r"time=([0-9.]+) ms", told)]


def disciplines(host: Host) -> str:
    return host.run(["tc", "qdisc", "show"], timeout_s=60).stdout


def test_what_a_guest_sends_arrives_later_by_the_delay(guest_bench: Bench, guest: Platform) -> None:
    need("ping")
    host, levels = guest.host(), {"line.delay": DELAY_S}
    refuse_unavailable_line(host, "delay")
    before = disciplines(host)
    applied = apply_settings(host, levels, guest_bench.undo, Place("steelyard-guest", "/"))
    assert "netem" in (setting_facts(host, applied)["setting.line.delay"] or "")
    late = echoes(guest_bench, guest, 10)
    assert len(late) == 10
    assert min(late) >= DELAY_S
    revert_settings(host, applied, guest_bench.undo)
    assert disciplines(host) == before
    assert min(echoes(guest_bench, guest, 10)) < DELAY_S


def test_of_what_a_guest_sends_the_share_is_lost(guest_bench: Bench, guest: Platform) -> None:
    need("ping")
    host = guest.host()
    levels: dict[str, Level] = {"line.loss": LOSS, "line.rate": 100_000_000}
    before = disciplines(host)
    applied = apply_settings(host, levels, guest_bench.undo, Place("steelyard-guest", "/"))
    assert "loss 50%" in (setting_facts(host, applied)["setting.line.loss"] or "")
    arrived = len(echoes(guest_bench, guest, PINGS))
    revert_settings(host, applied, guest_bench.undo)
    assert disciplines(host) == before
    # Six standard deviations of a binomial distribution to either side.
    assert abs(arrived - PINGS * (1 - LOSS)) < 6 * (PINGS * LOSS * (1 - LOSS)) ** 0.5
