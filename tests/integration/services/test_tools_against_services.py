"""Every tool that needs a server really measures one of the catalogue; the others measure alone."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from steelyard.hosts.host import Host
from steelyard.records.missing import Quoted
from steelyard.study import catalogue
from tests.integration.services.measured import USERS, measured, value
from tests.integration.services.started import started

pytestmark = pytest.mark.extended


@contextmanager
def a_disk(folder: Path) -> Iterator[str]:
    """A block device over a file of the folder; skips where none can be made."""
    if shutil.which("losetup") is None:
        pytest.skip("needs losetup")
    file = folder / "disk"
    file.write_bytes(bytes(4 << 20))
    made = subprocess.run(
        ["losetup", "--find", "--show", str(file)], capture_output=True, text=True, check=False
    )
    if made.returncode:
        pytest.skip(f"no loop device: {made.stderr.strip()}")
    device = made.stdout.strip()
    try:
        yield device
    finally:
        subprocess.run(["losetup", "--detach", device], check=True)


@pytest.mark.parametrize("server", ["nginx", "apache"])
@pytest.mark.parametrize("use", ["ab", "wrk"])
def test_requests_are_counted_and_none_of_them_fails(
    host: Host, folder: Path, use: str, server: str
) -> None:
    written = {"requests": 2000} if use == "ab" else {}
    with started(host, folder, server) as service:
        read = measured(host, folder, use, service, **written)
    assert value(read, "throughput") > 0
    assert value(read, "errors") == 0
    assert value(read, "response.mean") > 0


def test_pages_that_are_not_there_are_failures_of_every_request(host: Host, folder: Path) -> None:
    with started(host, folder, "nginx") as service:
        read = measured(host, folder, "ab", service, requests=200, path="/absent")
        assert value(read, "errors") == 1


def test_iperf_2_counts_bytes_and_datagrams(host: Host, folder: Path) -> None:
    with started(host, folder, "iperf2") as service:
        assert value(measured(host, folder, "iperf2", service), "throughput") > 1e6
        (folder / "tool").rmdir()
        read = measured(host, folder, "iperf2-udp", service, rate="1 Mbit/s")
        assert value(read, "throughput") == pytest.approx(USERS * 125_000, rel=0.5)
        assert 0 <= value(read, "stream.loss") < 1


SERVERS = {"ftp": "vsftpd", "sftp": "sftp", "smb": "samba"}


@pytest.mark.parametrize("direction", ["download", "upload"])
@pytest.mark.parametrize("scheme", SERVERS)
def test_curl_transfers_a_file(host: Host, folder: Path, scheme: str, direction: str) -> None:
    asked = {"scheme": scheme, "do": direction, "file": "100 kB"}
    written = {"oldest": "SMB1"} if scheme == "smb" else {}
    with started(host, folder, SERVERS[scheme], files=["100 kB"], **written) as service:
        read = measured(host, folder, "curl", service, **asked)
    assert value(read, "curl.time") > 0
    assert value(read, "curl.rate") * value(read, "curl.time") / 1e9 == pytest.approx(100_000)


def test_curl_fetches_a_page(host: Host, folder: Path) -> None:
    with started(host, folder, "nginx") as service:
        read = measured(host, folder, "curl", service, scheme="http")
    assert value(read, "curl.connect") < value(read, "curl.start") <= value(read, "curl.time")


def test_smbclient_speaks_what_samba_offers_by_default(host: Host, folder: Path) -> None:
    with started(host, folder, "samba", files=["1 MB"]) as service:
        read = measured(host, folder, "smbclient", service, file="1 MB")
    assert value(read, "smbclient.rate") > 0


def test_viewers_wait_for_their_first_picture(host: Host, folder: Path) -> None:
    # Debian's GStreamer 1.22 seldom dies of its own assertion when several look at one stream.
    with started(host, folder, "rtsp", height=120, encoded="for each client") as service:
        read = measured(host, folder, "rtsp-start", service, clients=2, height=240)
    assert value(read, "errors") == 0
    steps = ["rtsp.connect.median", "rtsp.playing.median", "rtsp.packet.median"]
    times = [value(read, name) for name in [*steps, "rtsp.start.median", "rtsp.start.max"]]
    assert times == sorted(times)


def test_smtp_source_sends_all_its_messages(host: Host, folder: Path) -> None:
    with started(host, folder, "postfix") as service:
        assert measured(host, folder, "smtp-source", service, messages=20) == {}


HASTY_CLOCK = """\
#include <time.h>

enum { TIMES = 30 };
static struct timespec first;

__attribute__((constructor)) static void began(void) { clock_gettime(CLOCK_REALTIME, &first); }

time_t time(time_t *told) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  double passed_s = now.tv_sec - first.tv_sec + (now.tv_nsec - first.tv_nsec) / 1e9;
  time_t hasty = first.tv_sec + (time_t)(TIMES * passed_s);
  if (told) *told = hasty;
  return hasty;
}

int nanosleep(const struct timespec *asked, struct timespec *left) {
  long long ns = (asked->tv_sec * 1000000000LL + asked->tv_nsec) / TIMES;
  struct timespec hasty = {ns / 1000000000, ns % 1000000000};
  return clock_nanosleep(CLOCK_REALTIME, 0, &hasty, left);
}

unsigned sleep(unsigned asked_s) {
  struct timespec asked = {asked_s, 0};
  nanosleep(&asked, 0);
  return 0;
}
"""
"""A clock whose minutes last two seconds, for a tool that counts by the minute of the clock."""


def hasty_clock(folder: Path) -> dict[str, str]:
    """The environment of a program that reads this clock; skips where it cannot be compiled."""
    if shutil.which("gcc") is None:
        pytest.skip("no gcc to make postal's minutes short with")
    source, library = folder / "hasty.c", folder / "hasty.so"
    source.write_text(HASTY_CLOCK, encoding="utf-8")
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", library, source], check=True)
    return {"LD_PRELOAD": str(library)}


def test_postal_counts_messages_by_the_minute(host: Host, folder: Path) -> None:
    hasty = {"environment": hasty_clock(folder), "beyond": {"duration": 5}}
    with started(host, folder / "server", "postfix") as service:
        read = measured(host, folder, "postal", service, pace=60, body="1 KiB", **hasty)
    # One a second was asked for; without a rate it sends hundreds. After a pause it catches up.
    assert 0 < value(read, "throughput") < 10
    assert value(read, "postal.bytes") > value(read, "throughput")
    assert value(read, "postal.errors") == 0


def test_rabid_fetches_messages_though_it_prints_none_of_its_counts(
    host: Host, folder: Path
) -> None:
    sizes = {"mailboxes": 10, "messages": 40, "message_size": "1 KiB"}
    with started(host, folder / "server", "dovecot", **sizes) as service:
        read = measured(host, folder, "rabid", service, mailboxes=10, pace=600)
    assert value(read, "throughput") >= value(read, "rabid.sessions") > 0, (
        "each fetched one at least"
    )
    assert value(read, "rabid.bytes") > 900 * value(read, "throughput")
    assert value(read, "rabid.errors") == 0


def test_bonnie_writes_reads_and_makes_files(host: Host, folder: Path) -> None:
    asked = {"size": "16 MiB", "memory": "8 MiB", "files": 1}
    read = measured(host, folder, "bonnie++", **asked)
    too_short = Quoted(kind="tool_reported", said="the phase was too short for a figure")
    not_asked = Quoted(kind="tool_reported", said="not asked for")
    assert all(one.value or one.missing in (too_short, not_asked) for one in read.values())
    assert read["bonnie.write.bytewise"].missing == not_asked


def test_hpl_and_stream_are_measured_in_one_run(host: Host, folder: Path) -> None:
    read = measured(host, folder, "hpcc", n=200)
    assert value(read, "hpcc.hpl.rate") > 0
    assert value(read, "hpcc.hpl.residual") < 16
    assert value(read, "hpcc.stream.triad") > 0


ALONE: dict[str, dict[str, Any]] = {
    "archive": {"size": "1 MiB", "files": 8},
    "compile": {"files": 2},
    "dd": {"total": "1 MiB", "block": "64 KiB"},
    "fio": {"size": "1 MiB", "direct": False},
    "ioping": {"direct": False},
    "stress-ng": {},
    "sysbench-cpu": {"limit": 1000},
    "sysbench-fileio": {"total": "1 MiB", "files": 4},
    "sysbench-memory": {"total": "16 MiB"},
}
"""Tools that need no server, with little to do."""


@pytest.mark.parametrize("use", ALONE)
def test_a_tool_alone_runs_and_every_figure_it_promises_is_read(
    host: Host, folder: Path, use: str
) -> None:
    read = measured(host, folder, use, **ALONE[use])
    primary = catalogue.workload(use).primary
    assert primary in read or primary == "run_time", "the time of a run is taken by the controller"
    assert all(one.value is not None or one.missing for one in read.values())
    assert primary == "run_time" or value(read, primary) > 0


def test_hdparm_reads_a_disk(host: Host, folder: Path) -> None:
    with a_disk(folder) as device:
        assert (
            value(measured(host, folder, "hdparm", device=device, test="cache"), "hdparm.rate") > 0
        )


@pytest.mark.parametrize("protocol", ["tcp", "udp"])
def test_iperf_3_counts_bytes(host: Host, folder: Path, protocol: str) -> None:
    written = {"protocol": protocol} | ({"rate": "1 Mbit/s"} if protocol == "udp" else {})
    with started(host, folder, "iperf3") as service:
        assert value(measured(host, folder, "iperf3", service, **written), "throughput") > 1e4


def test_iozone_measures_all_its_thirteen_ways(host: Host, folder: Path) -> None:
    read = measured(host, folder, "iozone", size="1 MiB", tests="all")
    assert len(read) == 13
    assert all(one.value for one in read.values())
