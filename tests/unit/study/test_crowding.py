"""A load that goes beyond a limit of its server is told before the first trial."""

from __future__ import annotations

from pathlib import Path

import pytest

from steelyard.plan.make import make_plan
from steelyard.plan.words import plan_lines
from steelyard.study import catalogue
from steelyard.study.crowding import crowded
from steelyard.study.model import Study
from steelyard.study.read import read_study_bytes

TEXT = """
study: crowd
question: Who is turned away?
systems:
  one: {{platform: native, service: {service}}}
  two: {{platform: native, service: {service}}}
workload: {workload}
load: {load}
{more}
trials: {{margin: 5 %}}
"""


def study(service: str, workload: str, load: str, more: str = "") -> Study:
    text = TEXT.format(service=service, workload=workload, load=load, more=more)
    return read_study_bytes(text.encode(), Path("study.yaml"))


def limits(read: Study) -> list[tuple[str, int, int]]:
    return [(found.setting, found.limit, found.asked) for found in crowded(read)]


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


def test_a_load_within_the_limits_is_not_spoken_of() -> None:
    assert limits(study("{use: postfix, per_client: 50}", "{use: smtp}", "{users: [50]}")) == []


def test_a_probe_needs_a_place_too() -> None:
    probe = "probe: {use: smtp-probe, every: 1 s}"
    read = study("{use: postfix, per_client: 50}", "{use: smtp}", "{users: [50]}", probe)
    assert limits(read)[0] == ("per_client", 50, 51)


SEVERAL = """
study: crowd
question: Who is turned away?
systems: {{one: {{platform: native}}, two: {{platform: native}}}}
workloads:
  cpu: {{use: sysbench-cpu}}
  parallel: {{use: ftp, clients: [2, 40], service: {{use: vsftpd, clients: {limit}}}}}
trials: {{margin: 5 %}}
"""


def test_the_clients_of_one_of_several_workloads_are_held_against_its_own_server() -> None:
    read = read_study_bytes(SEVERAL.format(limit=30).encode(), Path("study.yaml"))
    found, other = crowded(read)
    assert other.system == "two, parallel"
    assert (found.system, found.setting, found.limit, found.asked) == (
        "one, parallel", "clients", 30, 40,
    )  # fmt: skip
    lines = plan_lines(read, make_plan(read, seed=1))
    assert any("limit" in line and "`clients` 30" in line for line in lines)
    assert crowded(read_study_bytes(SEVERAL.format(limit=40).encode(), Path("study.yaml"))) == []


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


def test_every_crowd_of_the_catalogue_is_a_limit_that_says_what_is_refused() -> None:
    for name in catalogue.names("services"):
        entry = catalogue.service(name)
        assert set(entry.crowds) <= set(entry.limits)
