"""A certificate authority of a test's own, made with openssl."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path

from tests.integration.servers.private_server import require_program

_NAMES = "subjectAltName=DNS:mail.test,DNS:localhost,IP:127.0.0.1"
_NEW_KEY = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes")


@dataclass(frozen=True)
class Authority:
    """Signs certificates for loopback."""

    folder: Path

    @property
    def certificate(self) -> Path:
        return self.folder / "ca.pem"

    def certify(self, folder: Path) -> None:
        """Puts ``server.pem`` and ``server.key`` for 127.0.0.1 and mail.test into a folder."""
        request, extensions = folder / "server.csr", folder / "server.ext"
        extensions.write_text(_NAMES + "\n", encoding="utf-8")
        key = folder / "server.key"
        _openssl(
            "req", "-new", *_NEW_KEY, "-subj", "/CN=mail.test", "-keyout", key, "-out", request
        )
        signer = ("-CA", self.certificate, "-CAkey", self.folder / "ca.key", "-CAcreateserial")
        signed = ("-extfile", extensions, "-days", "2", "-out", folder / "server.pem")
        _openssl("x509", "-req", "-in", request, *signer, *signed)


def new_authority(folder: Path, name: str) -> Authority:
    made = Authority(folder / name)
    made.folder.mkdir()
    out = ("-keyout", made.folder / "ca.key", "-out", made.certificate)
    constraint = ("-addext", "keyUsage=critical,keyCertSign,cRLSign")
    _openssl("req", "-x509", *_NEW_KEY, "-subj", f"/CN={name}", "-days", "2", *constraint, *out)
    return made


def _openssl(*words: str | Path) -> None:
    program = require_program("openssl", "openssl")
    subprocess.run([program, *words], check=True, capture_output=True, stdin=subprocess.DEVNULL)
