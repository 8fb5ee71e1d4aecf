"""vsftpd, Samba and sshd serve files of the sizes that a study asks for."""

from __future__ import annotations

import os
import pwd
import subprocess
from pathlib import Path

import pytest

from steelyard.hosts.host import Host
from tests.integration.servers.engine_load import assert_all_good, load
from tests.integration.servers.private_server import require_program
from tests.integration.services.started import started

ANYBODY = ("--user", "anonymous", "--password", "a@b.test")
SIZES = ["1000 B", "100 kB"]


def run(*words: str | Path, stdin: str = "") -> str:
    done = subprocess.run(
        words, input=stdin, capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_vsftpd_gives_and_takes_files(host: Host, folder: Path) -> None:
    with started(host, folder, "vsftpd", files=SIZES) as service:
        url = f"ftp://{service.address}"
        got = load(f"{url}/bytes/100000", *ANYBODY, "-c", "2", operations=10)
        assert_all_good(got, 10)
        assert got["counts"]["bytes_in"] >= 10 * 100_000
        upload = ("--actions", "upload", "--folder", "incoming", "--upload-size", "5000")
        assert_all_good(load(url, *ANYBODY, *upload, operations=4), 4)
        taken = list((folder / "data" / "ftp" / "incoming").iterdir())
        assert {path.stat().st_size for path in taken} == {5000}


@pytest.mark.parametrize("tls", ["implicit", "starttls"])
def test_vsftpd_speaks_tls(host: Host, folder: Path, tls: str) -> None:
    with started(host, folder, "vsftpd", files=SIZES, tls=tls) as service:
        assert service.authority is not None
        scheme, words = ("ftps", ()) if tls == "implicit" else ("ftp", ("--starttls",))
        trust = (*words, "--cacert", service.authority)
        url = f"{scheme}://{service.address}/bytes/1000"
        assert_all_good(load(url, *ANYBODY, *trust, operations=6), 6)


@pytest.mark.parametrize("kept", [False, True])
def test_clients_beyond_the_limit_of_vsftpd_are_refused_and_told(
    host: Host, folder: Path, kept: bool
) -> None:
    """Who comes for each transfer fails it; who keeps its connection fails before."""
    with started(host, folder, "vsftpd", files=["100 kB"], clients=3) as service:
        url = f"ftp://{service.address}/bytes/100000"
        each = () if kept else ("--transfers-per-connection", "1")
        got = load(url, *ANYBODY, "-c", "9", *each, operations=60)
    refused = got["ramp_errors" if kept else "errors"]["banner"]["ftp_4xx"]
    assert refused >= 6
    assert got["counts"]["errors"] == (0 if kept else refused)


def test_samba_gives_and_takes_files(host: Host, folder: Path) -> None:
    client = require_program("smbclient", "smbclient")
    with started(host, folder, "samba", files=SIZES) as service:
        got = folder / "got"
        address, _, port = service.address.partition(":")
        words = (client, "-N", "-p", port, f"//{address}/files", "-c")
        run(*words, f"get bytes\\1000 {got}; put {got} bytes\\again")
        assert got.stat().st_size == 1000
        assert (folder / "data" / "share" / "bytes" / "again").read_bytes() == got.read_bytes()


def test_sshd_gives_and_takes_files_by_sftp_only(host: Host, folder: Path) -> None:
    sftp, ssh = require_program("sftp", "openssh-client"), require_program("ssh", "openssh-client")
    with started(host, folder, "sftp", files=SIZES) as service:
        got = folder / "got"
        address, _, port = service.address.partition(":")
        user = "nobody" if os.geteuid() == 0 else pwd.getpwuid(os.geteuid()).pw_name
        options = ("-i", folder / "client_key", "-F", "none")
        known = (f"UserKnownHostsFile={folder}/known", "StrictHostKeyChecking=accept-new")
        options += tuple(word for option in known for word in ("-o", option))
        batch = f"get bytes/1000 {got}\nput {got} bytes/again\n"
        run(sftp, *options, "-P", port, "-b", "-", f"{user}@{address}", stdin=batch)
        assert got.stat().st_size == 1000
        assert (folder / "data" / "sftp" / "bytes" / "again").exists()
        shell = [ssh, *options, "-p", port, f"{user}@{address}", "echo", "a-shell"]
        refused = subprocess.run(shell, input="", capture_output=True, text=True, check=False)
        assert "a-shell" not in refused.stdout
