"""From the submission to postfix to the mailbox of dovecot, and several protocols at once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.integration.servers.authority import Authority
from tests.integration.servers.dovecot import Dovecot, dovecot
from tests.integration.servers.engine_load import assert_all_good, closed, kinds, load, load_job
from tests.integration.servers.nginx import Nginx, logged, nginx
from tests.integration.servers.postfix import Postfix, postfix
from tests.integration.servers.private_server import open_folder, wait_until

LOGIN = {"user": "user{n}@box.test", "password": "secret", "users": 2}
SUBMIT = {"recipients": 2, "recipient_domain": "box.test", "body_bytes": 2000}
MESSAGES = 8


@pytest.fixture(scope="module")
def route(authority: Authority) -> Iterator[tuple[Postfix, Dovecot]]:
    """postfix that hands mail for box.test to dovecot."""
    with ExitStack() as stack:
        store = stack.enter_context(dovecot(stack.enter_context(open_folder()), authority))
        virtual = f"lmtp:inet:127.0.0.1:{store.lmtp_port}"
        folder = stack.enter_context(open_folder())
        yield stack.enter_context(postfix(folder, authority, virtual)), store


@pytest.mark.parametrize("mailbox", ["imap", "pop3"])
@pytest.mark.parametrize("way", ["smtp", "lmtp"])
def test_every_message_is_seen_in_its_mailbox(
    route: tuple[Postfix, Dovecot], tmp_path: Path, way: str, mailbox: str
) -> None:
    mta, store = route
    operation = {
        "protocol": "delivery",
        "submit": SUBMIT,
        "mailbox": getattr(store, mailbox),
        "login": LOGIN,
    }
    target = mta.smtp if way == "smtp" else store.lmtp
    result = load_job(tmp_path, _job(target, operation))
    assert result["errors"] == {}
    assert result["counts"]["ok"] == MESSAGES
    assert result["latency_ns"]["phase.delivered"]["count"] == MESSAGES
    assert store.messages("user?") == []


@pytest.mark.parametrize("mailbox", ["imap", "pop3"])
def test_mail_that_went_through_both_servers_is_whole(
    route: tuple[Postfix, Dovecot], mailbox: str
) -> None:
    mta, store = route[0], route[1].with_domain(f"{mailbox}.box.test")
    to = ("--to-domain", store.domain, "--size", "100:1,60k:1")
    assert_all_good(load(mta.smtp, *to, "-c", "2", operations=20), 20)
    wait_until(lambda: len(store.messages()) == 20, lambda: "postfix does not deliver")
    read = load(getattr(store, mailbox), *store.login, "--verify", "-c", "1", operations=10)
    assert_all_good(read, 10)
    assert read["payload"]["checked"] >= 10
    assert read["payload"]["corrupted"] == read["payload"]["unmarked"] == 0


def test_mail_that_goes_elsewhere_is_not_seen(
    route: tuple[Postfix, Dovecot], tmp_path: Path
) -> None:
    mta, store = route
    operation = {
        "protocol": "delivery",
        "submit": {**SUBMIT, "recipient_domain": "mail.test"},  # postfix discards it
        "mailbox": store.imap,
        "login": LOGIN,
    }
    job = {**_job(mta.smtp, operation), "operations": 2, "timeout_ns": 300_000_000}
    result = load_job(tmp_path, job)
    assert kinds(result) == {"recv_timeout": 2}
    assert set(result["errors"]) == {"delivered"}


def test_several_protocols_at_once(
    route: tuple[Postfix, Dovecot], tmp_path: Path, folder: Path, authority: Authority
) -> None:
    mta, store = route
    before = mta.accepted()
    with nginx(folder, authority) as web:
        result = load_job(tmp_path, _mix(web, mta, store))
    parts = result["parts"]
    assert set(parts) == {"web", "mail", "store", "mailbox"}
    assert result["errors"] == {}
    assert all(part["counts"]["ok"] > 0 for part in parts.values())
    assert result["counts"]["ok"] == sum(part["counts"]["ok"] for part in parts.values())
    assert len(logged(folder)) >= parts["web"]["counts"]["ok"]
    assert mta.accepted() - before >= parts["mail"]["counts"]["ok"]
    assert len(store.messages("mixed1")) >= parts["store"]["counts"]["ok"]


def _job(target: str, operation: dict[str, Any]) -> dict[str, Any]:
    return {"target": target, "mode": closed(2), "operation": operation, "operations": MESSAGES}


def _mix(web: Nginx, mta: Postfix, store: Dovecot) -> dict[str, Any]:
    mail = {"protocol": "smtp", "recipient_domain": "mail.test"}
    delivered = {"protocol": "smtp", "recipient_list": ["mixed1@box.test"]}
    login = {"user": "mixed{n}@box.test", "password": "secret"}
    parts = [
        _part("web", f"{web.clear}/index.html", {"protocol": "http"}),
        _part("mail", mta.smtp, mail),
        _part("store", store.lmtp, delivered),
        _part("mailbox", store.imap, {"protocol": "imap", "login": login}),
    ]
    operation = {"protocol": "mix", "parts": parts}
    return {
        "target": "mix",
        "mode": closed(8),
        "operation": operation,
        "threads": len(parts),
        "duration_ns": 500_000_000,
    }


def _part(name: str, target: str, operation: dict[str, Any]) -> dict[str, Any]:
    return {"name": name, "weight": 1.0, "target": target, "operation": operation}
