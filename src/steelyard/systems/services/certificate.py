"""A certificate for one trial, which vouches for itself: made by openssl where the service runs."""

from __future__ import annotations

CERTIFICATE = "certificate.pem"
KEY = "key.pem"
PROGRAM = "openssl"
VALID_DAYS = 30
"""From the moment that it is made, by the clock of the machine where it is."""

CONFIG = """\
[req]
distinguished_name = name
x509_extensions = server
prompt = no
[name]
CN = steelyard.test
[server]
basicConstraints = critical,CA:FALSE
subjectAltName = DNS:localhost,DNS:steelyard.test,IP:{address}
"""


def config(address: str) -> str:
    """What openssl reads for a server at this IP address."""
    return CONFIG.replace("{address}", address)


def argv(folder: str) -> list[str]:
    """Words that make certificate and key in a folder that holds ``openssl.cnf``."""
    new_key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
    out = ["-keyout", f"{folder}/{KEY}", "-out", f"{folder}/{CERTIFICATE}"]
    return [
        PROGRAM,
        "req",
        "-x509",
        *new_key,
        "-days",
        str(VALID_DAYS),
        "-config",
        f"{folder}/openssl.cnf",
        *out,
    ]
