"""FTP and explicit FTPS against vsftpd, whose folders are looked at on the disk."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integration.servers.authority import Authority
from tests.integration.servers.engine_load import assert_all_good, kinds, load, refusal
from tests.integration.servers.vsftpd import FILE_BYTES, LOGIN, Vsftpd, vsftpd

TRANSFERS = 40


@pytest.fixture
def server(folder: Path, authority: Authority) -> Iterator[Vsftpd]:
    with vsftpd(folder, authority) as started:
        yield started


@pytest.fixture
def secure(folder: Path, authority: Authority) -> Iterator[Vsftpd]:
    with vsftpd(folder, authority, tls=True) as started:
        yield started


def uploaded(server: Vsftpd) -> list[bytes]:
    return [path.read_bytes() for path in server.uploads.iterdir()]


def test_logins(server: Vsftpd) -> None:
    result = load(server.url, *LOGIN, "--actions", "login", "-c", "2", operations=TRANSFERS)
    assert_all_good(result, TRANSFERS)
    assert server.said().count("230 Login successful") == TRANSFERS


@pytest.mark.parametrize("passive", ["epsv", "pasv", "auto"])
@pytest.mark.parametrize("each", ["0", "1"], ids=["one connection", "a connection each"])
def test_downloads_are_whole(server: Vsftpd, passive: str, each: str) -> None:
    words = ("--passive", passive, "--transfers-per-connection", each, "-c", "2")
    result = load(f"{server.url}/file.bin", *LOGIN, *words, operations=TRANSFERS)
    assert_all_good(result, TRANSFERS)
    assert result["counts"]["bytes_in"] >= TRANSFERS * (FILE_BYTES // 256 * 256)
    assert server.said().count("226 Transfer complete") == TRANSFERS


def test_a_server_without_epsv_is_asked_with_pasv(folder: Path, authority: Authority) -> None:
    with vsftpd(folder, authority, more="cmds_denied=EPSV") as server:
        words = (f"{server.url}/file.bin", *LOGIN, "-c", "2")
        assert_all_good(load(*words, operations=TRANSFERS), TRANSFERS)
        refused = load(*words, "--passive", "epsv", operations=TRANSFERS)
        assert kinds(refused) == {"ftp_5xx": TRANSFERS}


def test_uploads_are_on_the_disk(server: Vsftpd) -> None:
    words = ("--actions", "upload", "--folder", "incoming", "--upload-size", "70000")
    result = load(server.url, *LOGIN, *words, "-c", "3", operations=TRANSFERS)
    assert_all_good(result, TRANSFERS)
    files = uploaded(server)
    assert len(files) == TRANSFERS
    assert {len(content) for content in files} == {70_000}
    assert len(set(files)) == 1  # the same bytes over and over, whoever sent them


def test_what_was_uploaded_comes_back_whole_and_damage_is_counted(server: Vsftpd) -> None:
    words = ("--actions", "upload", "--folder", "incoming", "--upload-size", "5000", "--verify")
    assert_all_good(load(server.url, *LOGIN, *words, "-c", "1", operations=2), 2)
    whole, damaged = sorted(server.uploads.iterdir())
    content = damaged.read_bytes()
    damaged.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    files = [word for path in (whole, damaged) for word in ("--file", f"incoming/{path.name}")]
    result = load(server.url, *LOGIN, *files, "--verify", "-c", "1", operations=10)
    assert kinds(result) == {"checksum_mismatch": 5}
    assert result["payload"]["checked"] == 10
    assert result["payload"]["corrupted"] == 5


def test_deleted_uploads_leave_nothing(server: Vsftpd) -> None:
    words = ("--actions", "upload", "--folder", "incoming", "--delete-uploads")
    assert_all_good(load(server.url, *LOGIN, *words, operations=TRANSFERS), TRANSFERS)
    assert uploaded(server) == []


def test_lists(server: Vsftpd) -> None:
    words = ("--actions", "list", "--folder", "/")
    assert_all_good(load(server.url, *LOGIN, *words, operations=TRANSFERS), TRANSFERS)


def test_all_transfers_in_one_run(server: Vsftpd) -> None:
    words = ("--actions", "download=2,upload=1,list=1", "--folder", "incoming")
    result = load(f"{server.url}/file.bin", *LOGIN, *words, "-c", "4", operations=100)
    assert_all_good(result, 100)
    assert set(result["operations"]) == {"download", "upload", "list"}
    assert len(uploaded(server)) == result["operations"]["upload"]["ok"]


@pytest.mark.parametrize("action", ["download", "upload", "list"])
def test_data_connections_resume_the_session_that_the_server_demands(
    secure: Vsftpd, authority: Authority, action: str
) -> None:
    trust = ("--starttls", "--cacert", str(authority.certificate))
    words = ("--actions", action, "--folder", "incoming", "-c", "2")
    url = f"{secure.url}/file.bin"
    result = load(url, *LOGIN, *trust, *words, operations=20)
    assert_all_good(result, 20)
    assert result["tls"]["verified"] is True
    assert result["tls"]["resumed"] == 20
    assert len(uploaded(secure)) == (20 if action == "upload" else 0)


def test_a_wrong_password_is_reported(server: Vsftpd) -> None:
    words = ("--user", "anonymous", "--password", "guess", "--actions", "login")
    assert "auth_fail" in refusal(server.url, *words)


def test_a_missing_file_fails_its_transfer_only(server: Vsftpd) -> None:
    files = ("--file", "file.bin", "--file", "nothing-here")
    result = load(server.url, *LOGIN, *files, "-c", "1", operations=20)
    assert kinds(result) == {"ftp_5xx": 10}
    assert result["counts"]["ok"] == 10
    assert result["connection_errors"] == {}


def test_connections_beyond_the_servers_limit_are_reported(
    folder: Path, authority: Authority
) -> None:
    with vsftpd(folder, authority, max_per_ip=1) as server:
        words = ("--transfers-per-connection", "1", "-c", "4")
        result = load(f"{server.url}/file.bin", *LOGIN, *words, operations=TRANSFERS)
        assert result["counts"]["ok"] > 0
        assert set(result["errors"]) == {"banner"}
        assert set(kinds(result)) == {"ftp_4xx"}
