"""Disks that real servers offer, as they are looked at before anything is started."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from steelyard.engine.locate import find_engine
from steelyard.hosts.failures import SystemFailure
from steelyard.hosts.host import Host
from steelyard.hosts.transport import here, open_local_pipe
from steelyard.study.declared.network_disks import read_network_disk
from steelyard.systems.qemu.network_disks import make_blank, refuse_unusable
from tests.integration.conftest import Steelyard
from tests.integration.servers.offered_disks import Offered, by_iscsi, by_nbd, by_nfs
from tests.integration.servers.private_server import free_port
from tests.platforms.needs import need

SIZE = 32 << 20
STUDY = """\
study: tiny
question: Is the disk of the server as fast?
systems:
  here: {platform: qemu, network: user, disks: {data: {size: 32 MiB}}}
  there:
    platform: qemu
    network: user
    disks: {data: {url: "URL", size: 32 MiB, overwrite: blank}}
workload: {use: dd}
trials: {margin: 50 %, reset: service, budget: {trials: 8 per cell}}
"""


@pytest.fixture
def host() -> Iterator[Host]:
    made = Host("local", open_local_pipe(), here, str(find_engine()))
    yield made
    made.close()


@pytest.fixture(params=[by_nbd, by_iscsi, by_nfs])
def offered(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Offered]:
    need("qemu-img", "qemu-io", "blkid")
    with request.param(tmp_path, SIZE) as made:
        yield made


def look(host: Host, url: str, size: int = SIZE, *, anything: bool = False) -> str | None:
    """The kind of failure, if it is one."""
    try:
        refuse_unusable(host, read_network_disk(url), size, anything=anything)
    except SystemFailure as failure:
        return failure.kind
    return None


def test_a_filesystem_that_lies_on_it_is_named_and_only_blanked_on_word(
    host: Host, offered: Offered
) -> None:
    need("mkfs.ext4")
    assert look(host, offered.url) is None
    subprocess.run(["mkfs.ext4", "-q", offered.file], check=True)
    before = offered.file.read_bytes()
    with pytest.raises(SystemFailure, match="it holds ext4") as refused:
        refuse_unusable(host, read_network_disk(offered.url), SIZE, anything=False)
    assert refused.value.kind == "name_taken"
    assert look(host, offered.url, anything=True) is None
    assert offered.file.read_bytes() == before, "looking changes nothing"
    make_blank(host, read_network_disk(offered.url), SIZE)
    assert look(host, offered.url) is None
    assert offered.file.read_bytes()[: 1 << 20] == bytes(1 << 20)


def test_what_is_not_offered_or_too_small_is_seen(host: Host, offered: Offered) -> None:
    assert look(host, offered.url, 2 * SIZE) == "no_space"
    wrong = re.sub(r"([/:])(data|disk\.raw)\b", r"\1other", offered.url)
    assert look(host, wrong) == "unreachable"
    assert look(host, f"nbd://127.0.0.1:{free_port()}/data") == "unreachable"


def test_a_server_that_does_not_answer_is_found_before_anything_starts(
    steelyard: Steelyard,
) -> None:
    need("qemu-img", "qemu-io")
    url = f"nbd://127.0.0.1:{free_port()}/data"
    (steelyard.folder / "study.yaml").write_text(STUDY.replace("URL", url), encoding="utf-8")
    done = steelyard.run("run", ".")
    assert done.returncode == 3, done.stderr
    (line,) = [line for line in done.stderr.splitlines() if url in line]
    assert "study.yaml:8" in line
    assert not list(steelyard.folder.glob("results/tiny/*/trials/*/record.json"))
