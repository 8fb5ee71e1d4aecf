"""Wall clocks of the machines of a study, before anything is started.

What is timed is timed by clocks that are never set, put on the controller's: a wall clock that is
minutes off moves no figure. It is in the logs and files of its machine, and a certificate is valid
by the wall clock of who verifies it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from steelyard.hosts.clocks import WallOffset
from steelyard.hosts.failures import SystemFailure
from steelyard.hosts.ssh import SCHEME
from steelyard.study.bind import BoundCell
from steelyard.study.lookup import machines_of_events, service_of, workload_of
from steelyard.study.model import Study, SystemSpec
from steelyard.study.platform.settings import SshSettings
from steelyard.study.workload.settings import SharedSettings
from steelyard.systems.services.certificate import VALID_DAYS
from steelyard.systems.services.prepare import certified
from steelyard.units import format_duration

MOST_APART_NS = 1_000_000_000
"""Machines that are kept by one time server are some milliseconds apart."""
_NS_PER_DAY = 24 * 3600 * 10**9
_SAME = WallOffset(0, 0)
_ANY = "any"


def other_machines(study: Study, spec: SystemSpec) -> Iterator[tuple[str, str]]:
    """Those of a system, of the load and of events, but the controller's own, each with the key
    that names it.
    """
    yield place_of(spec), "host" if spec.platform == "ssh" else "host_machine"
    yield from ((machine, "generator.host") for machine in study.generator.hosts)
    yield from (
        (machine, f"events.{name}.on") for name, machine in machines_of_events(study).items()
    )


def place_of(spec: SystemSpec) -> str:
    """The machine whose clock a system has."""
    if spec.platform == "ssh":
        return SCHEME + SshSettings.of(spec.settings).host.removeprefix(SCHEME)
    return spec.host_machine


def has_certificate(bound: BoundCell) -> bool:
    """Whether one is made on the system for a trial, and the engine verifies it."""
    return any(_speaks_tls(bound, number) for number in range(1, bound.system.instances + 1))


def _speaks_tls(bound: BoundCell, number: int) -> bool:
    service, workload = bound.service_of(number), bound.workload_of(number)
    shared = SharedSettings.of(workload.settings)
    if service is None or workload_of(workload).is_tool or shared.tls in (None, "none"):
        return False
    return shared.certificate != _ANY and certified(service_of(service), service)


def refuse_certificate(walls: Mapping[str, WallOffset], system: str, generator: str) -> None:
    """``walls`` are the clocks of the machines; one that is not there is the controller's.

    Raises:
        SystemFailure: the generator would take what is made on the system for a certificate that
            is not valid yet, or no more.
    """
    made, verified = walls.get(system, _SAME), walls.get(generator, _SAME)
    unsure_ns = made.uncertainty_ns + verified.uncertainty_ns
    lead = WallOffset(made.ahead_ns - verified.ahead_ns, unsure_ns)
    is_early = lead.ahead_ns > 0 and lead.differs_by(MOST_APART_NS)
    if is_early or lead.ahead_ns < -VALID_DAYS * _NS_PER_DAY:
        valid = "not valid yet" if is_early else "no longer valid"
        raise SystemFailure(
            "not_supported",
            f"the clock of {system} is {apart(lead)} that of {generator}, which drives the load "
            f"and would take the certificate of the service for one that is {valid}",
            "set both by one time server (chrony, systemd-timesyncd), or write "
            "`certificate: any` in the workload",
        )


def apart(offset: WallOffset) -> str:
    """``5 min ahead of``, before what it is held against."""
    by = format_duration(abs(offset.ahead_ns) / 1e9)
    return f"{by} {'ahead of' if offset.ahead_ns > 0 else 'behind'}"
