"""A load that goes beyond a limit of its server is reported before the first trial."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from steelyard.plan.limit_words import exceeded_text
from steelyard.plan.make import make_plan
from steelyard.plan.words import plan_lines
from steelyard.study import catalogue
from steelyard.study.checks.server_limits import exceeded_limits
from steelyard.study.model import Study
from steelyard.study.read import read_study_bytes

TEXT = """
study: limits
question: Who is turned away?
systems:
  one: {{platform: native, service: {service}}}
  two: {{platform: native, service: {service}}}
workload: {workload}
load: {load}
{more}
trials: {{margin: 5 %, window: {window}}}
"""


def study(service: str, workload: str, load: str, more: str = "", *, window: str = "10 s") -> Study:
    text = TEXT.format(service=service, workload=workload, load=load, more=more, window=window)
    return read_study_bytes(text.encode(), Path("study.yaml"))


def limits(read: Study) -> list[tuple[str, int, float | None]]:
    return [(found.setting, found.limit, found.asked) for found in exceeded_limits(read)]


@pytest.mark.parametrize(
    ("service", "workload", "load", "expected"),
    [
        (
            "{use: postfix, per_client: 50}",
            "{use: smtp}",
            "{users: [10, 60]}",
            ("per_client", 50, 60),
        ),
        ("{use: apache, requests: 400}", "{use: http}", "{users: [1000]}", ("requests", 400, 1000)),
        ("{use: vsftpd, per_address: 10}", "{use: ftp}", "{users: [70]}", ("per_address", 10, 70)),
        ("{use: vsftpd, clients: 10}", "{use: ftp}", "{users: [11]}", ("clients", 10, 11)),
        (
            "{use: nginx, connections: 100}",
            "{use: http}",
            "{users: [10, 1000]}",
            ("connections", 100, 1002),
        ),
        ("{use: samba, clients: 12}", "{use: tcp-connect}", "{users: [11]}", ("clients", 12, 13)),
        (
            "{use: sftp, unauthenticated: 10}",
            "{use: tcp-connect}",
            "{users: [11]}",
            ("unauthenticated", 10, 11),
        ),
        ("{use: exim, clients: 20}", "{use: smtp}", "{rate: [5]}", ("clients", 20, 64)),
        (
            "{use: dovecot, per_user: 10}",
            "{use: imap, logins: 2}",
            "{users: [30]}",
            ("per_user", 10, 15),
        ),
        (
            "{use: postfix, largest: 10 kB}",
            "{use: smtp, body: 4 kB, attachment: 9 kB}",
            "{users: [1]}",
            ("largest", 10_000, 16_316),
        ),
    ],
)
def test_each_limit_is_held_against_what_it_counts(
    service: str, workload: str, load: str, expected: tuple[str, int, int]
) -> None:
    assert limits(study(service, workload, load)) == [expected, expected]


BY_THE_MINUTE = "{{use: postfix, {setting}: {limit}}}"


@pytest.mark.parametrize(
    ("setting", "workload", "load", "asked"),
    [
        ("per_client_messages", "{use: smtp}", "{rate: [1, 5]}", 300),
        ("per_client_recipients", "{use: smtp, recipients_per_message: 3}", "{rate: [5]}", 900),
        ("per_client_rate", "{use: smtp, messages_per_connection: 2}", "{rate: [5]}", 150),
        ("per_client_rate", "{use: smtp}", "{users: [60]}", 60),
        ("per_client_rate", "{use: smtp-probe}", "{rate: [2]}", 120),
        ("per_client_messages", "{use: smtp}", "{users: [2], think: 3 s}", 40),
        ("per_client_messages", "{use: smtp, messages: 20 per user}", "{users: [2]}", 40),
        ("per_client_messages", "{use: smtp}", "{users: [1]}", math.inf),
        ("per_client_rate", "{use: smtp, messages_per_connection: 9}", "{users: [1]}", math.inf),
        ("per_client_messages", "{use: smtp-source, messages: 80}", "{users: [4]}", 80),
        ("per_client_rate", "{use: smtp-source, messages: 80}", "{users: [4]}", 80),
        ("per_client_messages", "{use: postal, pace: 90}", "{users: [4]}", 90),
    ],
)
def test_a_limit_by_the_minute_is_held_against_what_comes_in_one(
    setting: str, workload: str, load: str, asked: float
) -> None:
    def with_limit(limit: float) -> Study:
        service = BY_THE_MINUTE.format(setting=setting, limit=limit)
        return study(service, workload, load, window="2 min")

    least = 10 if math.isinf(asked) else asked - 1
    assert limits(with_limit(least)) == [(setting, least, asked)] * 2
    enough = 0 if math.isinf(asked) else asked
    assert limits(with_limit(enough)) == []


def test_a_short_trial_brings_no_more_than_it_lasts() -> None:
    service = "{use: postfix, per_client_messages: 29}"
    read = study(service, "{use: smtp}", "{rate: [3]}", window="8 s")
    assert limits(read)[0] == ("per_client_messages", 29, 30), "of 8 s and 2 s of warm-up"


def test_probes_count_in_the_minute_as_they_come_from_the_same_address() -> None:
    service = "{use: postfix, per_client_messages: 61, per_client_rate: 61}"
    probe = "latency_probe: {use: smtp-probe, every: 1 s}"
    read = study(service, "{use: smtp}", "{users: [2], think: 60 s}", probe, window="2 min")
    assert limits(read)[:2] == [("per_client_rate", 61, 62), ("per_client_messages", 61, 62)]


@pytest.mark.parametrize(
    ("service", "workload", "users"),
    [
        ("{use: nginx, connections: 102}", "{use: http}", 100),
        ("{use: samba, clients: 13}", "{use: tcp-connect}", 11),
        ("{use: sftp, unauthenticated: 11, sessions: 1}", "{use: tcp-connect}", 11),
    ],
)
def test_a_server_that_has_room_for_all_is_not_called_too_small(
    service: str, workload: str, users: int
) -> None:
    assert limits(study(service, workload, f"{{users: [{users}]}}")) == []


@pytest.mark.parametrize(
    ("service", "workload", "told"),
    [
        (
            "{use: nginx, connections: 100}",
            "{use: http}",
            (
                "the load has 1,002 connections with the server's own two, `connections` of nginx "
                "allows 100: a worker closes connections beyond it, also while others have room; "
                "set `service: {connections: 1002}`"
            ),
        ),
        (
            "{use: samba, clients: 100}",
            "{use: tcp-connect}",
            (
                "`clients` of samba allows 100: further connections are closed at once; "
                "set `service: {clients: 1002}`"
            ),
        ),
        (
            "{use: sftp, unauthenticated: 10}",
            "{use: tcp-connect}",
            (
                "the load has up to 1,000 logins at once, `unauthenticated` of sftp allows 10: "
                "further connections are closed before they log in; set `service: {unauth"
            ),
        ),
    ],
)
def test_the_plan_says_of_each_server_what_becomes_of_a_thousand_users(
    service: str, workload: str, told: str
) -> None:
    read = study(service, workload, "{users: [1000]}")
    lines = [line for line in plan_lines(read, make_plan(read, seed=1)) if "too small" in line]
    assert len(lines) == 2
    assert told in lines[0]


def test_a_tool_without_a_load_is_one_client() -> None:
    text = SEVERAL.replace(
        "{{use: ftp, clients: [2, 40], service: {{use: vsftpd, clients: {limit}}}}}",
        "{{use: smbclient, service: {{use: samba, clients: {limit}}}}}",
    )
    (found, _) = exceeded_limits(
        read_study_bytes(text.format(limit=2).encode(), Path("study.yaml"))
    )
    assert (found.asked, found.limit) == (3, 2)


def test_a_minute_is_reported_as_the_plan_knows_it() -> None:
    def told(load: str) -> str:
        found = exceeded_limits(
            study("{use: postfix, per_client_messages: 7}", "{use: smtp}", load)
        )
        return exceeded_text(found[0])

    assert "the load has as many messages a minute as are answered" in told("{users: [3]}")
    assert "the load has up to 36 messages a minute" in told("{users: [3], think: 1 s}")
    assert "the load has 24 messages a minute, `per_client_messages` of" in told("{rate: [2]}")
    assert "allows 7: further messages of a client are refused with 450" in told("{rate: [2]}")
    assert "set `service: {per_client_messages: 0}`" in told("{rate: [2]}")


def test_limits_of_a_mail_server_are_not_held_against_those_who_read_from_its_store() -> None:
    service = "{use: postfix, deliver: dovecot, per_client: 1, per_client_rate: 1}"
    assert limits(study(service, "{use: imap}", "{users: [9]}")) == []


def test_a_load_within_the_limits_is_not_spoken_of() -> None:
    assert limits(study("{use: postfix, per_client: 50}", "{use: smtp}", "{users: [50]}")) == []


def test_a_probe_needs_a_place_too() -> None:
    probe = "latency_probe: {use: smtp-probe, every: 1 s}"
    read = study("{use: postfix, per_client: 50}", "{use: smtp}", "{users: [50]}", probe)
    assert limits(read)[0] == ("per_client", 50, 51)


SEVERAL = """
study: limits
question: Who is turned away?
systems: {{one: {{platform: native}}, two: {{platform: native}}}}
workloads:
  cpu: {{use: sysbench-cpu}}
  parallel: {{use: ftp, clients: [2, 40], service: {{use: vsftpd, clients: {limit}}}}}
trials: {{margin: 5 %}}
"""


def test_the_clients_of_one_of_several_workloads_are_held_against_its_own_server() -> None:
    read = read_study_bytes(SEVERAL.format(limit=30).encode(), Path("study.yaml"))
    found, other = exceeded_limits(read)
    assert other.system == "two, parallel"
    assert (found.system, found.setting, found.limit, found.asked) == (
        "one, parallel", "clients", 30, 40,
    )  # fmt: skip
    lines = plan_lines(read, make_plan(read, seed=1))
    assert any("limit" in line and "`clients` 30" in line for line in lines)
    assert (
        exceeded_limits(read_study_bytes(SEVERAL.format(limit=40).encode(), Path("study.yaml")))
        == []
    )


def test_zero_is_no_limit() -> None:
    assert limits(study("{use: vsftpd, clients: 0}", "{use: ftp}", "{users: [500]}")) == []


def test_a_limit_that_is_a_factor_is_held_against_at_its_smallest() -> None:
    more = "factors: {service.per_client: [0, 20, 80]}"
    read = study("{use: postfix}", "{use: smtp}", "{users: [60]}", more)
    assert limits(read)[0] == ("per_client", 20, 60)


def test_the_plan_says_which_limit_how_large_and_what_to_set() -> None:
    read = study("{use: postfix, per_client: 50}", "{use: smtp}", "{users: [60]}")
    lines = [line for line in plan_lines(read, make_plan(read, seed=1)) if "too small" in line]
    assert len(lines) == 2
    assert "the load has 60 connections, `per_client` of postfix allows 50" in lines[0]
    assert "refused with 421" in lines[0]
    assert "set `service: {per_client: 60}`" in lines[0]


def test_every_load_limit_of_the_catalogue_is_a_limit_that_says_what_is_refused() -> None:
    for name in catalogue.names("services"):
        entry = catalogue.service(name)
        assert set(entry.load_limits) <= set(entry.limits)
