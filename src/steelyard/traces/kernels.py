"""What one short trial of a bank is: a computation, or a load on a server of the engine's own."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal

from steelyard.engine.agent import AgentRefusal
from steelyard.engine.messages import LoadResult, Ran
from steelyard.errors import HostError
from steelyard.hosts.host import Host
from steelyard.records.missing import MissingKind, Reading, Reason
from steelyard.report.notes.missing import missing_text
from steelyard.study import catalogue
from steelyard.trial.observe.responses import throughput_of
from steelyard.workloads.tools.alone import measured_alone, words_alone

_TRIAL_TIMEOUT_S = 60.0
_READY_TIMEOUT_S = 10.0
_GRACE_S = 5.0
_SERVER = "trace"
_NONE = Reason(kind="not_measured")

ENGINE = "@engine"
Command = list[str]


@dataclass(frozen=True)
class Kernel:
    """What is measured again and again.

    ``command`` takes the address of the server, empty without one; ``server`` takes the scratch
    folder and gives the arguments of the engine's ``sink``.
    """

    unit: str
    command: Callable[[str], Command]
    figure: Callable[[str], Reading]
    about: str
    server: Callable[[str], Command] | None = None
    direction: Literal["higher"] = "higher"


def _computed(use: str, chosen: Mapping[str, Any]) -> Callable[[str], Reading]:
    def figure(stdout: str) -> Reading:
        measured = measured_alone(use, chosen, stdout)[catalogue.workload(use).primary]
        return measured.value if measured.value is not None else measured.missing or _NONE

    return figure


def _computing(use: str, chosen: Mapping[str, Any]) -> Callable[[str], Command]:
    return lambda _address: words_alone(use, chosen)


def _answered(stdout: str) -> Reading:
    return throughput_of(LoadResult.model_validate_json(stdout))


def _load(scheme: str, users: int, window: str) -> Callable[[str], Command]:
    def command(address: str) -> Command:
        words = ["load", f"{scheme}://{address}", "-c", str(users), "-d", window]
        return [ENGINE, *words, "--warmup", "10ms", "--json"]

    return command


_LINPACK = {"repeats": 3, "n": 500}
_TRIAD = {"operation": "triad", "blocks": 32 * 1024**2, "test": "float", "repeats": 1}


def _maildir(folder: str) -> Command:
    store = ["--store", "maildir", "--folder", folder, "--sync", "each-message"]
    return [ENGINE, "sink", "smtp", *store]


KERNELS: dict[str, Kernel] = {
    "cpu": Kernel(
        unit="GFLOP/s",
        command=_computing("linpack", _LINPACK),
        figure=_computed("linpack", _LINPACK),
        about="linpack, 500 unknowns, one thread, median of 3: about 20 ms",
    ),
    "memory": Kernel(
        unit="bytes/s",
        command=_computing("ram", _TRIAD),
        figure=_computed("ram", _TRIAD),
        about="triad on three arrays of 32 MiB, one thread: about 60 ms",
    ),
    "loopback": Kernel(
        unit="operations/s",
        command=_load("http", users=4, window="60ms"),
        figure=_answered,
        about="4 users ask the engine's own HTTP server over loopback for 60 ms",
        server=lambda _folder: [ENGINE, "sink", "http"],
    ),
    "disk": Kernel(
        unit="operations/s",
        command=_load("smtp", users=2, window="100ms"),
        figure=_answered,
        about="2 users send mail that is synced to a Maildir before it is accepted, for 100 ms",
        server=_maildir,
    ),
}


@contextmanager
def trials_of(kernel: Kernel, host: Host, folder: str) -> Iterator[Callable[[], float]]:
    """A function that measures one trial; the server, where there is one, runs meanwhile.

    Raises:
        HostError: the server does not start, or a trial has no figure.
        EngineError: the engine is gone.
    """
    try:
        address = _served(kernel, host, folder)
        try:
            command = kernel.command(address)
            yield lambda: _measured(kernel, host.run(command, timeout_s=_TRIAL_TIMEOUT_S))
        finally:
            if address and not host.lost:
                host.stop(_SERVER, grace_s=_GRACE_S)
    except AgentRefusal as refusal:
        raise _without(refusal.failure.message) from refusal


def _served(kernel: Kernel, host: Host, folder: str) -> str:
    """The address of the server that was started, empty without one."""
    if kernel.server is None:
        return ""
    started = host.start(
        _SERVER, kernel.server(folder), directory=folder, ready_timeout_s=_READY_TIMEOUT_S
    )
    address: str = json.loads(started.ready_line or "{}")["listening"]
    return address


def _measured(kernel: Kernel, ran: Ran) -> float:
    if not ran.stdout.strip():
        said = ran.stderr.strip() or "nothing"
        raise _without(f"the engine exited with code {ran.exit_code} and said {said}")
    figure = kernel.figure(ran.stdout)
    if isinstance(figure, MissingKind):
        raise _without(missing_text(figure))
    return figure


def _without(reason: str) -> HostError:
    return HostError(
        f"a trial has no figure: {reason}",
        hint="a noise recording has no gaps, so it ends here; fix the cause and record again",
        slug="trial-of-a-trace-failed",
    )
