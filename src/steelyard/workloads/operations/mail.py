"""Mail: submission by SMTP and LMTP, reading by POP3 and IMAP, delivery from end to end."""

from __future__ import annotations

from steelyard import units
from steelyard.study.workload.settings import (
    DeliverySettings,
    ImapSettings,
    MessageSettings,
    OneMessageSettings,
    Pop3Settings,
    SmtpSettings,
)
from steelyard.workloads.operations.model import (
    Document,
    Driven,
    login,
    maker,
    ns,
    starttls,
    target,
    weights,
)


def _message(settings: MessageSettings) -> Document:
    return {
        "protocol": "smtp",
        "sender": settings.sender,
        "recipients": settings.recipients,
        "recipient_domain": settings.domain,
        "recipients_per_message": settings.recipients_per_message,
        "body_bytes": settings.body,
        "body_sizes": [_size(item) for item in settings.sizes],
        "attachment_bytes": settings.attachment,
        "messages_per_connection": settings.messages_per_connection,
        "pipelining": settings.pipelining,
        "chunking": settings.chunking,
        "starttls": starttls(settings),
    }


def _size(written: str) -> list[float]:
    size, _, weight = written.partition(":")
    return [units.parse(size.strip(), "size"), float(weight)]


def _smtp(driven: Driven[SmtpSettings]) -> Document:
    settings = driven.settings
    known = settings.user is not None
    return _message(settings) | {
        "tls_share": settings.tls_share,
        "login": login(driven) if known else None,
    }


def _lmtp(driven: Driven[MessageSettings]) -> Document:
    return _message(driven.settings)


def _probe(driven: Driven[OneMessageSettings]) -> Document:
    settings = driven.settings
    return {
        "protocol": "smtp",
        "sender": settings.sender,
        "recipients": 1,
        "recipient_domain": settings.domain,
        "body_bytes": settings.body,
        "messages_per_connection": 1,
        "starttls": starttls(settings),
    }


def _pop3(driven: Driven[Pop3Settings]) -> Document:
    settings = driven.settings
    return {
        "protocol": "pop3",
        "login": login(driven),
        "starttls": starttls(settings),
        "uidl": settings.listing == "uidl",
        "retrieve_share": settings.retrieve,
        "delete_share": settings.delete,
        "most_messages": settings.most_messages,
        "pipelining": settings.pipelining,
        "verify": settings.verify,
    }


def _imap(driven: Driven[ImapSettings]) -> Document:
    settings = driven.settings
    return {
        "protocol": "imap",
        "login": login(driven),
        "starttls": starttls(settings),
        "mailbox": settings.mailbox,
        "commands": weights(settings.commands),
        "commands_per_connection": settings.commands_per_connection,
        "append_bytes": settings.append,
        "idle_ns": ns(settings.idle),
        "verify": settings.verify,
    }


def _delivery(driven: Driven[DeliverySettings]) -> Document:
    """Each user of the load has a mailbox of its own."""
    settings = driven.settings
    submit = _probe(driven) | {"recipients": driven.width, "messages_per_connection": 0}
    seen_by = settings.seen_by
    return {
        "protocol": "delivery",
        "submit": {key: value for key, value in submit.items() if key != "protocol"},
        "mailbox": target(seen_by, implicit=f"{seen_by}s")(driven),
        "login": login(driven),
        "starttls": starttls(settings),
        "poll_ns": ns(settings.poll),
    }


_SMTP = target("smtp", implicit="smtps")

MAKERS = {
    "smtp": maker(SmtpSettings, _SMTP, _smtp),
    "smtp-probe": maker(OneMessageSettings, _SMTP, _probe),
    "lmtp": maker(MessageSettings, target("lmtp"), _lmtp),
    "pop3": maker(Pop3Settings, target("pop3", implicit="pop3s"), _pop3),
    "imap": maker(ImapSettings, target("imap", implicit="imaps"), _imap),
    "delivery": maker(DeliverySettings, _SMTP, _delivery),
}
