"""What a contest needs on this machine, and how to get what is missing."""

from __future__ import annotations

import os
import shutil
import sysconfig
from dataclasses import dataclass


def found(program: str) -> str | None:
    """Path of a program beside this Python or on `PATH`."""
    places = (sysconfig.get_path("scripts"), os.environ.get("PATH", os.defpath))
    return shutil.which(program, path=os.pathsep.join(places))


@dataclass(frozen=True)
class Need:
    """A program, and the words that install it."""

    program: str
    install: str

    def lack(self) -> str | None:
        """Why it cannot be used; None if it can."""
        if found(self.program) is not None:
            return None
        return f"{self.program} is not installed ({self.install})"


@dataclass(frozen=True)
class Root(Need):
    """The right to start a server that changes its user."""

    def lack(self) -> str | None:
        """Why it cannot be used; None if it can."""
        return None if os.geteuid() == 0 else f"{self.program} must be started by root"


def debian(program: str, package: str | None = None) -> Need:
    """A program of a Debian package, in the package of the same name unless another is given."""
    return Need(program, f"Debian: apt install {package or program}")


def first_lack(needs: tuple[Need, ...]) -> str | None:
    """What is missing, if anything is."""
    return next((lack for need in needs if (lack := need.lack()) is not None), None)


WRK = debian("wrk")
AB = debian("ab", "apache2-utils")
OHA = Need("oha", "cargo install oha")
H2LOAD = debian("h2load", "nghttp2-client")
GCC = debian("gcc")
NGINX = debian("nginx")
SMTP_SOURCE = debian("smtp-source", "postfix")
SMTP_SINK = debian("smtp-sink", "postfix")
POSTAL = debian("postal")
RABID = debian("rabid", "postal")
DOVECOT = debian("dovecot", "dovecot-pop3d dovecot-imapd")
VSFTPD = debian("vsftpd")
FTPBENCH = Need("ftpbench", "pip install pyftpdlib, or -e '.[bench]'")
CURL = debian("curl")
IPERF3 = debian("iperf3")
EVERYWHERE = (debian("taskset", "util-linux"), debian("prlimit", "util-linux"))
