"""A service that cannot start says why, and leaves nothing behind."""

from __future__ import annotations

import os
import socket
from imaplib import IMAP4
from pathlib import Path
from poplib import POP3

import pytest

from steelyard.engine.agent import AgentRefusal
from steelyard.hosts.failures import SystemFailure
from steelyard.hosts.host import Host
from steelyard.hosts.undo.log import UndoLog, pending_undos
from steelyard.records.ledger import Ledger
from steelyard.study.model import ServiceSpec
from steelyard.systems import services
from steelyard.systems.services.alias import SOCKET_PATH_BYTES
from tests.integration.services.started import assert_nobody_holds, assert_nothing_is_left, spec_of

ANSWER_S = 120.0

OWN = """\
summary: A server.
speaks: [http]
packages: {{debian: [no-such-package]}}
requires: [{program}]
settings:
  port: {{kind: port, meaning: "port"}}
prepare:
  - {{run: [sh, -c, "{prepare}"]}}
command: [sh, -c, "{command}"]
listeners: {{http: port}}
ready: listening
"""


def skip_if_missing(failure: SystemFailure) -> None:
    if failure.kind == "tool_missing":
        pytest.skip(f"{failure.message}; {failure.hint}")


def own(program: str = "sh", prepare: str = "true", command: str = "sleep 60") -> ServiceSpec:
    text = OWN.format(program=program, prepare=prepare, command=command)
    return ServiceSpec(use="./mine.yaml", settings={"port": None}, text=text)


def test_a_missing_program_is_named_with_the_packages_that_bring_it(
    host: Host, folder: Path
) -> None:
    with pytest.raises(SystemFailure) as failed:
        services.start(host, own("no-such-program"), str(folder), "service")
    assert failed.value.kind == "tool_missing"
    assert "no-such-program" in failed.value.message
    assert "no-such-package" in (failed.value.hint or "")
    assert "image" not in (failed.value.hint or "")


def test_a_command_that_fails_before_the_start_is_named_with_its_last_words(
    host: Host, folder: Path
) -> None:
    with pytest.raises(AgentRefusal, match="exit code 3 and said: alas") as failed:
        services.start(host, own(prepare="echo alas; exit 3"), str(folder), "service")
    assert failed.value.failure.kind == "system"


def test_a_service_that_dies_before_it_listens_is_named_at_once(host: Host, folder: Path) -> None:
    with pytest.raises(AgentRefusal) as failed:
        services.start(host, own(command="echo alas >&2; exit 7"), str(folder), "service")
    assert failed.value.failure.kind == "process_died"
    assert_nobody_holds(folder)


def test_a_port_that_is_in_use_is_reported_and_its_parts_are_ended(
    host: Host, folder: Path
) -> None:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        held.listen()
        port = held.getsockname()[1]
        spec = spec_of("postfix", deliver="dovecot", mailboxes=1, port=port)
        with pytest.raises((AgentRefusal, SystemFailure)) as failed:
            services.start(host, spec, str(folder), "service")
    if isinstance(failed.value, SystemFailure):
        skip_if_missing(failed.value)
    assert isinstance(failed.value, AgentRefusal)
    assert failed.value.failure.kind == "address_in_use"
    assert str(port) in failed.value.failure.message
    assert_nobody_holds(folder)


def test_a_folder_that_the_services_user_cannot_enter_is_refused(
    host: Host, tmp_path: Path
) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root starts services as another user")
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    with pytest.raises(SystemFailure) as failed:
        services.start(host, spec_of("nginx"), str(closed), "service")
    skip_if_missing(failed.value)
    assert "cannot enter" in failed.value.message
    assert failed.value.kind == "no_rights"


def test_a_folder_too_long_for_sockets_gets_a_short_name_that_is_removed(
    host: Host, folder: Path, tmp_path: Path
) -> None:
    long = folder / ("a-long-name-of-a-study-" * 4)
    with Ledger(tmp_path / "ledger.jsonl") as ledger:
        undo = UndoLog(ledger)
        try:
            running = services.start(
                host, spec_of("dovecot", mailboxes=1), str(long), "service", undo=undo
            )
        except SystemFailure as failure:
            pytest.skip(f"{failure.message}; {failure.hint}")
        pending = pending_undos(ledger.events())
        assert [str(each.inverse)[:22] for each in pending] == ["remove the folder /tmp"]
        assert running.alias is not None
        short = Path(running.alias.path)
        assert (short / "dovecot.conf").samefile(long / "dovecot.conf")
        services.stop(running)
        assert pending_undos(ledger.events()) == []
    assert not short.parent.exists()
    assert_nothing_is_left(short, running)


def test_users_of_dovecot_log_in_whatever_the_length_of_its_folder(
    host: Host, folder: Path, tmp_path: Path
) -> None:
    long = folder / ("a-long-name-of-a-study-" * 4)
    with Ledger(tmp_path / "ledger.jsonl") as ledger:
        undo = UndoLog(ledger)
        try:
            running = services.start(
                host, spec_of("dovecot", mailboxes=1, messages=2), str(long), "service", undo=undo
            )
        except SystemFailure as failure:
            skip_if_missing(failure)
            raise
        try:
            assert messages_by_imap(running.listeners["imap"]) == 2
            assert messages_by_pop3(running.listeners["pop3"]) == 2
        finally:
            services.stop(running)


def messages_by_imap(listener: str) -> int:
    address, _, port = listener.rpartition(":")
    with IMAP4(address, int(port), timeout=ANSWER_S) as session:
        session.login("user1", "password1")
        return int((session.select()[1][0] or b"").decode())


def messages_by_pop3(listener: str) -> int:
    address, _, port = listener.rpartition(":")
    session = POP3(address, int(port), timeout=ANSWER_S)
    session.user("user1")
    session.pass_("password1")
    count = session.stat()[0]
    session.quit()
    return count


def test_dovecot_starts_in_a_folder_that_is_too_long_for_its_longest_socket_only(
    host: Host, folder: Path, tmp_path: Path
) -> None:
    shorter = len("/run/anvil-auth-penalty")
    long = folder / ("n" * (SOCKET_PATH_BYTES - shorter - 1 - len(str(folder))))
    with Ledger(tmp_path / "ledger.jsonl") as ledger:
        undo = UndoLog(ledger)
        try:
            running = services.start(
                host, spec_of("dovecot", mailboxes=1), str(long), "service", undo=undo
            )
        except SystemFailure as failure:
            skip_if_missing(failure)
            raise
        assert running.alias is not None
        services.stop(running)


def test_without_a_ledger_a_folder_too_long_for_sockets_is_refused(
    host: Host, folder: Path
) -> None:
    long = folder / ("a-long-name-of-a-study-" * 4)
    with pytest.raises(SystemFailure) as failed:
        services.start(host, spec_of("dovecot"), str(long), "service")
    skip_if_missing(failed.value)
    assert "too long for the unix sockets" in failed.value.message
