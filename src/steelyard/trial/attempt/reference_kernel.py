"""A fixed piece of work on the machine that carries the systems: what is it like just now?

Before every trial it gives the judge a covariate, several in a row before the first trial tell
how small a difference this machine can show at all. It runs on the host and not inside a
system, because what a system does to it would be mistaken for the state of the machine.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from steelyard.errors import HostError
from steelyard.hosts.host import Host
from steelyard.records.events import ReferenceKernelSeries
from steelyard.records.missing import Missing, Quoted, Reason
from steelyard.records.schema import Measured, Outcome
from steelyard.trial.attempt.attempt import Attempt
from steelyard.trial.attempt.outcomes import TrialFailed
from steelyard.trial.session_state.context import SessionContext

REPETITIONS = 24
"""Runs in a row before the first trial: enough to know a noise within about 15 %."""

_PARTS = {
    "reference_kernel.cpu": ("cpu_per_s", "steps/s"),
    "reference_kernel.memory": ("memory_bytes_per_s", "bytes/s"),
    "reference_kernel.disk": ("disk_writes_per_s", "writes/s"),
}
_ALLOWANCE_S = 30.0


def reference_kernel_of(attempt: Attempt) -> dict[str, Measured]:
    """The reference kernel before a trial; nothing when the study has none.

    Raises:
        TrialFailed: the host cannot run it.
    """
    session, host = attempt.session, attempt.host_machine()
    time_s = session.study.trials.reference_kernel_s
    if time_s is None:
        return {}
    with session.interrupt.waiting():
        return run_kernel(host, _folder(session, host), time_s)


def measure_noise_at_rest(session: SessionContext) -> list[ReferenceKernelSeries]:
    """What each host is like at rest, for the ledger: a row per machine and part.

    Raises:
        HostError: a host cannot run it.
        KeyboardInterrupt: the user asks to stop.
    """
    time_s = session.study.trials.reference_kernel_s
    if time_s is None:
        return []
    try:
        return [
            row for name in session.host_machines() for row in _measured_on(session, name, time_s)
        ]
    except TrialFailed as failed:
        raise HostError(
            failed.message, hint=failed.hint or "", slug="reference-kernel-failed"
        ) from failed


def _measured_on(
    session: SessionContext, machine: str, time_s: float
) -> list[ReferenceKernelSeries]:
    host = session.machines.at(machine)
    with session.interrupt.waiting():
        return noise_at_rest(host, _folder(session, host), time_s)


def noise_at_rest(host: Host, folder: str, time_s: float) -> list[ReferenceKernelSeries]:
    """Many runs in a row on one machine: a row per part, with all values.

    Raises:
        TrialFailed: the machine cannot run it.
    """
    runs = [run_kernel(host, folder, time_s) for _ in range(REPETITIONS)]
    return [
        ReferenceKernelSeries(
            machine=host.name,
            part=part,
            values=tuple(one[part].value for one in runs),
            missing=runs[0][part].missing,
        )
        for part in _PARTS
    ]


def run_kernel(host: Host, folder: str, time_s: float) -> dict[str, Measured]:
    """One run, with its disk part in ``folder``, where nothing is left.

    Raises:
        TrialFailed: the machine cannot run it.
    """
    words = [host.engine, "kernel", "reference", "--json"]
    words += [f"--time={round(time_s * 1e9)}ns", f"--folder={folder}"]
    ran = host.run(words, timeout_s=time_s + _ALLOWANCE_S)
    if ran.exit_code != 0:
        raise TrialFailed(
            Outcome.TOOL_FAILED,
            f"the reference kernel on {host.name} failed: {ran.stderr.strip() or 'no output'}",
            "remove `reference_kernel` from `trials`, or fix the cause",
        )
    return read_kernel(json.loads(ran.stdout))


def _folder(session: SessionContext, host: Host) -> str:
    """Where it writes a file without a name: the disk of the records, or that of ``/var/tmp``."""
    if host is not session.local():
        return "/var/tmp"  # noqa: S108 - nothing is left there
    host.make_directory(session.scratch)
    return session.scratch


def read_kernel(document: Mapping[str, object]) -> dict[str, Measured]:
    """The parts of ``schemas/reference-result.schema.json`` as responses of a trial."""
    said = document["disk_refused"]
    missing: Missing = Reason(kind="not_measured")
    if said:
        missing = Quoted(kind="reference_kernel_refused", said=said)
    return {
        name: Measured(
            value=document[key], unit=unit, missing=missing if document[key] is None else None
        )
        for name, (key, unit) in _PARTS.items()
    }
