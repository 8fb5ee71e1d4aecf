"""POP3 and IMAP: against rabid on Dovecot, whose log counts the messages of both sides."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from pathlib import Path

from bench.engine import outputs
from bench.engine.contest import Contest, Shot, per_cpu_at_least
from bench.engine.needs import DOVECOT, RABID, Root
from bench.engine.process import CLIENT_CORE, Unmeasurable, killed, start
from bench.engine.servers import dovecot
from bench.engine.steelyard import run_load

USERS = 8
SESSIONS = 4
MESSAGES_A_SECOND = 150
ENOUGH_SHARE = 0.6
"""rabid draws its users: waiting for the last full mailbox would charge it for empty ones."""
LOG_S = 0.5
HEAD = "From: a@steelyard.test\nTo: b@steelyard.test\nSubject: {0}\nMessage-Id: <{0}@x>\n\n"
BODY = ("x" * 70 + "\n") * 58
NEEDS = (RABID, DOVECOT, Root("dovecot", "run the bench as root"))
POP3 = f"mailboxes of {USERS} users retrieved and deleted, {SESSIONS} sessions, 4 KiB, Dovecot"
IMAP = f"the same messages, here by FETCH, there by POP3 (rabid does not speak IMAP), {SESSIONS} "


def contests() -> list[Contest]:
    """Everything that reading mail is held against."""
    goals = (per_cpu_at_least(3.0),)
    return [
        Contest("pop3", POP3, "rabid", NEEDS, dovecot, ours_pop3, shoot_rabid, goals),
        Contest(
            "imap",
            IMAP + "sessions, Dovecot",
            "rabid",
            NEEDS,
            dovecot,
            ours_imap,
            shoot_rabid,
            goals,
        ),
    ]


def ours_pop3(address: str, seconds: int) -> Shot:
    """One session for each user."""
    folder, pop3, _ = address.split()
    fill(folder, seconds)
    command = ("-c", str(SESSIONS), "-n", str(USERS), "--delete", "1")
    return ours(f"pop3://127.0.0.1:{pop3}", folder, command, outputs.pop3_messages)


def ours_imap(address: str, seconds: int) -> Shot:
    """FETCH after FETCH."""
    folder, _, imap = address.split()
    fill(folder, seconds)
    command = ("-c", str(SESSIONS), "-d", f"{seconds}s")
    return ours(f"imap://127.0.0.1:{imap}", folder, command, outputs.imap_messages)


def ours(url: str, folder: str, options: tuple[str, ...], count: Callable[[str], int]) -> Shot:
    before = log_length(folder)
    login = ("--user", "user{n}", "--password", "secret", "--users", str(USERS))
    begun = time.monotonic()
    _, cpu_s = run_load(url, *login, *options)
    return shot(folder, before, cpu_s, time.monotonic() - begun, count)


def shoot_rabid(address: str, seconds: int) -> Shot:
    """rabid never ends: a signal ends it when most messages are gone."""
    folder, port, _ = address.split()
    fill(folder, seconds)
    before, begun = log_length(folder), time.monotonic()
    wanted = ENOUGH_SHARE * USERS * MESSAGES_A_SECOND * seconds
    command = ["rabid", "-u", "-p", str(SESSIONS), "-r", "100000000"]
    process = start([*command, f"[127.0.0.1]{port}", users(folder)], CLIENT_CORE)
    while time.monotonic() - begun < 10 * seconds + 10 and process.returncode is None:
        time.sleep(0.02)
        if outputs.pop3_messages(log(folder, before)) >= wanted:
            break
    cpu_s, wall_s = killed(process), time.monotonic() - begun
    return shot(folder, before, cpu_s, wall_s, outputs.pop3_messages)


def shot(
    folder: str, before: int, cpu_s: float, wall_s: float, count: Callable[[str], int]
) -> Shot:
    time.sleep(LOG_S)
    messages = count(log(folder, before))
    if messages == 0:
        raise Unmeasurable("Dovecot's log reports no message that was read")
    return Shot(messages, cpu_s, messages / wall_s)


def fill(folder: str, seconds: int) -> None:
    """The same mail for each side: new Maildirs with messages for some seconds."""
    for number in range(1, USERS + 1):
        mailbox = Path(folder) / "mail" / f"user{number}"
        shutil.rmtree(mailbox, ignore_errors=True)
        for name in ("new", "cur", "tmp"):
            (mailbox / name).mkdir(parents=True)
        for message in range(MESSAGES_A_SECOND * seconds):
            text = HEAD.format(message) + BODY
            file = mailbox / "new" / f"{1_700_000_000 + message}.M{message}P1.bench"
            file.write_text(text, encoding="utf-8")
        for path in (mailbox, *mailbox.rglob("*")):
            shutil.chown(path, "mail", "mail")


def users(folder: str) -> str:
    path = Path(folder) / "users"
    names = (f"user{number}@steelyard.test secret\n" for number in range(1, USERS + 1))
    path.write_text("".join(names), encoding="utf-8")
    return str(path)


def log(folder: str, before: int) -> str:
    """What Dovecot wrote since."""
    return (Path(folder) / "dovecot.log").read_text(encoding="utf-8")[before:]


def log_length(folder: str) -> int:
    return len(log(folder, 0))
