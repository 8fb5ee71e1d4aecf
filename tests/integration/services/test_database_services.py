"""Databases of the catalogue really start, are as durable as asked, and are measured."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from steelyard.hosts.host import Host
from steelyard.systems.services import RunningService
from tests.integration.servers.private_server import require_program
from tests.integration.services.measured import measured, value
from tests.integration.services.started import started

SERVERS: dict[str, dict[str, Any]] = {
    "postgresql": {"shared_buffers": "16 MiB", "wal_size": "64 MiB"},
    "mariadb": {"buffer_pool": "16 MiB", "log_size": "8 MiB"},
    "redis": {},
    "memcached": {},
}
STORES = {
    "redis": ("redis-server", "redis-server"),
    "valkey": ("valkey-server", "valkey-server, from Debian 13 on"),
}
SMALL: dict[str, dict[str, Any]] = {
    "pgbench": {"scale": 1},
    "sysbench-oltp": {"tables": 1, "rows": 1000},
}
FEW = {"requests": 200}
"""A percentile needs more; fewer are soon sent on a busy machine."""


def parts(service: RunningService) -> tuple[str, str]:
    address, _, port = service.address.rpartition(":")
    return address, port


def asked(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(words, capture_output=True, text=True, check=False, timeout=60)


def sql(service: RunningService, query: str, user: str = "steelyard", to: str = "steelyard") -> str:
    """What PostgreSQL answers, or its complaint."""
    psql = require_program("psql", "postgresql-client")
    address, port = parts(service)
    done = asked(psql, "-h", address, "-p", port, "-U", user, "-Atc", query, to)
    return (done.stdout + done.stderr).strip()


def assert_measured(read: dict[str, Any]) -> None:
    assert value(read, "throughput") > 0
    assert 0 < value(read, "response.mean") <= value(read, "response.max")


@pytest.mark.parametrize(
    "test", ["tpcb-like", pytest.param("select-only", marks=pytest.mark.extended)]
)
def test_pgbench_drives_postgresql(host: Host, folder: Path, test: str) -> None:
    with started(host, folder, "postgresql", **SERVERS["postgresql"]) as service:
        read = measured(host, folder, "pgbench", service, test=test, **SMALL["pgbench"])
    assert_measured(read)
    assert value(read, "errors") == 0
    assert value(read, "response.p50") <= value(read, "response.max")


@pytest.mark.extended
def test_pgbench_keeps_its_pace_and_leaves_percentiles_out_where_nothing_is_logged(
    host: Host, folder: Path
) -> None:
    slow = {"pace": 20, "log": False, "connect": True, **SMALL["pgbench"]}
    with started(host, folder, "postgresql", **SERVERS["postgresql"]) as service:
        read = measured(host, folder, "pgbench", service, **slow)
    assert 0 < value(read, "throughput") < 100
    assert read["response.p50"].value is None


@pytest.mark.parametrize(
    ("server", "database"),
    [("mariadb", "mysql"), pytest.param("postgresql", "postgresql", marks=pytest.mark.extended)],
)
def test_sysbench_drives_both_relational_databases(
    host: Host, folder: Path, server: str, database: str
) -> None:
    with started(host, folder, server, **SERVERS[server]) as service:
        asked_for = {"database": database, **SMALL["sysbench-oltp"]}
        read = measured(host, folder, "sysbench-oltp", service, **asked_for)
    assert_measured(read)
    assert value(read, "sysbench.oltp.queries") > value(read, "throughput")


@pytest.mark.parametrize("test", ["get", pytest.param("zadd", marks=pytest.mark.extended)])
@pytest.mark.parametrize("store", ["redis", "valkey"])
def test_redis_benchmark_drives_redis_and_valkey(
    host: Host, folder: Path, store: str, test: str
) -> None:
    require_program(*STORES[store])
    with started(host, folder, store) as service:
        read = measured(host, folder, "redis-benchmark", service, beyond=FEW, test=test, keys=100)
    assert_measured(read)


def test_memaslap_drives_memcached_and_finds_what_it_wrote(host: Host, folder: Path) -> None:
    with started(host, folder, "memcached") as service:
        read = measured(host, folder, "memaslap", service)
    assert_measured(read)
    assert value(read, "memaslap.misses") == 0


@pytest.mark.extended
@pytest.mark.parametrize(
    ("sync", "kept"),
    [("always", "on on"), ("second", "on off"), ("never", "off off")],
)
def test_postgresql_forces_commits_to_the_disk_as_asked(
    host: Host, folder: Path, sync: str, kept: str
) -> None:
    with started(host, folder, "postgresql", sync=sync, **SERVERS["postgresql"]) as service:
        names = ("fsync", "synchronous_commit")
        assert " ".join(sql(service, f"SHOW {name}") for name in names) == kept


@pytest.mark.extended
@pytest.mark.parametrize(("sync", "kept"), [("always", "1 fsync"), ("never", "2 nosync")])
def test_mariadb_forces_commits_to_the_disk_as_asked(
    host: Host, folder: Path, sync: str, kept: str
) -> None:
    client = require_program("mariadb", "mariadb-client-core")
    with started(host, folder, "mariadb", sync=sync, **SERVERS["mariadb"]) as service:
        address, port = parts(service)
        query = "SELECT @@innodb_flush_log_at_trx_commit, @@innodb_flush_method"
        words = ("--host", address, "--port", port, "--user", "steelyard", "--skip-column-names")
        said = asked(client, *words, "--execute", query).stdout.split()
    first, method = kept.split()
    assert said[0] == first
    assert (said[1] == "nosync") == (method == "nosync")


@pytest.mark.parametrize(
    ("sync", "kept"),
    [("none", "no"), pytest.param("always", "yes always", marks=pytest.mark.extended)],
)
@pytest.mark.parametrize("store", ["redis", "valkey"])
def test_redis_and_valkey_log_as_asked_and_refuse_changes_of_their_settings(
    host: Host, folder: Path, store: str, sync: str, kept: str
) -> None:
    require_program(*STORES[store])
    client = require_program("redis-cli", "redis-tools")
    with started(host, folder, store, sync=sync) as service:
        address, port = parts(service)

        def said(*words: str) -> str:
            return asked(client, "-h", address, "-p", port, *words).stdout

        logged, forced = (
            said("config", "get", name).split()[1] for name in ("appendonly", "appendfsync")
        )
        assert kept in (logged, f"{logged} {forced}")
        assert "NOPERM" in said("config", "set", "appendonly", "no")


def test_only_one_database_of_postgresql_can_be_reached_and_no_program_be_run(
    host: Host, folder: Path
) -> None:
    with started(host, folder, "postgresql", **SERVERS["postgresql"]) as service:
        assert "no pg_hba.conf entry" in sql(service, "SELECT 1", user="postgres")
        assert "no pg_hba.conf entry" in sql(service, "SELECT 1", to="postgres")
        assert sql(service, "SHOW is_superuser") == "off"
