"""LMTP, POP3 and IMAP against dovecot, whose mailboxes are looked at on the disk."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from tests.integration.conftest import first_in_every_run
from tests.integration.servers.authority import Authority
from tests.integration.servers.dovecot import Dovecot, dovecot
from tests.integration.servers.engine_load import assert_all_good, kinds, load, refusal

COMMANDS = [
    "select",
    "list",
    "status",
    "fetch_headers",
    "fetch",
    "store",
    "append",
    "search",
    "expunge",
    "idle",
    "noop",
]


_domains = count(1)


@pytest.fixture(scope="module")
def server(shared_folder: Path, authority: Authority) -> Iterator[Dovecot]:
    with dovecot(shared_folder, authority) as started:
        yield started


@pytest.fixture
def store(server: Dovecot) -> Dovecot:
    """The server with mailboxes that no other test has seen."""
    return server.with_domain(f"box{next(_domains)}.test")


def fill(store: Dovecot, messages: int, *words: str) -> dict[str, Any]:
    """Delivers messages to ``user1`` by LMTP, or to whom the words say."""
    to = ("--to-domain", store.domain)
    result = load(store.lmtp, *to, "-c", "2", *words, operations=messages)
    assert_all_good(result, messages)
    return result


@pytest.mark.parametrize("grouping", first_in_every_run(["none", "envelope", "message"]))
@pytest.mark.parametrize("copies", first_in_every_run([1, 3]))
def test_lmtp_delivers_each_message_to_each_recipient(
    store: Dovecot, grouping: str, copies: int
) -> None:
    words = ("--recipients", "5", "--recipients-per-message", str(copies))
    fill(store, 100, *words, "--pipelining", grouping)
    assert len(store.messages()) == 100 * copies


def test_lmtp_by_a_unix_socket_and_in_chunks(store: Dovecot) -> None:
    fill(store, 50, "--unix-socket", str(store.lmtp_socket), "--chunking")
    assert len(store.messages("user1")) == 50


def test_pop3_retrieves_everything_and_deletes_nothing_unasked(store: Dovecot) -> None:
    fill(store, 20)
    result = load(store.pop3, *store.login, "--verify", "-c", "1", operations=5)
    assert_all_good(result, 5)
    assert result["mail"]["retrieved"] == 100
    assert result["mail"]["deleted"] == 0
    assert result["payload"]["checked"] == 100
    assert result["payload"]["corrupted"] == result["payload"]["unmarked"] == 0
    assert len(store.messages()) == 20


@pytest.mark.parametrize(
    "words",
    [(), ("--sizes",), ("--pipeline-messages",), ("--auth", "login"), ("--most-messages", "15")],
    ids=lambda words: " ".join(words) or "UIDL",
)
def test_pop3_deletes_a_share_and_the_mailbox_shrinks(
    store: Dovecot, words: tuple[str, ...]
) -> None:
    fill(store, 40)
    shares = ("--retrieve", "0.5", "--delete", "0.5")
    result = load(store.pop3, *store.login, *shares, "-c", "1", *words, operations=3)
    assert_all_good(result, 3)
    assert result["mail"]["retrieved"] > result["mail"]["deleted"] > 0
    assert len(store.messages()) == 40 - result["mail"]["deleted"]


def test_every_user_has_a_mailbox_of_its_own(store: Dovecot) -> None:
    fill(store, 60, "--recipients", "4")
    words = (*store.login, "--users", "4", "--delete", "1", "-c", "4")
    result = load(store.pop3, *words, operations=40)
    assert_all_good(result, 40)
    assert result["mail"]["deleted"] == 60
    assert store.messages() == []


@pytest.mark.parametrize("protocol", ["pop3", "imap"])
def test_an_upgraded_connection_is_verified(
    store: Dovecot, authority: Authority, protocol: str
) -> None:
    fill(store, 5)
    words = (*store.login, "--starttls", "--cacert", str(authority.certificate), "-c", "1")
    result = load(getattr(store, protocol), *words, operations=10)
    assert_all_good(result, 10)
    assert result["tls"]["verified"] is True


@pytest.mark.parametrize("auth", ["plain", "login"])
@pytest.mark.parametrize("protocol", ["pop3", "imap"])
def test_a_wrong_password_is_reported(store: Dovecot, protocol: str, auth: str) -> None:
    words = ("--user", "user1", "--password", "guess", "--auth", auth)
    assert "auth_fail" in refusal(getattr(store, protocol), *words)


def test_a_user_who_is_not_let_in_is_counted_beside_one_who_is(store: Dovecot) -> None:
    words = ("--user", f"outsider{{n}}@{store.domain}", "--password", "secret", "--users", "2")
    result = load(store.pop3, *words, "-c", "2", operations=20)
    assert result["counts"]["ok"] > 0
    assert set(kinds(result)) == {"auth_fail"}


@pytest.mark.parametrize("word", [*COMMANDS, "session"])
def test_each_command_of_imap_alone(store: Dovecot, word: str) -> None:
    fill(store, 30)
    # two connections may both remove the same message: each is reported OK, and it goes once
    users = "1" if word == "expunge" else "2"
    words = (*store.login, "--command", word, "-c", users, "--idle", "5ms")
    result = load(store.imap, *words, operations=20)
    assert_all_good(result, 20)
    grown = {"append": 20, "expunge": -20}.get(word, 0)
    assert len(store.messages()) == 30 + grown


def test_all_commands_of_imap_in_one_run(store: Dovecot) -> None:
    commands = [word for name in COMMANDS for word in ("--command", name)]
    words = (*store.login, *commands, "--users", "3", "-c", "3", "--commands-per-connection", "9")
    result = load(store.imap, *words, "--idle", "5ms", "--auth", "login", operations=300)
    assert_all_good(result, 300)
    assert set(result["operations"]) == set(COMMANDS)
    appended = result["operations"]["append"]["ok"]
    assert result["mail"]["appended"] == appended
    assert len(store.messages()) >= appended - result["operations"]["expunge"]["ok"]


@pytest.mark.parametrize("size", ["100", "100KiB"])
def test_what_append_stores_comes_back_whole(store: Dovecot, size: str) -> None:
    appended = ("--command", "append", "--append-size", size)
    assert_all_good(load(store.imap, *store.login, *appended, "-c", "2", operations=20), 20)
    read = load(store.imap, *store.login, "--verify", "-c", "2", operations=40)
    assert_all_good(read, 40)
    assert read["payload"]["checked"] == 40
    assert read["payload"]["corrupted"] == read["payload"]["unmarked"] == 0


@pytest.mark.parametrize("protocol", ["pop3", "imap"])
def test_a_message_damaged_on_the_disk_is_counted(store: Dovecot, protocol: str) -> None:
    fill(store, 1)
    (message,) = store.messages()
    content = message.read_bytes()
    head, blank, body = content.partition(b"\n\n")
    assert blank
    message.write_bytes(head + blank + bytes([body[0] ^ 1]) + body[1:])
    result = load(getattr(store, protocol), *store.login, "--verify", "-c", "1", operations=10)
    assert kinds(result) == {"checksum_mismatch": 10}
    assert result["payload"]["corrupted"] == result["payload"]["checked"] == 10
