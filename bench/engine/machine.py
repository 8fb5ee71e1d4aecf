"""On what a run was made: the machine, and the version of every peer."""

from __future__ import annotations

import os
import platform
import re
import subprocess
from pathlib import Path

from bench.engine.files import interpreter
from bench.engine.needs import found
from bench.engine.steelyard import engine

VERSIONS = {
    "wrk": (["wrk", "-v"], r"wrk \S+"),
    "ab": (["ab", "-V"], r"Version [\d.]+"),
    "oha": (["oha", "--version"], r"oha \S+"),
    "h2load": (["h2load", "--version"], r"nghttp2/\S+"),
    "gcc": (["gcc", "--version"], r"gcc .*"),
    "nginx": (["nginx", "-v"], r"nginx/\S+"),
    "smtp-source": (["dpkg-query", "-W", "postfix"], r"postfix\s+\S+"),
    "postal": (["dpkg-query", "-W", "postal"], r"postal\s+\S+"),
    "dovecot": (["dovecot", "--version"], r"\d\S+"),
    "vsftpd": (["dpkg-query", "-W", "vsftpd"], r"vsftpd\s+\S+"),
    "curl": (["curl", "--version"], r"curl \S+"),
    "iperf3": (["iperf3", "--version"], r"iperf \S+"),
}


def facts() -> dict[str, object]:
    """What could explain a difference between two runs of the bench."""
    return {
        "kernel": platform.release(),
        "machine": platform.machine(),
        "cpu_model": cpu_model(),
        "cores": os.cpu_count(),
        "load_average_at_start": os.getloadavg(),
        "engine": said([engine(), "--version"], r".+"),
        "versions": {**{name: version(name) for name in VERSIONS}, "ftpbench": of_ftpbench()},
    }


def version(program: str) -> str | None:
    """What a peer calls itself; None if it is not there or does not say."""
    command, pattern = VERSIONS[program]
    return said(command, pattern) if found(program) else None


def of_ftpbench() -> str | None:
    """Version of its package, asked of the Python that runs it."""
    program = found("ftpbench")
    if program is None:
        return None
    tell = "import pyftpdlib; print(pyftpdlib.__ver__)"
    return said([interpreter(Path(program)), "-c", tell], r"\d\S+")


def said(command: list[str], pattern: str) -> str | None:
    try:
        done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=10)
    except (OSError, subprocess.TimeoutExpired):
        return None
    found = re.search(pattern, done.stdout + done.stderr)
    return found[0].strip() if found else None


def cpu_model() -> str | None:
    text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    found = re.search(r"model name\s*: (.*)", text)
    return found[1] if found else None
