"""Whether workload and server speak one protocol, with TLS or without."""

from __future__ import annotations

from collections.abc import Mapping

from steelyard.study import catalogue
from steelyard.study.catalogue import names
from steelyard.study.file.complaints import Complaints, nearest
from steelyard.study.file.source import Where
from steelyard.study.lookup import known_service, known_workload, spoken
from steelyard.study.model import ServiceSpec, SystemSpec, WorkloadSpec
from steelyard.study.service.entry import SharedSettings as ServiceSettings
from steelyard.study.workload.entry import Workload
from steelyard.study.workload.settings import AS_SERVICE, SharedSettings


def check_services(
    systems: Mapping[str, SystemSpec], workloads: Mapping[str, WorkloadSpec], complaints: Complaints
) -> None:
    """Every workload and its server must speak one protocol."""
    for name, workload in workloads.items():
        entry = known_workload(workload)
        if entry is None or not entry.speaks:
            continue
        of_workload: Where = ("workload",) if len(workloads) == 1 else ("workloads", name)
        if workload.service is not None:
            place = (*of_workload, "service")
            _check_service(workload, entry, workload.service, place, complaints)
            continue
        for system_name, system in systems.items():
            where: Where = ("systems", system_name)
            if system.service is not None:
                _check_service(workload, entry, system.service, (*where, "service"), complaints)
            elif len(workloads) > 1:
                _complain_of_no_service(of_workload, workload.use, entry, complaints)
            elif not _misspelt("service", complaints.source.part("systems", system_name)):
                _complain_of_no_service(where, workload.use, entry, complaints)


def _check_service(
    workload: WorkloadSpec,
    entry: Workload,
    service: ServiceSpec,
    where: Where,
    complaints: Complaints,
) -> None:
    server = known_service(service)
    if server is None:
        return
    says = spoken(service)
    if not says and not server.started:
        return  # complained of as a setting that is missing
    if not entry.fits(says):
        message = (
            f"`{service.use}` speaks {', '.join(says)}, "
            f"the workload speaks {', '.join(entry.speaks)}"
        )
        hint = "choose a service and a workload of one protocol"
        complaints.add((*where, "use"), message, hint)
        return
    for expected in entry.expected_of(service.use, workload.settings):
        for name, value in expected.settings.items():
            if service.settings.get(name) != value:
                hint = f"write `service: {{use: {service.use}, {name}: {value}}}`"
                message = f"`{service.use}` cannot serve it with these settings: {expected.why}"
                complaints.add(where, message, hint)
    tls = SharedSettings.of(workload.settings).tls
    if not _tls_fits(tls, ServiceSettings.of(service.settings).tls):
        message = f"`tls` of the workload is {tls}, that of the service differs"
        hint = "give the service and the workload the same `tls`"
        complaints.add(where, message, hint)


def _tls_fits(spoken: object, offered: object) -> bool:
    """Whether a service with its ``tls`` can be spoken to like this; unknown ones can."""
    if spoken in (None, AS_SERVICE) or offered is None:
        return True
    return spoken == offered or (spoken == "none" and offered == "starttls")


def _complain_of_no_service(
    where: Where, use: str, entry: Workload, complaints: Complaints
) -> None:
    fitting = [n for n in names("services") if entry.fits(catalogue.service(n).speaks)]
    fitting = [n for n in fitting if catalogue.service(n).runs] or fitting
    hint = f"add `service: {{use: NAME}}`; services that speak it: {', '.join(fitting)}"
    message = f"system `{where[-1]}` has no service to answer the workload `{use}`"
    if where[0] == "workloads":
        message = f"workload `{where[-1]}` has no service to answer it"
    complaints.add(where, message, hint, at_key=True)


def _misspelt(key: str, written: object) -> bool:
    """Whether a mapping holds something that was probably meant to be this key."""
    return isinstance(written, dict) and any(nearest(name, [key]) for name in written)
