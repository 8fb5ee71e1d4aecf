"""Faults that the engine's own servers inject: at a step that the protocol has, so often."""

from __future__ import annotations

from collections.abc import Mapping

from steelyard.study.file.complaints import Complaints, choice_hint
from steelyard.study.file.source import Where
from steelyard.study.lookup import known_service
from steelyard.study.model import ServiceSpec, SystemSpec, WorkloadSpec
from steelyard.study.resolve.settings import Factors
from steelyard.study.resolve.systems.services import placed_services

_ENGINE, _FAULT, _EACH = "@engine", "fault", "*"
_SMTP = (
    *("CONNECT", "HELO", "EHLO", "MAIL", "RCPT", "DATA", "EOM", "RSET", "NOOP", "VRFY", "QUIT"),
    *("LHLO", "STARTTLS", "AUTH", "BDAT", "HELP", "OTHER"),
)
STEPS: dict[str, tuple[str, ...]] = {
    "exchange": ("CONNECT", "RR"),
    "ftp": (
        *("CONNECT", "USER", "PASS", "AUTH", "PBSZ", "PROT", "SYST", "FEAT", "OPTS", "TYPE"),
        *("PWD", "CWD", "CDUP", "EPSV", "PASV", "SIZE", "MDTM", "LIST", "NLST", "MLSD", "RETR"),
        *("STOR", "DELE", "MKD", "RMD", "REST", "ABOR", "NOOP", "QUIT", "OTHER", "DATA"),
    ),
    "http": (*("CONNECT", "GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "OTHER"),),
    "imap": (
        *("CONNECT", "CAPABILITY", "NOOP", "LOGOUT", "STARTTLS", "LOGIN", "AUTHENTICATE"),
        *("SELECT", "EXAMINE", "LIST", "LSUB", "STATUS", "APPEND", "CHECK", "CLOSE", "EXPUNGE"),
        *("SEARCH", "FETCH", "STORE", "IDLE", "DONE", "OTHER"),
    ),
    "lmtp": _SMTP,
    "pop3": (
        *("CONNECT", "USER", "PASS", "AUTH", "CAPA", "STLS", "STAT", "LIST", "UIDL", "RETR"),
        *("DELE", "RSET", "TOP", "NOOP", "QUIT", "OTHER"),
    ),
    "smtp": _SMTP,
}
"""Of each protocol, as the engine knows them (``crates/sink/src/protocols``)."""


def check_faults(
    systems: Mapping[str, SystemSpec],
    workloads: Mapping[str, WorkloadSpec],
    factors: Factors,
    complaints: Complaints,
) -> None:
    """Adds faults with which the engine's server would not start."""
    for system in systems.values():
        for spec, where in placed_services(system, workloads, complaints):
            steps = _steps_of(spec)
            written: list[tuple[Where, object]] = [((*where, _FAULT), spec.settings.get(_FAULT))]
            varied = enumerate(factors.get(f"service.{_FAULT}", ()))
            written += [(("factors", f"service.{_FAULT}", at), level) for at, level in varied]
            for place, fault in written if steps else ():
                if fault is not None:
                    _check(str(fault), steps, place, complaints)


def _steps_of(spec: ServiceSpec) -> tuple[str, ...]:
    entry = known_service(spec)
    if entry is None or entry.command[:1] != (_ENGINE,) or _FAULT not in entry.settings:
        return ()
    return STEPS.get(entry.speaks[0], ())


def _check(fault: str, steps: tuple[str, ...], where: Where, complaints: Complaints) -> None:
    step, _, rest = fault.partition(":")
    if step != _EACH and step not in steps:
        hint = choice_hint(step, (*steps, _EACH), "steps")
        complaints.add(where, f"`{step}` is no step of this server", hint)
    odds = rest.partition(":")[2]
    if odds and not 0 < _share(odds) <= 1:
        hint = "write a share above 0 and up to 1, as `5%`, `0.05` or `1/20`"
        complaints.add(where, f"a fault cannot strike `{odds}` of all", hint)


def _share(odds: str) -> float:
    """Not a number where it is none."""
    one, _, other = odds.removesuffix("%").partition("/")
    try:
        return float(one) / float(other or (100 if odds.endswith("%") else 1))
    except (ValueError, ZeroDivisionError):
        return float("nan")
