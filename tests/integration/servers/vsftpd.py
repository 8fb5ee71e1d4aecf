"""vsftpd for anonymous users who know a password."""

from __future__ import annotations

import pwd
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.integration.servers.authority import Authority
from tests.integration.servers.private_server import (
    answers,
    free_port,
    require_program,
    require_root,
    running,
    write_config,
)

LOGIN = ("--user", "anonymous", "--password", "knock")
FILE_BYTES = 200_000


@dataclass(frozen=True)
class Vsftpd:
    folder: Path
    port: int

    @property
    def url(self) -> str:
        return f"ftp://127.0.0.1:{self.port}"

    @property
    def uploads(self) -> Path:
        return self.folder / "root" / "incoming"

    @property
    def file(self) -> Path:
        return self.folder / "root" / "file.bin"

    def said(self) -> str:
        """The dialogue, from its log."""
        return (self.folder / "vsftpd.log").read_text(errors="replace")


@contextmanager
def vsftpd(
    folder: Path, authority: Authority, *, tls: bool = False, max_per_ip: int = 0, more: str = ""
) -> Iterator[Vsftpd]:
    program = require_program("vsftpd", "vsftpd")
    require_root("vsftpd")
    authority.certify(folder)
    server = Vsftpd(folder, free_port())
    user = _user_with_a_home()
    _write_files(server, user)
    config = write_config(
        "vsftpd.conf",
        folder / "vsftpd.conf",
        folder=folder,
        port=server.port,
        ftp_user=user,
        max_per_ip=max_per_ip,
        pasv_first=20_000,
        pasv_last=32_000,
        tls="YES" if tls else "NO",
        more=more,
    )
    with running([program, config], folder / "stderr.log", lambda: answers(server.port, b"220 ")):
        yield server


def _user_with_a_home() -> str:
    """vsftpd refuses users whose home does not exist."""
    return next(
        user.pw_name
        for user in sorted(pwd.getpwall(), key=lambda user: user.pw_name != "mail")
        if user.pw_uid != 0 and Path(user.pw_dir).is_dir()
    )


def _write_files(server: Vsftpd, user: str) -> None:
    (server.folder / "empty").mkdir()
    server.uploads.mkdir(parents=True)
    shutil.chown(server.uploads, user)
    server.file.write_bytes(bytes(range(256)) * (FILE_BYTES // 256))
    (server.folder / "passwords").write_text("knock\n", encoding="utf-8")
