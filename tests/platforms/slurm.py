"""A laboratory with a queue out of one machine: slurmctld and a slurmd for each node, all real.

They stand in a network namespace with nothing but loopback, since Slurm listens on all addresses.
Each slurmd has a mount namespace with a ``boot_id`` and a lease folder of its own, so that what it
starts is held as on a machine by itself. Killed daemons are started again in the same places.
"""

from __future__ import annotations

import os
import subprocess
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from tests.platforms.loops import RELEASE
from tests.platforms.needs import need

TOOLS = ("slurmctld", "slurmd", "sbatch", "munged", "ip", "unshare", "nsenter", "setpriv")
_CONF = """\
ClusterName=tests
SlurmctldHost=localhost(127.0.0.1)
SlurmctldPort=16817
AuthType=auth/munge
AuthInfo=socket={folder}/munge/socket
CryptoType=crypto/munge
SlurmUser=root
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/%n/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/%n/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/%n/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
SlurmdTimeout=300
SchedulerParameters=sched_interval=1,bf_interval=1
SelectType=select/linear
JobAcctGatherType=jobacct_gather/none
{accounting}
GresTypes=board
{nodes}
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
PartitionName=short Nodes=ALL MaxTime=1 State=UP
"""
_NO_ACCOUNTING = "AccountingStorageType=accounting_storage/none"
_NODE = (
    "NodeName={name} NodeHostname=localhost NodeAddr=127.0.0.1 Port={port} CPUs={cpus} "
    "SocketsPerBoard=1 CoresPerSocket={cpus} ThreadsPerCore=1 "
    "Feature={features} Gres=board:1 State=UNKNOWN"
)
_OWN_MACHINE = RELEASE + (
    'mount --bind "$1" /proc/sys/kernel/random/boot_id && mount --bind "$2" /run/lock && '
    'shift 2 && exec "$@"'
)
_NETWORK = "ip link set lo up && ip address add 10.0.0.1/32 dev lo"
"""With an address besides 127.0.0.1, without which getaddrinfo finds none to be configured."""
_WHOLE = {"idle", "allocated", "mixed", "completing"}
_READY_S = 60.0


@dataclass
class Laboratory:
    """``nodes``: the features of each by its name; ``processes`` the daemons that run now.

    ``accounting`` are lines of its configuration.
    """

    folder: Path
    nodes: dict[str, str]
    accounting: str = _NO_ACCOUNTING
    processes: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)
    _holder: subprocess.Popen[bytes] | None = None

    @property
    def environment(self) -> dict[str, str]:
        return {**os.environ, "SLURM_CONF": str(self.folder / "slurm.conf"), "TZ": "UTC"}

    def inside(self, argv: Sequence[str], user: str | None = None) -> list[str]:
        """The command in the network of the laboratory, as another user if one is named."""
        assert self._holder is not None
        enter = ["nsenter", f"--net=/proc/{self._holder.pid}/ns/net", "--"]
        own = ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups", "--"]
        return [*enter, *(own if user else []), *argv]

    def ask(self, *argv: str, user: str | None = None, check: bool = True) -> str:
        """What a command of Slurm prints."""
        done = subprocess.run(
            self.inside(argv, user),
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=120,
            check=check,
        )
        return done.stdout

    def begin(self) -> None:
        """Makes namespaces and starts all daemons; returns when every node is idle."""
        self._holder = subprocess.Popen(
            ["unshare", "--net", "sh", "-c", f"{_NETWORK} && echo up && exec sleep infinity"],
            stdout=subprocess.PIPE,
        )
        assert self._holder.stdout is not None
        with self._holder.stdout as said:
            assert said.readline() == b"up\n"
        self._write()
        self._start_munged()
        self.before_controller()
        self.start("slurmctld")
        for name in self.nodes:
            self.start(name)
        self.wait_for(self.is_whole)

    def before_controller(self) -> None:
        """What the controller needs besides."""

    def start(self, name: str) -> None:
        """``slurmctld``, or the slurmd of a node."""
        ran = self.processes.get(name)
        if ran is not None:
            ran.wait()
        argv = ["slurmctld", "-D"]
        if name != "slurmctld":
            argv = self.on_node(name, ["slurmd", "-D", "-N", name])
        self.processes[name] = self.popen(argv)

    def on_node(self, name: str, argv: Sequence[str]) -> list[str]:
        """The command with the ``boot_id`` and the lease folder of a node."""
        own = self.folder / name
        enter = ["unshare", "--mount", "--propagation", "private", "sh", "-c", _OWN_MACHINE]
        return [*enter, "sh", str(own / "boot_id"), str(own / "lock"), *argv]

    def kill(self, name: str) -> None:
        """As a crash does; what it started goes on."""
        self.processes[name].kill()
        self.processes[name].wait()

    def stop(self, name: str) -> None:
        """As an operator does: it keeps what it knows, of jobs that just ended too."""
        self.processes[name].terminate()
        self.processes[name].wait()

    def states(self) -> dict[str, str]:
        """Of each node that is there; none while the controller is away."""
        try:
            lines = self.ask("sinfo", "-h", "-N", "-p", "all", "-o", "%N %T").splitlines()
        except subprocess.CalledProcessError:
            return {}
        return {name: state for name, _, state in (line.partition(" ") for line in lines)}

    def is_whole(self) -> bool:
        """Whether the controller is there, and all nodes have spoken to it."""
        states = self.states()
        return states.keys() == self.nodes.keys() and set(states.values()) <= _WHOLE

    def put_back(self) -> int:
        """What an operator does where Slurm drained nodes: it does where it starts a job twice."""
        drained = [name for name, state in self.states().items() if state.startswith("drain")]
        for name in drained:
            # One that came back in between has nothing to resume, which scontrol calls an error.
            with suppress(subprocess.CalledProcessError):
                self.ask("scontrol", "update", f"nodename={name}", "state=resume")
        return len(drained)

    def is_mended(self) -> bool:
        """Of one that was killed: it forgets what it had not saved, such as a node put back."""
        return self.put_back() == 0 and self.is_whole()

    def wait_for(self, is_so: Callable[[], bool], within_s: float = _READY_S) -> None:
        """Looks again and again."""
        until_s = time.monotonic() + within_s
        while not is_so():
            assert time.monotonic() < until_s, self.logs()
            time.sleep(0.1)

    def logs(self) -> str:
        """The end of each log, for a test that fails."""
        found = [self.folder / "slurmctld.log", *self.folder.glob("*/slurmd.log")]
        return "\n".join(f"{p}:\n{p.read_text()[-1500:]}" for p in found if p.exists())

    def end(self) -> None:
        """Ends all that it started, jobs first."""
        if self._holder is None:
            return
        if "slurmctld" in self.processes and self.states():
            subprocess.run(
                self.inside(["scancel", "--full", "--signal=KILL", "--user=root"]),
                env=self.environment, check=False, capture_output=True,
            )  # fmt: skip
        for process in reversed(self.processes.values()):
            process.kill()
            process.wait()
        self._holder.kill()
        self._holder.wait()

    def _write(self) -> None:
        self.folder.chmod(0o755)
        (self.folder / "state").mkdir()
        lines = []
        for number, (name, features) in enumerate(self.nodes.items()):
            own = self.folder / name
            (own / "spool").mkdir(parents=True)
            (own / "lock").mkdir()
            (own / "lock").chmod(0o1777)
            (own / "boot_id").write_text(f"{uuid.uuid4()}\n", encoding="ascii")
            cpus = len(os.sched_getaffinity(0))
            port = 17001 + number
            lines.append(_NODE.format(name=name, port=port, cpus=cpus, features=features))
        conf = _CONF.format(folder=self.folder, nodes="\n".join(lines), accounting=self.accounting)
        (self.folder / "slurm.conf").write_text(conf, encoding="utf-8")
        (self.folder / "gres.conf").write_text("Name=board Count=1\n", encoding="utf-8")

    def _start_munged(self) -> None:
        own = self.folder / "munge"
        own.mkdir()
        key = own / "key"
        key.write_bytes(os.urandom(128))
        key.chmod(0o600)
        options = {
            "key-file": key,
            "socket": own / "socket",
            "pid-file": own / "pid",
            "log-file": own / "log",
            "seed-file": own / "seed",
        }
        argv = [f"--{name}={path}" for name, path in options.items()]
        self.processes["munged"] = self.popen(["munged", "--foreground", "--force", *argv])
        self.wait_for((own / "socket").exists)

    def popen(self, argv: Sequence[str]) -> subprocess.Popen[bytes]:
        """A daemon in the network of the laboratory."""
        return subprocess.Popen(
            self.inside(argv),
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )


@contextmanager
def laboratory(folder: Path, nodes: dict[str, str]) -> Iterator[Laboratory]:
    """Of these nodes with their features; skips where Slurm is not installed."""
    need(*TOOLS, root=True)
    with running(Laboratory(folder, nodes)) as made:
        yield made


@contextmanager
def running(made: Laboratory) -> Iterator[Laboratory]:
    """It, from the first of its daemons to the last."""
    try:
        made.begin()
        yield made
    finally:
        made.end()
