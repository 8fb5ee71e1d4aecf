"""A laboratory whose jobs are accounted: slurmdbd and a MariaDB besides, both real."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.platforms.needs import need
from tests.platforms.slurm import TOOLS, Laboratory, running

_TOOLS = ("slurmdbd", "sacct", "sacctmgr", "mariadbd", "mariadb-install-db")
_ACCOUNTING = """\
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=127.0.0.1
AccountingStoragePort=16819
AccountingStoragePass={folder}/munge/socket
MinJobAge=2"""
"""The controller forgets a job 2 s after its end: the least that Slurm takes."""
_DBD = """\
AuthType=auth/munge
AuthInfo=socket={folder}/munge/socket
DbdHost=localhost
DbdAddr=127.0.0.1
DbdPort=16819
SlurmUser=root
StorageType=accounting_storage/mysql
StorageHost=127.0.0.1
StoragePort=13306
StorageUser=slurm
StoragePass=slurm
StorageLoc=slurm
LogFile={folder}/slurmdbd.log
PidFile={folder}/slurmdbd.pid
"""
_FIRST = """\
CREATE DATABASE slurm;
CREATE USER slurm@'%' IDENTIFIED BY 'slurm';
GRANT ALL ON slurm.* TO slurm@'%';
"""
_MARIADB = (
    "--no-defaults", "--user=root", "--bind-address=127.0.0.1", "--port=13306",
    "--skip-name-resolve", "--innodb-lock-wait-timeout=900",
)  # fmt: skip


class Accounted(Laboratory):
    """As any other, with the two daemons before its controller."""

    def before_controller(self) -> None:
        own = self.folder / "accounts"
        own.mkdir()
        first = own / "first.sql"
        first.write_text(_FIRST, encoding="ascii")
        data = [*_MARIADB[:2], f"--datadir={own}/data"]
        made = ["mariadb-install-db", *data, "--auth-root-authentication-method=socket"]
        subprocess.run(made, check=True, capture_output=True)
        places = [f"--socket={own}/socket", f"--pid-file={own}/pid", f"--init-file={first}"]
        data = [*_MARIADB, f"--datadir={own}/data", f"--log-error={own}/log"]
        self.processes["mariadbd"] = self.popen(["mariadbd", *data, *places])
        self.wait_for((own / "socket").exists)
        conf = self.folder / "slurmdbd.conf"
        conf.touch(mode=0o600)
        conf.write_text(_DBD.format(folder=self.folder), encoding="ascii")
        self.processes["slurmdbd"] = self.popen(["slurmdbd", "-D"])
        self.wait_for(self._has_the_cluster)

    def _has_the_cluster(self) -> bool:
        self.ask("sacctmgr", "-i", "add", "cluster", "tests", check=False)
        return "tests" in self.ask("sacctmgr", "-n", "-P", "list", "cluster", check=False)

    def forgets(self, number: int) -> bool:
        """Whether the controller knows the job no more."""
        known = self.ask("squeue", "-h", "--states=all", "-o", "%i").split()
        return str(number) not in known


@contextmanager
def accounted(folder: Path, nodes: dict[str, str]) -> Iterator[Accounted]:
    """Of these nodes with their features; skips where Slurm or its accounting is not installed."""
    need(*TOOLS, *_TOOLS, root=True)
    with running(Accounted(folder, nodes, accounting=_ACCOUNTING.format(folder=folder))) as made:
        assert isinstance(made, Accounted)
        yield made
