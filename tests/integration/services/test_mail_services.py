"""Postfix, Exim and Dovecot as services of a study, driven by the engine."""

from __future__ import annotations

from pathlib import Path

import pytest

from steelyard.hosts.host import Host
from tests.integration.servers.engine_load import assert_all_good, kinds, load
from tests.integration.servers.private_server import wait_until
from tests.integration.services.started import started

LOGIN = ("--user", "user{n}", "--password", "password{n}")
TO = ("--recipients", "4")


def messages(maildirs: Path) -> int:
    return sum(1 for kind in ("new", "cur") for _ in maildirs.glob(f"user*/{kind}/*"))


def test_dovecot_serves_the_mailboxes_it_was_given(host: Host, folder: Path) -> None:
    sizes = {"mailboxes": 4, "messages": 3, "message_size": "5 kB"}
    with started(host, folder, "dovecot", **sizes) as service:
        where = service.listeners
        assert messages(folder / "data" / "mail") == 12
        assert_all_good(load(f"imap://{where['imap']}", *LOGIN, "-c", "4", operations=40), 40)
        assert_all_good(load(f"lmtp://{where['lmtp']}", *TO, operations=8), 8)
        assert messages(folder / "data" / "mail") == 20
        drained = load(f"pop3://{where['pop3']}", *LOGIN, "-c", "4", operations=4)
        assert_all_good(drained, 4)
        assert drained["counts"]["bytes_in"] > 20 * 4096


def test_a_full_mailbox_refuses_messages_and_what_it_refused_is_counted_by_its_reason(
    host: Host, folder: Path
) -> None:
    sizes = {"mailboxes": 2, "messages": 1, "message_size": "4 kB"}
    with started(host, folder, "dovecot", **sizes, quota=True, quota_size="20 kB") as service:
        to = ("--recipients", "2", "--size", "4096")
        found = load(f"lmtp://{service.listeners['lmtp']}", *to, operations=20)
        stored = messages(folder / "data" / "mail")
        again = load(f"imap://{service.listeners['imap']}", *LOGIN, operations=4)
    assert set(kinds(found)) == {"no_room"}
    assert found["counts"]["ok"] == stored - 2, "each is in a mailbox or was refused"
    assert 2 <= found["counts"]["ok"] < 20, "how exactly a quota is kept is Dovecot's affair"
    assert kinds(found)["no_room"] == 20 - found["counts"]["ok"]
    assert_all_good(again, 4)


@pytest.mark.parametrize("tls", ["implicit", "starttls"])
def test_dovecot_speaks_tls(host: Host, folder: Path, tls: str) -> None:
    with started(host, folder, "dovecot", mailboxes=1, tls=tls) as service:
        assert service.authority is not None
        scheme, words = ("imaps", ()) if tls == "implicit" else ("imap", ("--starttls",))
        trust = (*words, "--cacert", service.authority)
        address = service.listeners["imap"]
        assert_all_good(load(f"{scheme}://{address}", *LOGIN, *trust, operations=10), 10)


def test_postfix_hands_over_to_dovecot_what_it_takes(host: Host, folder: Path) -> None:
    with started(host, folder, "postfix", deliver="dovecot", mailboxes=4) as service:
        assert set(service.listeners) == {"smtp", "imap", "pop3", "lmtp"}
        assert set(service.processes) == {"service", "service.store"}
        assert_all_good(load(f"smtp://{service.address}", *TO, "-c", "2", operations=40), 40)
        stored = folder / "store" / "data" / "mail"
        wait_until(lambda: messages(stored) == 40, lambda: f"{messages(stored)} of 40 delivered")


def test_postfix_upgrades_to_tls_and_throws_away_what_it_takes(host: Host, folder: Path) -> None:
    with started(host, folder, "postfix", tls="starttls") as service:
        assert service.authority is not None
        words = ("--starttls", "--cacert", service.authority)
        assert_all_good(load(f"smtp://{service.address}", *TO, *words, operations=10), 10)
        assert service.listeners == {"smtp": service.address}


@pytest.mark.parametrize(
    ("limit", "words", "where"),
    [
        ("per_client_messages", (), "mail"),
        ("per_client_recipients", (), "rcpt"),
        ("per_client_rate", ("--messages-per-connection", "1"), "banner"),
    ],
)
def test_what_goes_beyond_a_limit_of_postfix_by_the_minute_is_refused_and_told(
    host: Host, folder: Path, limit: str, words: tuple[str, ...], where: str
) -> None:
    """Clients of its own network have no limits unless it is configured so, and here all are."""
    with started(host, folder, "postfix", **{limit: 5}) as service:
        got = load(f"smtp://{service.address}", *TO, *words, operations=12)
    assert got["counts"]["ok"] == 5
    assert got["errors"][where]["smtp_4xx"] == 7


def test_connections_of_a_client_beyond_the_limit_of_postfix_are_refused_and_told(
    host: Host, folder: Path
) -> None:
    with started(host, folder, "postfix", per_client=3) as service:
        got = load(f"smtp://{service.address}", *TO, "-c", "9", operations=60)
    assert got["ramp_errors"]["banner"]["smtp_4xx"] >= 6


def test_exim_stores_what_it_takes(exim_host: Host, folder: Path) -> None:
    with started(exim_host, folder, "exim", deliver="maildir") as service:
        assert_all_good(load(f"smtp://{service.address}", *TO, "-c", "2", operations=20), 20)
        stored = folder / "data" / "mail" / "new"

        def delivered() -> int:
            return len(list(stored.glob("*")))

        wait_until(lambda: delivered() == 20, lambda: f"{delivered()} of 20 delivered")
