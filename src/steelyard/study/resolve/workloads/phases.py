"""Phases of an operation: which of them the protocol of a workload has."""

from __future__ import annotations

_SMTP = (
    *("connect", "tls", "banner", "ehlo", "starttls", "auth", "mail", "rcpt", "data", "bdat"),
    *("mail+rcpt+data", "mail+rcpt+bdat", "eom", "quit"),
)
PHASES: dict[str, tuple[str, ...]] = {
    "delivery": ("connect", "tls", "submit", "delivered"),
    "ftp": (*("connect", "tls", "banner", "data-connect", "first-byte", "last-byte", "quit"),),
    "http": ("connect", "tls", "ttfb", "body"),
    "imap": (
        *("connect", "tls", "banner", "starttls", "auth", "select", "fetch-first", "fetch-last"),
        "append",
    ),
    "lmtp": _SMTP,
    "pop3": ("connect", "tls", "banner", "auth", "stat", "retr-first", "retr-last", "quit"),
    "request-response": ("connect", "tls", "response"),
    "smtp": _SMTP,
    "smtp-probe": _SMTP,
    "tcp-connect": ("connect", "tls"),
}
"""Of each workload those that are responses of a study; the engine times further ones (``PHASES``
in ``crates/load/src``)."""
_PHASE = "phase."


def phases_instead(use: str, response: str) -> tuple[str, ...]:
    """The phases that a workload has, where a response is one that it has not."""
    known = PHASES.get(use, ())
    is_phase = response.startswith(_PHASE)
    phase = response.removeprefix(_PHASE).rpartition(".")[0]
    return known if is_phase and phase not in known else ()
