"""The commands of Slurm that are used, each with a deadline, and their failures by kind."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from steelyard.errors import HostError
from steelyard.queue.answers import (
    ACCOUNTED_FORM,
    JOB_FORM,
    NODE_FORM,
    Job,
    Node,
    accounted_in,
    architectures_in,
    clock_in,
    jobs_in,
    nodes_in,
)

_TIMEOUT_S = 45.0
"""Slurm itself gives up after some 20 s where its controller is away."""
_LAST_WORDS = 600


class _Kind(NamedTuple):
    """What a complaint of Slurm means, and what to do."""

    slug: str
    hint: str


_AWAY = _Kind(
    slug="queue-is-away",
    hint="look at `scontrol ping`; submit the same again when it answers: what it has already is "
    "found there, and not queued twice",
)
_NO_KEY = _Kind(slug="queue-is-away", hint="start munged here, with the key of the others")
_NOT_TRUSTED = _Kind(
    slug="queue-is-away",
    hint="compare the clock and munge's key with those of the queue: it answers nothing to a "
    "machine that is minutes off, or has another key",
)
_CLOCKS = _Kind(slug="clocks-differ", hint="set the clock of this machine by that of the others")
_SETTING = _Kind(
    slug="queue-refuses", hint="`sinfo -N -o '%N %T %f %G'` lists nodes, features and GRES"
)
_PARTITION = _Kind(
    slug="queue-refuses", hint="`sinfo -s` lists the partitions and their longest times"
)
_RIGHTS = _Kind(
    slug="queue-refuses", hint="ask who keeps the queue for the right to it, or name an --account"
)
_BY_WORDS = (
    ("rewound credential", _CLOCKS),
    ("expired credential", _CLOCKS),
    ("unable to contact slurm controller", _AWAY),
    ("socket timed out", _AWAY),
    ("connection refused", _AWAY),
    ("zero bytes were transmitted", _NOT_TRUSTED),
    ("authentication error", _NO_KEY),
    ("configuration", _SETTING),
    ("feature", _SETTING),
    ("gres", _SETTING),
    ("node name", _SETTING),
    ("partition", _PARTITION),
    ("account", _RIGHTS),
    ("permission", _RIGHTS),
    ("access", _RIGHTS),
)
_CONFIGURATION = "could not establish a configuration source"


class Slurm:
    """Slurm as this machine reaches it."""

    def clock_unix_s(self) -> float | None:
        """The controller's clock now; ``None`` where it does not say.

        Raises:
            HostError: the queue is away.
        """
        return clock_in(_ask("scontrol", "show", "config"))

    def nodes(self) -> list[Node]:
        """Each node in each of its partitions.

        Raises:
            HostError: the queue is away.
        """
        known = architectures_in(_ask("scontrol", "show", "node", "--oneliner"))
        return nodes_in(_ask("sinfo", "-h", "-N", "-o", NODE_FORM), known)

    def host_names(self, names: str) -> tuple[str, ...]:
        """``n[1-3],n7`` as single names; the controller is not asked.

        Raises:
            HostError: it is no list of names.
        """
        return tuple(_ask("scontrol", "show", "hostnames", names).split())

    def jobs(self) -> list[Job]:
        """This user's jobs of ours: those that wait or run, and those that ended lately.

        Raises:
            HostError: the queue is away.
        """
        own = f"--user={os.getuid()}"
        return jobs_in(_ask("squeue", "-h", "--states=all", own, "-o", JOB_FORM))

    def accounted(self, numbers: Iterable[int]) -> list[Job]:
        """What accounting knows of jobs that the controller has forgotten; none without it."""
        wanted = ",".join(map(str, numbers))
        try:
            return accounted_in(_ask("sacct", "-n", "-P", "-X", "-j", wanted, "-o", ACCOUNTED_FORM))
        except HostError:
            return []

    def refuse_impossible(self, options: Sequence[str], script: str) -> None:
        """Has the queue check a job without queueing it.

        Raises:
            HostError: it would refuse the job, or is away.
        """
        _ask("sbatch", "--test-only", *options, stdin=script)

    def queue(self, options: Sequence[str], script: str) -> int:
        """Queues a job; its number.

        Raises:
            HostError: the queue refuses it; or, with the slug ``queue-is-away``, it is not known
                whether it has it.
        """
        said = _ask("sbatch", *options, stdin=script).strip()
        number = said.partition(";")[0]
        if not number.isdecimal():
            raise _away("sbatch", f"it said {said[:80]!r} instead of the number of a job")
        return int(number)

    def drop_pending(self, number: int) -> None:
        """Takes a job off the queue that waits; one that runs is not touched.

        Raises:
            HostError: the queue is away, or the job is another user's.
        """
        _ask("scancel", "--state=PENDING", f"--user={os.getuid()}", str(number))

    def end_running(self, number: int) -> None:
        """SIGTERM to the script of a job that runs, which passes it on to the session.

        Raises:
            HostError: the queue is away, or the job is another user's.
        """
        _ask("scancel", "--batch", "--signal=TERM", str(number))


def _ask(*argv: str, stdin: str = "") -> str:
    environment = {**os.environ, "TZ": "UTC", "SLURM_TIME_FORMAT": "standard"}
    if argv[0] == "sbatch":  # a job has the environment of who submits it
        environment = dict(os.environ)
    try:
        done = subprocess.run(
            argv,
            input=stdin,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_TIMEOUT_S,
            env=environment,
            check=False,
        )
    except FileNotFoundError as error:
        raise HostError(
            f"there is no {argv[0]} on this machine",
            hint="install Slurm's commands (on Debian: apt install slurm-client), or submit where "
            "they are",
            slug="no-slurm",
        ) from error
    except subprocess.TimeoutExpired as error:
        raise _away(argv[0], f"no answer in {_TIMEOUT_S:g} s") from error
    if done.returncode != 0:
        raise _failed(argv[0], done.stderr.strip()[-_LAST_WORDS:])
    return done.stdout


def _failed(tool: str, words: str) -> HostError:
    lower = words.lower()
    if _CONFIGURATION in lower:
        return HostError(
            "Slurm's commands find no configuration on this machine",
            hint="submit from a machine of the cluster, or set SLURM_CONF",
            slug="no-slurm",
        )
    kind = next((kind for said, kind in _BY_WORDS if said in lower), _SETTING)
    last = words.splitlines()[-1].strip() if words else "it said nothing"
    return HostError(f"{tool}: {last}", hint=kind.hint, slug=kind.slug)


def _away(tool: str, why: str) -> HostError:
    return HostError(f"{tool}: {why}", hint=_AWAY.hint, slug=_AWAY.slug)
