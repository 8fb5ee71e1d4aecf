"""SMTP against postfix; what was accepted is counted by postfix's own log."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.integration.conftest import first_in_every_run
from tests.integration.servers.authority import Authority
from tests.integration.servers.engine_load import (
    OPERATIONS,
    assert_all_good,
    kinds,
    load,
    refusal,
)
from tests.integration.servers.postfix import Postfix, postfix
from tests.integration.servers.private_server import wait_until

ENVELOPE = ("--to-domain", "mail.test", "--recipients", "50", "--from", "sender@mail.test")


@pytest.fixture(scope="module")
def mta(shared_folder: Path, authority: Authority) -> Iterator[Postfix]:
    with postfix(shared_folder, authority) as server:
        yield server


def send(server: Postfix, *words: str, operations: int = OPERATIONS) -> dict[str, Any]:
    """Sends messages, and waits until the log has as many as the result calls good."""
    envelope = () if "--recipient-list" in words else ENVELOPE
    return send_to(server, server.smtp, *envelope, "-c", "4", *words, operations=operations)


def send_to(
    server: Postfix, address: str, *words: str, operations: int = OPERATIONS
) -> dict[str, Any]:
    before = server.accepted()
    result = load(address, *words, operations=operations)
    wanted = before + result["counts"]["ok"]
    wait_until(lambda: server.accepted() >= wanted, lambda: "the log has fewer messages")
    assert server.accepted() == wanted
    return result


@pytest.mark.parametrize(
    "words",
    first_in_every_run(
        [
            (),
            ("--pipelining", "envelope"),
            ("--pipelining", "message"),
            ("--pipelining", "message", "--messages-per-connection", "7"),
            ("--chunking",),
            ("--chunking", "--pipelining", "message"),
            ("--messages-per-connection", "1"),
            ("--recipients-per-message", "5", "--pipelining", "envelope"),
            ("--size", "1k:2,60k:1", "--attachment-size", "10k"),
        ]
    ),
    ids=" ".join,
)
def test_every_good_message_is_in_the_servers_queue(mta: Postfix, words: tuple[str, ...]) -> None:
    assert_all_good(send(mta, *words))


def test_connections_are_as_long_as_asked_for(mta: Postfix) -> None:
    each = send(mta, "--messages-per-connection", "1", operations=40)
    kept = send(mta, operations=40)
    assert each["latency_ns"]["phase.connect"]["count"] == 40
    assert kept["latency_ns"]["phase.connect"]["count"] == 0


@pytest.mark.parametrize("grouping", ["none", "message"])
def test_starttls_upgrades_and_verifies(mta: Postfix, authority: Authority, grouping: str) -> None:
    trust = ("--starttls", "--cacert", str(authority.certificate))
    result = send(mta, *trust, "--pipelining", grouping, operations=60)
    assert_all_good(result, 60)
    assert result["tls"]["verified"] is True
    assert sum(result["tls"]["versions"].values()) == 4


def test_some_connections_in_clear_text_and_some_in_tls(mta: Postfix, authority: Authority) -> None:
    trust = ("--starttls", "--tls-share", "0.5", "--cacert", str(authority.certificate))
    result = send(mta, *trust, "--messages-per-connection", "1")
    assert_all_good(result)
    assert min(result["operations"][way]["ok"] for way in ("clear", "tls")) > 0


def test_a_certificate_of_another_authority_is_refused(mta: Postfix, stranger: Authority) -> None:
    assert "tls_cert" in refusal(mta.smtp, "--starttls", "--cacert", str(stranger.certificate))


@pytest.mark.parametrize("grouping", first_in_every_run(["none", "envelope", "message"]))
@pytest.mark.parametrize("content", first_in_every_run([(), ("--chunking",)]), ids=["data", "bdat"])
def test_a_refused_recipient_fails_its_message_only(
    mta: Postfix, grouping: str, content: tuple[str, ...]
) -> None:
    recipients = mta.folder / "recipients"
    recipients.write_text("user1@mail.test\nuser2@refused.test\nuser3@mail.test\n")
    words = ("--recipient-list", str(recipients), "--pipelining", grouping)
    result = send(mta, *words, *content)
    assert result["counts"]["ok"] > 0
    assert set(result["errors"]) <= {"rcpt", "mail+rcpt+data", "mail+rcpt+bdat"}
    assert kinds(result) == {"smtp_5xx": OPERATIONS - result["counts"]["ok"]}
    assert result["connection_errors"] == {}


def test_a_message_with_one_refused_recipient_of_two_has_failed(mta: Postfix) -> None:
    recipients = mta.folder / "two"
    recipients.write_text("user1@mail.test\nuser2@refused.test\n")
    before = mta.accepted()
    words = ("--recipient-list", str(recipients), "--recipients-per-message", "2")
    result = load(mta.smtp, *words, "-c", "2", operations=20)
    assert result["counts"]["ok"] == 0
    assert kinds(result) == {"smtp_5xx": 20}
    wait_until(lambda: mta.accepted() >= before + 20, lambda: "no message for the other")


def test_connections_beyond_the_servers_limit_are_reported(mta: Postfix) -> None:
    words = (*ENVELOPE, "-c", "4", "--messages-per-connection", "1")
    result = send_to(mta, mta.narrow, *words)
    assert result["counts"]["ok"] > 0
    assert set(kinds(result)) == {"smtp_4xx"}
    assert set(result["errors"]) == {"banner"}


def test_what_the_server_does_not_offer_ends_the_run(mta: Postfix) -> None:
    assert "capability_missing" in refusal(mta.smtp, "--user", "a", "--password", "b")
