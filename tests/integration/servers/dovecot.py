"""dovecot: any name has the password ``secret`` and a Maildir of its own, but for ``outsider2``."""

from __future__ import annotations

import grp
import os
import pwd
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from tests.integration.servers.authority import Authority
from tests.integration.servers.private_server import (
    answers,
    free_port,
    require_program,
    running,
    write_config,
)

PACKAGES = "dovecot-imapd dovecot-pop3d dovecot-lmtpd"


@dataclass(frozen=True)
class Dovecot:
    folder: Path
    imap_port: int
    pop3_port: int
    lmtp_port: int
    domain: str = "box.test"

    def with_domain(self, domain: str) -> Dovecot:
        """The same server, seen by users of another domain, whose mailboxes are empty."""
        return replace(self, domain=domain)

    @property
    def login(self) -> tuple[str, ...]:
        return ("--user", f"user{{n}}@{self.domain}", "--password", "secret")

    @property
    def imap(self) -> str:
        return f"imap://127.0.0.1:{self.imap_port}"

    @property
    def pop3(self) -> str:
        return f"pop3://127.0.0.1:{self.pop3_port}"

    @property
    def lmtp(self) -> str:
        return f"lmtp://127.0.0.1:{self.lmtp_port}"

    @property
    def lmtp_socket(self) -> Path:
        return self.folder / "run" / "lmtp"

    def messages(self, user: str = "*") -> list[Path]:
        """The files of a mailbox, or of all of them."""
        maildirs = self.folder / "mail" / self.domain
        return [*maildirs.glob(f"{user}/new/*"), *maildirs.glob(f"{user}/cur/*")]


@contextmanager
def dovecot(folder: Path, authority: Authority) -> Iterator[Dovecot]:
    program = require_program("dovecot", PACKAGES)
    for protocol in ("imap", "pop3", "lmtp"):
        if not Path(f"/usr/lib/dovecot/{protocol}").exists():
            pytest.skip(f"dovecot's {protocol} is not installed (Debian: apt install {PACKAGES})")
    authority.certify(folder)
    users = _users()
    (folder / "denied").write_text("outsider2:\n", encoding="utf-8")
    (folder / "mail").mkdir()
    if os.geteuid() == 0:
        shutil.chown(folder / "mail", users["mail_user"], users["mail_group"])
    server = Dovecot(folder, free_port(), free_port(), free_port())
    config = write_config(
        "dovecot.conf",
        folder / "dovecot.conf",
        folder=folder,
        imap_port=server.imap_port,
        pop3_port=server.pop3_port,
        lmtp_port=server.lmtp_port,
        **users,
    )

    def ready() -> bool:
        return (
            answers(server.imap_port, b"* OK")
            and answers(server.pop3_port, b"+OK")
            and answers(server.lmtp_port, b"220 ")
        )

    with running([program, "-F", "-c", config], folder / "stderr.log", ready):
        yield server


def _users() -> dict[str, str]:
    """Root's dovecot never delivers as root; anyone else's can only be who started it."""
    if os.geteuid() == 0:
        return {
            "mail_user": "mail",
            "mail_group": "mail",
            "login_user": "dovenull",
            "internal_user": "dovecot",
            "internal_group": "dovecot",
        }
    user, group = pwd.getpwuid(os.geteuid()).pw_name, grp.getgrgid(os.getegid()).gr_name
    return {
        "mail_user": user,
        "mail_group": group,
        "login_user": user,
        "internal_user": user,
        "internal_group": group,
    }
